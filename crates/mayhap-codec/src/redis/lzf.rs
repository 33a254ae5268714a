//! LZF, with which Redis compresses strings: runs of literal bytes, and references to up to 8192 bytes back.
//!
//! | control byte | what follows |
//! | --- | --- |
//! | `000lllll` | l + 1 literal bytes |
//! | `lllooooo` | a byte of the offset; l + 2 bytes from offset o + 1 back |
//! | `111ooooo` | a byte l, a byte of the offset; l + 9 bytes from there |
//!
//! Ours chooses the same references as Redis, so that a DUMP is identical to the byte: a table of 65536 positions by a hash of three
//! bytes, the newest position wins, and there is no second attempt.

const MAX_LITERALS: usize = 32;
const MAX_BACK: usize = 1 << 13;
const MAX_REFERENCE: usize = 264;

/// The maximum expansion: three bytes expand to 264.
pub(super) const MAX_RATIO: u64 = 88;

/// Compresses bytes to at most `room` bytes; `None` if that is impossible.
pub(super) fn pack(bytes: &[u8], room: usize) -> Option<Vec<u8>> {
    if bytes.len() < 3 || room == 0 {
        return None;
    }
    pack_with(Newest::new(bytes.len()), bytes, room)
}

fn pack_with(mut newest: Newest, bytes: &[u8], room: usize) -> Option<Vec<u8>> {
    let mut out = Packed::new(room);
    let mut at = 0;
    while at + 2 < bytes.len() {
        // Position 0 means "empty" in the table, so it is never referred to.
        let before = newest.replace(hash(bytes, at), at as u32) as usize;
        if before == 0 || !is_reference(bytes, before, at) {
            out.literal(bytes[at])?;
            at += 1;
            continue;
        }
        let length = common(bytes, before, at);
        out.reference(at - before - 1, length)?;
        at += length;
        if at + 2 >= bytes.len() {
            break;
        }
        // Only the last two positions of a reference are added to the table.
        for seen in [at - 2, at - 1] {
            newest.replace(hash(bytes, seen), seen as u32);
        }
    }
    out.finish(&bytes[at..])
}

/// The newest position of every hash.
enum Newest {
    /// Pairs of a hash plus one and its position, for short inputs. A filter may have 65535 tables of a few bytes each, and clearing
    /// 65536 positions takes longer than compressing them.
    Few(Vec<(u32, u32)>),
    All(Vec<u32>),
}

/// From this length on, the table has an entry for every hash.
const MANY_BYTES: usize = 1 << 12;

impl Newest {
    fn new(length: usize) -> Self {
        if length < MANY_BYTES {
            // Half of the entries stay empty.
            Self::Few(vec![(0, 0); (2 * length).next_power_of_two()])
        } else {
            Self::All(vec![0; 1 << 16])
        }
    }

    /// Stores a position and returns the previous one; 0 if there was none.
    fn replace(&mut self, hash: usize, at: u32) -> u32 {
        match self {
            Self::All(places) => std::mem::replace(&mut places[hash], at),
            Self::Few(places) => {
                let (mask, tag) = (places.len() - 1, hash as u32 + 1);
                let mut slot = hash & mask;
                while places[slot].0 != tag && places[slot].0 != 0 {
                    slot = (slot + 1) & mask;
                }
                std::mem::replace(&mut places[slot], (tag, at)).1
            }
        }
    }
}

fn hash(bytes: &[u8], at: usize) -> usize {
    let three = u32::from_be_bytes([0, bytes[at], bytes[at + 1], bytes[at + 2]]);
    ((three >> 8).wrapping_sub(three.wrapping_mul(5)) & 0xffff) as usize
}

fn is_reference(bytes: &[u8], before: usize, at: usize) -> bool {
    at - before <= MAX_BACK && bytes[before..before + 3] == bytes[at..at + 3]
}

/// The length of a reference. Redis does not match the last two bytes, unless they are among the first 19 of a reference, which it
/// compares without checking for the end.
fn common(bytes: &[u8], before: usize, at: usize) -> usize {
    let most = (bytes.len() - at - 2).min(MAX_REFERENCE);
    let most = if most > 16 { most.max(19) } else { most.max(3) };
    let (old, new) = (&bytes[before..], &bytes[at..at + most]);
    let same = old.iter().zip(new).take_while(|(old, new)| old == new);
    same.count()
}

/// Compressed bytes whose last run of literals is still open.
struct Packed {
    bytes: Vec<u8>,
    /// Literals in the open run, whose control byte is written already.
    run: usize,
    room: usize,
}

impl Packed {
    fn new(room: usize) -> Self {
        Self {
            bytes: vec![0],
            run: 0,
            room,
        }
    }

    fn literal(&mut self, byte: u8) -> Option<()> {
        (self.bytes.len() < self.room).then(|| self.push(byte))
    }

    fn push(&mut self, byte: u8) {
        self.bytes.push(byte);
        self.run += 1;
        if self.run == MAX_LITERALS {
            self.close();
            self.bytes.push(0);
        }
    }

    /// Ends the open run, and removes it if it is empty.
    fn close(&mut self) {
        let control = self.bytes.len() - self.run - 1;
        if self.run == 0 {
            self.bytes.pop();
        } else {
            self.bytes[control] = self.run as u8 - 1;
        }
        self.run = 0;
    }

    fn reference(&mut self, offset: usize, length: usize) -> Option<()> {
        self.close();
        if self.bytes.len() + 4 >= self.room {
            return None;
        }
        let (high, length) = ((offset >> 8) as u8, length - 2);
        if length < 7 {
            self.bytes.push((length as u8) << 5 | high);
        } else {
            self.bytes.push(7 << 5 | high);
            self.bytes.push((length - 7) as u8);
        }
        self.bytes.push(offset as u8);
        self.bytes.push(0);
        Some(())
    }

    fn finish(mut self, rest: &[u8]) -> Option<Vec<u8>> {
        if self.bytes.len() + 3 > self.room {
            return None;
        }
        for &byte in rest {
            self.push(byte);
        }
        self.close();
        Some(self.bytes)
    }
}

/// Decompresses to exactly `length` bytes; `None` if the input is something else.
pub(super) fn unpack(packed: &[u8], length: usize) -> Option<Vec<u8>> {
    if length as u64 > MAX_RATIO * packed.len() as u64 {
        return None;
    }
    let mut out = Vec::new();
    out.try_reserve_exact(length).ok()?;
    let mut rest = packed;
    while let Some((&control, after)) = rest.split_first() {
        let high = usize::from(control);
        if high < MAX_LITERALS {
            let (run, after) = after.split_at_checked(high + 1)?;
            if run.len() > length - out.len() {
                return None;
            }
            out.extend_from_slice(run);
            rest = after;
            continue;
        }
        let (&more, tail) = after.split_first()?;
        let (count, low, tail) = if high >> 5 == 7 {
            let (&low, tail) = tail.split_first()?;
            (9 + usize::from(more), low, tail)
        } else {
            ((high >> 5) + 2, more, tail)
        };
        let back = ((high & 0x1f) << 8 | usize::from(low)) + 1;
        let start = out.len().checked_sub(back)?;
        if count > length - out.len() {
            return None;
        }
        // A reference may overlap its own output.
        for at in start..start + count {
            out.push(out[at]);
        }
        rest = tail;
    }
    (out.len() == length).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(length: usize, values: u64, seed: u64) -> Vec<u8> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            ((state >> 40) % values) as u8
        };
        (0..length).map(|_| next()).collect()
    }

    #[test]
    fn few_bytes_are_packed_alike_without_a_place_for_every_hash() {
        let mut random = 1_u64;
        for length in (3..600).chain([4094, 4095]) {
            for spread in [1, 2, 3, 7, 256] {
                let bytes: Vec<u8> = (0..length)
                    .map(|_| {
                        random = random
                            .wrapping_mul(6_364_136_223_846_793_005)
                            .wrapping_add(1);
                        ((random >> 40) % spread) as u8
                    })
                    .collect();
                let Newest::Few(places) = Newest::new(length) else {
                    panic!("{length} are few");
                };
                assert!(places.len() <= 4 * length);
                let all = Newest::All(vec![0; 1 << 16]);
                let packed = pack_with(Newest::Few(places), &bytes, length);
                assert_eq!(packed, pack_with(all, &bytes, length), "{length} {spread}");
            }
        }
    }

    #[test]
    fn what_is_packed_is_unpacked() {
        for length in [3, 4, 5, 19, 20, 21, 40, 300, 10_000, 70_000] {
            for values in [1, 2, 3, 10, 256] {
                let bytes = noise(length, values, 7);
                if let Some(packed) = pack(&bytes, length) {
                    assert!(packed.len() <= length);
                    assert_eq!(unpack(&packed, length), Some(bytes));
                }
            }
        }
        assert!(pack(&noise(1000, 256, 1), 996).is_none());
    }

    #[test]
    fn zeros_are_packed_as_redis_packs_them() {
        let packed = pack(&[0; 40], 36).unwrap();
        assert_eq!(packed, [1, 0, 0, 0xe0, 27, 0, 1, 0, 0]);
    }

    #[test]
    fn bytes_that_are_not_packed_ones_are_refused() {
        for seed in 0..20_000 {
            let bytes = noise((seed % 40) as usize, 256, seed);
            for length in [0, 1, 10, 100] {
                if let Some(unpacked) = unpack(&bytes, length) {
                    assert_eq!(unpacked.len(), length);
                }
            }
        }
        assert_eq!(unpack(&[0xe0, 0xff, 0], 264), None, "nothing came before");
        assert_eq!(unpack(&[0, 7], usize::MAX), None);
    }
}
