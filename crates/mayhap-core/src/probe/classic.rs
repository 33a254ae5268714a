//! The walks of the flat filters, `ClassicBloom` and `CountingBloom`: k positions anywhere, by a numbered, frozen scheme.
//!
//! A walk computes k 64-bit values from a hash and takes each modulo the number of bits. The first value is the hash; the step is
//! the two halves of `hash * FIRST` xored and made odd. Sums wrap at 2^64, which is part of the walk: it distinguishes keys whose
//! hash and step agree modulo the number of bits, and so removes most of what double hashing costs in small filters.
//!
//! Files and other programs rely on this: a published scheme never changes; new ones are added.

use super::blocked::FIRST;
use super::foreign::{ForeignProbes, PARQUET_BLOCK_BITS, ROCKSDB_LINE_BITS};
use super::modulo::Modulo;

/// How a key is mapped to the positions of a flat filter. The numbers are frozen; those from 16 on are the layouts of other
/// systems, which hash the key's bytes themselves.
///
/// ```
/// # use mayhap_core as mayhap;
/// use mayhap::{ClassicBloom, Scheme};
/// let mut filter = ClassicBloom::with_bits_and_probes(1 << 16, 7, Scheme::EnhancedDoubleHashing)?;
/// filter.insert("a");
/// # Ok::<(), mayhap::PlanError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scheme {
    /// 1: plain double hashing, `hash + i * step` for i from 0. The step is increased by 2, at most three times, while two
    /// neighbouring probes would hit the same bit. In small filters the rate is higher than planned: by 2 % for 1000 keys at 0.1
    /// %, by 6 % at 0.01 %, by a factor of two for 100 keys at 0.01 %.
    DoubleHashing,
    /// 2: enhanced double hashing (Dillinger and Manolios 2004), `hash + i * step + (i^3 - i) / 6`. The default: its rate is that
    /// of independent probes, within 1 % for 1000 keys and 3 % for 100 at 0.01 %.
    EnhancedDoubleHashing,
    /// 16: Guava's older strategy, `MURMUR128_MITZ_32`.
    GuavaMitz32,
    /// 17: Guava's strategy, `MURMUR128_MITZ_64`.
    GuavaMitz64,
    /// 18: Hadoop's, with its MurmurHash2.
    HadoopMurmur,
    /// 19: Hadoop's, with Jenkins' lookup3.
    HadoopJenkins,
    /// 20: Spark's, version 1.
    SparkV1,
    /// 21: Spark's, version 2.
    SparkV2 {
        /// Stored in the file.
        seed: i32,
    },
    /// 22: ClickHouse's `bloom_filter`. Keys are strings; integers have their own hash and are passed as a
    /// [`KeyHash`](crate::KeyHash).
    ClickHouse,
    /// 23: ClickHouse's `tokenbf_v1` and `ngrambf_v1`. Keys are tokens and n-grams.
    ClickHouseTerms {
        /// From the definition of the index.
        seed: u64,
    },
    /// 24: LevelDB's, and older RocksDB's for each block.
    LevelDb,
    /// 25: RocksDB's, from format version 5 on: lines of 512 bits.
    RocksDb,
    /// 26: RocksDB's before format version 5: lines of 512 bits.
    RocksDbLegacy,
    /// 27: Parquet's: blocks of 256 bits, eight probes.
    Parquet,
    /// 28: RedisBloom's.
    RedisBloom,
    /// 29: RedisBloom's before it had 64-bit hashes.
    RedisBloom32,
    /// 30: Bitcoin's, BIP 37.
    Bip37 {
        /// Stored in the file.
        tweak: u32,
    },
    /// 31: Cassandra's, from 3.0 on: steps by the first half of the hash, from the second.
    Cassandra,
    /// 32: Cassandra's from 1.2 to 2.2, with the halves exchanged.
    CassandraOld,
    /// 33: HBase's, with Jenkins' lookup3.
    HBaseJenkins,
    /// 34: HBase's, with its MurmurHash2.
    HBaseMurmur,
    /// 35: HBase's, with MurmurHash3.
    HBaseMurmur3,
}

/// The schemes of other systems, as a pattern. A new scheme does not compile until it is listed here or handled as a native one.
macro_rules! foreign_scheme {
    () => {
        Scheme::GuavaMitz32
            | Scheme::GuavaMitz64
            | Scheme::HadoopMurmur
            | Scheme::HadoopJenkins
            | Scheme::SparkV1
            | Scheme::SparkV2 { .. }
            | Scheme::ClickHouse
            | Scheme::ClickHouseTerms { .. }
            | Scheme::LevelDb
            | Scheme::RocksDb
            | Scheme::RocksDbLegacy
            | Scheme::Parquet
            | Scheme::RedisBloom
            | Scheme::RedisBloom32
            | Scheme::Bip37 { .. }
            | Scheme::Cassandra
            | Scheme::CassandraOld
            | Scheme::HBaseJenkins
            | Scheme::HBaseMurmur
            | Scheme::HBaseMurmur3
    };
}

impl Scheme {
    /// The number that files store for this scheme.
    pub const fn id(self) -> u16 {
        match self {
            Self::DoubleHashing => 1,
            Self::EnhancedDoubleHashing => 2,
            Self::GuavaMitz32 => 16,
            Self::GuavaMitz64 => 17,
            Self::HadoopMurmur => 18,
            Self::HadoopJenkins => 19,
            Self::SparkV1 => 20,
            Self::SparkV2 { .. } => 21,
            Self::ClickHouse => 22,
            Self::ClickHouseTerms { .. } => 23,
            Self::LevelDb => 24,
            Self::RocksDb => 25,
            Self::RocksDbLegacy => 26,
            Self::Parquet => 27,
            Self::RedisBloom => 28,
            Self::RedisBloom32 => 29,
            Self::Bip37 { .. } => 30,
            Self::Cassandra => 31,
            Self::CassandraOld => 32,
            Self::HBaseJenkins => 33,
            Self::HBaseMurmur => 34,
            Self::HBaseMurmur3 => 35,
        }
    }

    /// What files store in addition to the number: a seed or a tweak, and 0 if there is none.
    pub const fn parameter(self) -> u64 {
        match self {
            Self::SparkV2 { seed } => seed.cast_unsigned() as u64,
            Self::ClickHouseTerms { seed } => seed,
            Self::Bip37 { tweak } => tweak as u64,
            Self::DoubleHashing
            | Self::EnhancedDoubleHashing
            | Self::GuavaMitz32
            | Self::GuavaMitz64
            | Self::HadoopMurmur
            | Self::HadoopJenkins
            | Self::SparkV1
            | Self::ClickHouse
            | Self::LevelDb
            | Self::RocksDb
            | Self::RocksDbLegacy
            | Self::Parquet
            | Self::RedisBloom
            | Self::RedisBloom32
            | Self::Cassandra
            | Self::CassandraOld
            | Self::HBaseJenkins
            | Self::HBaseMurmur
            | Self::HBaseMurmur3 => 0,
        }
    }

    /// The scheme with a number and a parameter, if there is one.
    pub fn from_id(id: u16, parameter: u64) -> Option<Self> {
        let word = u32::try_from(parameter).ok();
        let scheme = match id {
            1 => Self::DoubleHashing,
            2 => Self::EnhancedDoubleHashing,
            16 => Self::GuavaMitz32,
            17 => Self::GuavaMitz64,
            18 => Self::HadoopMurmur,
            19 => Self::HadoopJenkins,
            20 => Self::SparkV1,
            21 => Self::SparkV2 {
                seed: word?.cast_signed(),
            },
            22 => Self::ClickHouse,
            23 => Self::ClickHouseTerms { seed: parameter },
            24 => Self::LevelDb,
            25 => Self::RocksDb,
            26 => Self::RocksDbLegacy,
            27 => Self::Parquet,
            28 => Self::RedisBloom,
            29 => Self::RedisBloom32,
            30 => Self::Bip37 { tweak: word? },
            31 => Self::Cassandra,
            32 => Self::CassandraOld,
            33 => Self::HBaseJenkins,
            34 => Self::HBaseMurmur,
            35 => Self::HBaseMurmur3,
            _ => return None,
        };
        (scheme.parameter() == parameter).then_some(scheme)
    }

    /// Whether the scheme is one of ours, which starts from a [`KeyHash`](crate::KeyHash) of any hash scheme.
    pub const fn is_native(self) -> bool {
        match self {
            Self::DoubleHashing | Self::EnhancedDoubleHashing => true,
            foreign_scheme!() => false,
        }
    }

    /// Whether the walk starts from one 64-bit hash of the other system, so that values other than bytes can be looked up.
    pub(crate) const fn starts_from_one_hash(self) -> bool {
        matches!(self, Self::ClickHouse | Self::RocksDb | Self::Parquet)
    }

    /// Whether the walk needs only two hashes of the key, whose sums are the positions.
    pub(crate) const fn uses_hash_pairs(self) -> bool {
        matches!(self, Self::RedisBloom | Self::RedisBloom32)
    }

    /// The number of bits must be a multiple of this: 1, or the size of a block.
    pub const fn block_bits(self) -> u64 {
        match self {
            Self::RocksDb | Self::RocksDbLegacy => ROCKSDB_LINE_BITS,
            Self::Parquet => PARQUET_BLOCK_BITS,
            Self::DoubleHashing
            | Self::EnhancedDoubleHashing
            | Self::GuavaMitz32
            | Self::GuavaMitz64
            | Self::HadoopMurmur
            | Self::HadoopJenkins
            | Self::SparkV1
            | Self::SparkV2 { .. }
            | Self::ClickHouse
            | Self::ClickHouseTerms { .. }
            | Self::LevelDb
            | Self::RedisBloom
            | Self::RedisBloom32
            | Self::Bip37 { .. }
            | Self::Cassandra
            | Self::CassandraOld
            | Self::HBaseJenkins
            | Self::HBaseMurmur
            | Self::HBaseMurmur3 => 1,
        }
    }
}

/// The positions of hashes in a filter of a given shape.
#[derive(Clone, Copy)]
pub(crate) struct ClassicWalk {
    bits: u64,
    modulo: Modulo,
    probes: u32,
    scheme: Scheme,
    /// 2^64 modulo the number of bits: how far a sum that wraps around steps back.
    wrap: u64,
}

impl ClassicWalk {
    /// A walk of `probes` probes over `bits` bits; neither is 0, and the bits are a multiple of the scheme's block.
    pub(crate) fn new(bits: u64, probes: u32, scheme: Scheme) -> Self {
        // RocksDB's legacy layout takes a line by remainder, the others a bit.
        let modulo = Modulo::new(if scheme == Scheme::RocksDbLegacy {
            bits / ROCKSDB_LINE_BITS
        } else {
            bits
        });
        Self {
            bits,
            modulo,
            probes,
            scheme,
            wrap: modulo.remainder(modulo.remainder(u64::MAX).wrapping_add(1)),
        }
    }

    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.probes as usize
    }

    /// The positions of a hash, in the order of the walk, equal ones repeated.
    #[inline(always)]
    pub(crate) fn probes(&self, hash: u64) -> ClassicProbes {
        let product = u128::from(hash) * u128::from(FIRST);
        let step = (product as u64 ^ (product >> 64) as u64) | 1;
        // `Scheme::is_native` lists the native schemes; a new one must be handled here, too.
        let (step, growth) = if matches!(self.scheme, Scheme::DoubleHashing) {
            (self.moving_step(step), 0)
        } else {
            (step, 1)
        };
        ClassicProbes {
            value: hash,
            step,
            bend: 0,
            growth,
            modulo: self.modulo,
            left: self.probes,
        }
    }

    /// The positions of a key under the scheme of another system.
    #[inline]
    pub(crate) fn foreign_probes<'k>(&self, key: &'k [u8]) -> ForeignProbes<'k> {
        ForeignProbes::for_key(self.scheme, key, self.bits, self.modulo, self.probes)
    }

    /// The same for a value that the other system has hashed.
    #[inline]
    pub(crate) fn foreign_hash_probes(&self, hash: u64) -> ForeignProbes<'static> {
        ForeignProbes::for_hash(self.scheme, hash, self.bits, self.modulo, self.probes)
    }

    /// The position for a sum of a pair of hashes, under a scheme that uses pairs.
    #[inline(always)]
    pub(crate) fn position(&self, sum: u64) -> u64 {
        self.modulo.remainder(sum)
    }

    /// A step that moves: neither it nor it minus 2^64 is a multiple of the number of bits. With 1 bit there is none; with an
    /// even number, an odd step already moves.
    #[inline(always)]
    fn moving_step(&self, mut step: u64) -> u64 {
        for _ in 0..3 {
            let moves = self.modulo.remainder(step);
            if moves != 0 && moves != self.wrap {
                break;
            }
            step = step.wrapping_add(2);
        }
        step
    }
}

/// The positions of one hash.
#[derive(Clone)]
pub(crate) struct ClassicProbes {
    value: u64,
    step: u64,
    /// What the step grows by next, and by how much that grows: 0 for plain double hashing, 1 for enhanced.
    bend: u64,
    growth: u64,
    modulo: Modulo,
    left: u32,
}

impl Iterator for ClassicProbes {
    type Item = u64;

    #[inline(always)]
    fn next(&mut self) -> Option<u64> {
        self.left = self.left.checked_sub(1)?;
        let at = self.modulo.remainder(self.value);
        self.value = self.value.wrapping_add(self.step);
        self.bend = self.bend.wrapping_add(self.growth);
        self.step = self.step.wrapping_add(self.bend);
        Some(at)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::collections::BTreeSet;
    use std::vec::Vec;

    fn hashes() -> impl Iterator<Item = u64> {
        let edges = (0..64).flat_map(|bit| [(1 << bit) - 1, 1 << bit, u64::MAX << bit]);
        edges.chain((1..2000).map(|i: u64| i.wrapping_mul(0xD6E8_FEB8_6659_FD93)))
    }

    #[test]
    fn positions_match_the_formulas() {
        for bits in [1, 2, 3, 7, 64, 9586, 95_850_584, 1 << 40, u64::MAX] {
            for hash in hashes() {
                let product = u128::from(hash) * 0x9E37_79B9_7F4A_7C15;
                let step = ((product >> 64) as u64 ^ product as u64) | 1;
                let enhanced: Vec<u64> = (0..20_u64)
                    .map(|i| {
                        let bend = (i * i * i - i) / 6;
                        hash.wrapping_add(i.wrapping_mul(step)).wrapping_add(bend) % bits
                    })
                    .collect();
                let walk = ClassicWalk::new(bits, 20, Scheme::EnhancedDoubleHashing);
                assert_eq!(walk.probes(hash).collect::<Vec<_>>(), enhanced);

                let wrap = ((1_u128 << 64) % u128::from(bits)) as u64;
                let step = (0..3).fold(step, |step, _| {
                    let stands = step % bits == 0 || step % bits == wrap;
                    if stands { step.wrapping_add(2) } else { step }
                });
                let plain: Vec<u64> = (0..20_u64)
                    .map(|i| hash.wrapping_add(i.wrapping_mul(step)) % bits)
                    .collect();
                let walk = ClassicWalk::new(bits, 20, Scheme::DoubleHashing);
                assert_eq!(walk.probes(hash).collect::<Vec<_>>(), plain);
            }
        }
    }

    #[test]
    fn no_key_has_all_its_probes_on_one_bit() {
        // Divisors of 2^64 - 1 and 2^64 + 1 are those where a step that wraps could cancel itself.
        let bits = (4..2000).chain([65_535, 65_537, 274_177, 4_294_967_297, 1 << 40, u64::MAX]);
        for bits in bits {
            // For small numbers of bits, some of these hashes have a step that is a multiple of it.
            for hash in hashes() {
                let plain = ClassicWalk::new(bits, 4, Scheme::DoubleHashing);
                let positions: Vec<u64> = plain.probes(hash).collect();
                assert!(
                    positions.windows(2).all(|pair| pair[0] != pair[1]),
                    "{hash:#x} in {bits} bits: {positions:?}"
                );
                let enhanced = ClassicWalk::new(bits, 4, Scheme::EnhancedDoubleHashing);
                let positions: BTreeSet<u64> = enhanced.probes(hash).collect();
                assert!(
                    positions.len() > 1,
                    "{hash:#x} in {bits} bits: {positions:?}"
                );
            }
        }
    }

    #[test]
    fn scheme_numbers_are_frozen_and_round_trip() {
        let known = [
            (Scheme::DoubleHashing, 1),
            (Scheme::EnhancedDoubleHashing, 2),
            (Scheme::GuavaMitz32, 16),
            (Scheme::GuavaMitz64, 17),
            (Scheme::HadoopMurmur, 18),
            (Scheme::HadoopJenkins, 19),
            (Scheme::SparkV1, 20),
            (Scheme::SparkV2 { seed: -5 }, 21),
            (Scheme::ClickHouse, 22),
            (Scheme::ClickHouseTerms { seed: u64::MAX }, 23),
            (Scheme::LevelDb, 24),
            (Scheme::RocksDb, 25),
            (Scheme::RocksDbLegacy, 26),
            (Scheme::Parquet, 27),
            (Scheme::RedisBloom, 28),
            (Scheme::RedisBloom32, 29),
            (Scheme::Bip37 { tweak: u32::MAX }, 30),
            (Scheme::Cassandra, 31),
            (Scheme::CassandraOld, 32),
            (Scheme::HBaseJenkins, 33),
            (Scheme::HBaseMurmur, 34),
            (Scheme::HBaseMurmur3, 35),
        ];
        for (scheme, id) in known {
            assert_eq!(scheme.id(), id);
            assert_eq!(Scheme::from_id(id, scheme.parameter()), Some(scheme));
        }
        for id in [0, 3, 15, 36] {
            assert_eq!(Scheme::from_id(id, 0), None);
        }
        assert_eq!(
            Scheme::from_id(1, 7),
            None,
            "a parameter where there is none"
        );
        assert_eq!(Scheme::from_id(21, 1 << 32), None, "a parameter too large");
    }
}
