//! The slot of a key in a Redis Cluster, and names in the same slot.
//!
//! A filter is loaded under a temporary name and renamed at the end, which a cluster only does within a slot. Instead of repeating the
//! key's own hash tag, the name has a tag of digits that hashes to the key's slot: that works for every key, whatever braces it has.

use crc::{CRC_16_XMODEM, Crc};

const CRC: Crc<u16> = Crc::<u16>::new(&CRC_16_XMODEM);
/// The number of slots of every cluster.
const SLOTS: u16 = 16384;

/// The beginning of temporary names. It has no brace, so that the tag behind it is the one that counts.
pub(super) const PREFIX: &str = "mayhap-migrate:";

/// The slot of a key.
pub(super) fn of_key(key: &[u8]) -> u16 {
    CRC.checksum(hashed_part(key)) % SLOTS
}

/// What is hashed: the text between the first `{` and the next `}`, if there is any, otherwise the whole key.
fn hashed_part(key: &[u8]) -> &[u8] {
    let Some(open) = key.iter().position(|&byte| byte == b'{') else {
        return key;
    };
    let inside = &key[open + 1..];
    match inside.iter().position(|&byte| byte == b'}') {
        None | Some(0) => key,
        Some(close) => &inside[..close],
    }
}

/// The smallest number whose digits are in that slot. About one in 16384 is.
fn tag(slot: u16) -> u32 {
    (0..=u32::MAX)
        .find(|number: &u32| CRC.checksum(number.to_string().as_bytes()) % SLOTS == slot)
        .unwrap_or_default()
}

/// A name in the slot of the key that no key of a user has, in letters that can be read.
pub(super) fn unused_name(key: &[u8]) -> Vec<u8> {
    format!("{PREFIX}{{{}}}", tag(of_key(key))).into_bytes()
}

/// A name in the slot of the key. `run` tells runs apart, so that two of them never write into one filter.
pub(super) fn temporary_name(key: &[u8], run: &str) -> Vec<u8> {
    let mut name = unused_name(key);
    name.extend_from_slice(format!(":{run}:").as_bytes());
    name.extend_from_slice(key);
    name
}

/// The key for which a temporary name was made, by any run.
pub(super) fn key_of_temporary(name: &[u8]) -> Option<&[u8]> {
    let rest = name.strip_prefix(PREFIX.as_bytes())?.strip_prefix(b"{")?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let rest = rest[digits..].strip_prefix(b"}:")?;
    let run = rest
        .iter()
        .take_while(|byte| byte.is_ascii_hexdigit())
        .count();
    let key = rest[run..].strip_prefix(b":")?;
    (digits > 0 && run > 0 && of_key(key) == of_key(name)).then_some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_those_of_redis() {
        // From CLUSTER KEYSLOT; the tests with engines compare random keys.
        for (key, slot) in [
            ("", 0),
            ("foo", 12182),
            ("{foo}bar", 12182),
            ("a{foo}{bar}", 12182),
            ("{}foo", 9500),
            ("123456789", 12739),
        ] {
            assert_eq!(of_key(key.as_bytes()), slot, "{key}");
        }
    }

    #[test]
    fn temporary_names_are_in_the_slot_of_their_key() {
        let keys: [&[u8]; 10] = [
            b"",
            b"a",
            b"{tag}a",
            b"a}b{c}",
            b"{}",
            b"{}{x}",
            b"}{",
            b"{{x}}",
            b"a{b",
            b"\xff\x00{\n}",
        ];
        for key in keys {
            let name = temporary_name(key, "1f");
            assert_eq!(of_key(&name), of_key(key), "{key:?}");
            assert_eq!(key_of_temporary(&name), Some(key));
        }
        assert_eq!(key_of_temporary(b"mayhap-migrate:{1}:1f:elsewhere"), None);
        assert_eq!(key_of_temporary(b"mayhap-migrate:notes"), None);
    }
}
