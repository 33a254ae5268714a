//! Keys and queries. All are computed from a number: the same in every process with the same seed, distinct by construction,
//! and strangers are never keys.

use mayhap::KeyHash;

/// The output function of SplitMix64: a bijection, so different numbers give different keys.
pub const fn mix(number: u64) -> u64 {
    let mut x = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

/// Which keys: every child process has its own seed, so that the median over children is also one over filters.
#[derive(Clone, Copy)]
pub struct Seed(pub u64);

impl Seed {
    /// Key number `at`, already a good hash.
    pub fn key(self, at: u64) -> KeyHash {
        KeyHash::from_u64(mix((self.0 << 48) + at))
    }

    /// Stranger number `at`: no key of any seed.
    pub fn stranger(self, at: u64) -> KeyHash {
        KeyHash::from_u64(mix((1 << 63) + (self.0 << 48) + at))
    }

    fn random(self, at: u64) -> u64 {
        mix(mix((3 << 62) + (self.0 << 48) + at))
    }

    /// `count` keys.
    pub fn keys(self, count: u64) -> Vec<KeyHash> {
        (0..count).map(|at| self.key(at)).collect()
    }
}

/// Questions in random order, every second one about a key.
pub struct Queries<Q> {
    pub asked: Vec<Q>,
    pub present: Vec<bool>,
}

/// Which key or stranger a query is about.
enum About {
    Key(u64),
    Stranger(u64),
}

fn draw(seed: Seed, keys: u64, count: usize) -> impl Iterator<Item = About> {
    (0..count as u64).map(move |at| {
        let random = seed.random(at);
        if random & 1 == 0 {
            About::Stranger(at)
        } else {
            About::Key(((u128::from(random) * u128::from(keys)) >> 64) as u64)
        }
    })
}

/// Queries about hashed keys.
pub fn hashed(seed: Seed, keys: u64, count: usize) -> Queries<KeyHash> {
    let ask = |about| match about {
        About::Key(at) => (seed.key(at), true),
        About::Stranger(at) => (seed.stranger(at), false),
    };
    let (asked, present) = draw(seed, keys, count).map(ask).unzip();
    Queries { asked, present }
}

/// URLs one after the other in one arena, as they lie in a file or a packet: a query reads its key from memory that is
/// being read in order.
pub struct Urls {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    present: Vec<bool>,
}

impl Urls {
    /// Queries about `keys` URLs.
    pub fn queries(seed: Seed, keys: u64, count: usize) -> Self {
        let mut urls = Self {
            bytes: Vec::new(),
            ends: Vec::with_capacity(count),
            present: Vec::with_capacity(count),
        };
        for about in draw(seed, keys, count) {
            let (at, present) = match about {
                About::Key(at) => (at, true),
                About::Stranger(at) => (keys + at, false),
            };
            push_url(&mut urls.bytes, at);
            urls.ends.push(urls.bytes.len());
            urls.present.push(present);
        }
        urls
    }

    /// The same as slices.
    pub fn to_queries(&self) -> Queries<&[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        Queries {
            asked: starts
                .zip(&self.ends)
                .map(|(start, &end)| &self.bytes[start..end])
                .collect(),
            present: self.present.clone(),
        }
    }
}

const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";

/// Appends URL number `at` (below 36^5): 24 to 64 bytes, every length as often as any other.
pub fn push_url(bytes: &mut Vec<u8>, at: u64) {
    let mut random = mix(at);
    let end = bytes.len() + 24 + (random % 41) as usize;
    bytes.extend_from_slice(b"https://h");
    bytes.push(b'0' + (random >> 32) as u8 % 10);
    bytes.extend_from_slice(b".example/");
    let mut rest = at;
    for _ in 0..5 {
        bytes.push(DIGITS[(rest % 36) as usize]);
        rest /= 36;
    }
    assert_eq!(rest, 0, "five digits number the URLs");
    while bytes.len() < end {
        random = mix(random);
        bytes.push(if random.is_multiple_of(8) {
            b'/'
        } else {
            DIGITS[(random >> 8) as usize % 36]
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn urls_are_distinct_and_of_24_to_64_bytes() {
        let mut seen = HashSet::new();
        for at in 0..10_000 {
            let mut url = Vec::new();
            push_url(&mut url, at);
            assert!((24..=64).contains(&url.len()));
            assert!(seen.insert(url));
        }
    }

    #[test]
    fn present_queries_are_about_keys_and_others_are_not() {
        let seed = Seed(2);
        let keys: HashSet<_> = seed.keys(1000).into_iter().collect();
        let queries = hashed(seed, 1000, 10_000);
        for (asked, present) in queries.asked.iter().zip(queries.present) {
            assert_eq!(keys.contains(asked), present);
        }
    }
}
