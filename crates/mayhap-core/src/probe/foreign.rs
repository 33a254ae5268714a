//! The walks of other systems: from key bytes to the bits that those systems set. Frozen: files depend on every one.
//!
//! Each computes a first state from the key's hashes, and steps from one probe to the next. They are slower than our own walks
//! because of their hashes; remainders use the exact reciprocal.

use super::blocked::mul_high;
use super::classic::Scheme;
use super::double_hash::HashPair;
use super::modulo::Modulo;
use crate::hash::foreign::{city, leveldb, lookup3, murmur2, murmur3, xxh64, xxph3};

/// ClickHouse's seeds, one per probe.
const CLICKHOUSE_SEEDS: [u64; 15] = [
    13_635_471_485_423_070_496,
    10_336_109_063_487_487_899,
    17_779_957_404_565_211_594,
    8_988_612_159_822_229_247,
    4_954_614_162_757_618_085,
    12_980_113_590_177_089_081,
    9_263_883_436_177_860_930,
    3_656_772_712_723_269_762,
    10_362_091_744_962_961_274,
    7_582_936_617_938_287_249,
    15_033_938_188_484_401_405,
    18_286_745_649_494_826_751,
    6_852_245_486_148_412_312,
    8_886_056_245_089_344_681,
    10_151_472_371_158_292_780,
];

/// Parquet's salts, one per word of a block.
const PARQUET_SALTS: [u32; 8] = [
    0x47b6_137b,
    0x4497_4d91,
    0x8824_ad5b,
    0xa2b7_289d,
    0x7054_95c7,
    0x2df1_424b,
    0x9efc_4947,
    0x5c6b_fb31,
];

/// The positions of a key, in the order of the walk.
#[derive(Clone)]
pub(crate) struct ForeignProbes<'k> {
    key: &'k [u8],
    scheme: Scheme,
    /// The state and the step, computed from the scheme's hashes.
    state: u64,
    step: u64,
    /// The first bit of the block of a blocked scheme.
    block: u64,
    modulo: Modulo,
    number: u32,
    probes: u32,
}

/// The sizes of the blocks of RocksDB and Parquet.
pub(crate) const ROCKSDB_LINE_BITS: u64 = 512;
pub(crate) const PARQUET_BLOCK_BITS: u64 = 256;

impl<'k> ForeignProbes<'k> {
    /// `bits` is a multiple of the scheme's block. `modulo` divides by `bits`, or by the number of blocks for RocksDB's legacy
    /// layout.
    #[inline]
    pub(crate) fn for_key(
        scheme: Scheme,
        key: &'k [u8],
        bits: u64,
        modulo: Modulo,
        probes: u32,
    ) -> Self {
        let (state, step, block) = match scheme {
            Scheme::GuavaMitz32 => {
                let (h1, _) = murmur3::hash128(key);
                (h1 & 0xffff_ffff, h1 >> 32, 0)
            }
            Scheme::GuavaMitz64 => {
                let (h1, h2) = murmur3::hash128(key);
                (h1, h2, 0)
            }
            Scheme::SparkV1 => {
                let h1 = murmur3::spark(key, 0);
                (u64::from(h1), u64::from(murmur3::spark(key, h1)), 0)
            }
            Scheme::SparkV2 { seed } => {
                let h1 = murmur3::spark(key, seed.cast_unsigned());
                let h2 = murmur3::spark(key, h1);
                let start = widened(h1).wrapping_mul(0x7fff_ffff);
                (start, widened(h2), 0)
            }
            Scheme::ClickHouse => (city::hash(key), 0, 0),
            Scheme::ClickHouseTerms { seed } => {
                let other = seed.wrapping_mul(845_897_321).wrapping_add(217_728_422);
                (city::with_seed(key, seed), city::with_seed(key, other), 0)
            }
            Scheme::LevelDb => {
                let hash = leveldb::hash(key);
                (u64::from(hash), u64::from(hash.rotate_right(17)), 0)
            }
            Scheme::RocksDb => Self::rocksdb(xxph3::hash(key), bits),
            Scheme::RocksDbLegacy => {
                let hash = leveldb::signed(key);
                let line = modulo.remainder(u64::from(hash));
                (
                    u64::from(hash),
                    u64::from(hash.rotate_right(17)),
                    line * ROCKSDB_LINE_BITS,
                )
            }
            Scheme::Parquet => Self::parquet(xxh64(key), bits),
            Scheme::RedisBloom | Scheme::RedisBloom32 => {
                let pair = HashPair::for_key(scheme, key).unwrap_or_default();
                let (start, step) = pair.start_and_step();
                (start, step, 0)
            }
            Scheme::Cassandra => {
                let (h1, h2) = murmur3::cassandra(key);
                (h2, h1, 0)
            }
            Scheme::CassandraOld => {
                let (h1, h2) = murmur3::cassandra(key);
                (h1, h2, 0)
            }
            Scheme::HBaseJenkins => Self::hbase(key, lookup3::hash),
            Scheme::HBaseMurmur => Self::hbase(key, murmur2::hbase),
            Scheme::HBaseMurmur3 => Self::hbase(key, murmur3::hash32),
            // These hash the key again for every probe.
            Scheme::HadoopMurmur | Scheme::HadoopJenkins | Scheme::Bip37 { .. } => (0, 0, 0),
            Scheme::DoubleHashing | Scheme::EnhancedDoubleHashing => native_walk(),
        };
        Self {
            key,
            scheme,
            state,
            step,
            block,
            modulo,
            number: 0,
            probes,
        }
    }

    /// For a value that the system does not hash as bytes, such as ClickHouse's integers. Only for schemes that start from one
    /// 64-bit hash.
    #[inline]
    pub(crate) fn for_hash(
        scheme: Scheme,
        hash: u64,
        bits: u64,
        modulo: Modulo,
        probes: u32,
    ) -> Self {
        let (state, step, block) = match scheme {
            Scheme::RocksDb => Self::rocksdb(hash, bits),
            Scheme::Parquet => Self::parquet(hash, bits),
            Scheme::ClickHouse => (hash, 0, 0),
            other => unreachable!("{other:?} does not start from one 64-bit hash"),
        };
        Self {
            key: &[],
            scheme,
            state,
            step,
            block,
            modulo,
            number: 0,
            probes,
        }
    }

    #[inline]
    fn rocksdb(hash: u64, bits: u64) -> (u64, u64, u64) {
        let line = ((hash & 0xffff_ffff) * (bits / ROCKSDB_LINE_BITS)) >> 32;
        (hash >> 32, 0, line * ROCKSDB_LINE_BITS)
    }

    /// The second hash is seeded with the first.
    #[inline]
    fn hbase(key: &[u8], hash: impl Fn(&[u8], u32) -> u32) -> (u64, u64, u64) {
        let h1 = hash(key, 0);
        (u64::from(h1), u64::from(hash(key, h1)), 0)
    }

    #[inline]
    fn parquet(hash: u64, bits: u64) -> (u64, u64, u64) {
        let block = mul_high(hash >> 32 << 32, bits / PARQUET_BLOCK_BITS);
        (hash & 0xffff_ffff, 0, block * PARQUET_BLOCK_BITS)
    }
}

/// `ClassicWalk::probes` computes the positions of native schemes.
#[cold]
fn native_walk() -> ! {
    unreachable!("native schemes start from a KeyHash, not from key bytes")
}

/// Sign-extends a 32-bit number to 64 bits.
#[inline(always)]
fn widened(number: u32) -> u64 {
    i64::from(number.cast_signed()).cast_unsigned()
}

/// `x`, or its complement if it is negative.
#[inline(always)]
fn folded32(x: u32) -> u64 {
    let sign = (x.cast_signed() >> 31).cast_unsigned();
    u64::from(x ^ sign)
}

impl Iterator for ForeignProbes<'_> {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        if self.number == self.probes {
            return None;
        }
        let i = self.number;
        self.number += 1;
        Some(match self.scheme {
            Scheme::GuavaMitz32 | Scheme::SparkV1 => {
                self.state = self.state.wrapping_add(self.step);
                self.modulo.remainder(folded32(self.state as u32))
            }
            Scheme::GuavaMitz64 => {
                let at = self.modulo.remainder(self.state & (u64::MAX >> 1));
                self.state = self.state.wrapping_add(self.step);
                at
            }
            Scheme::SparkV2 { .. } => {
                self.state = self.state.wrapping_add(self.step);
                let sign = (self.state.cast_signed() >> 63).cast_unsigned();
                self.modulo.remainder(self.state ^ sign)
            }
            Scheme::ClickHouse => {
                let seed = CLICKHOUSE_SEEDS[i as usize % CLICKHOUSE_SEEDS.len()];
                self.modulo.remainder(city::pair(self.state, seed))
            }
            Scheme::ClickHouseTerms { .. } => {
                let i = u64::from(i);
                let sum = self.state.wrapping_add(self.step.wrapping_mul(i));
                self.modulo.remainder(sum.wrapping_add(i * i))
            }
            Scheme::LevelDb => {
                let at = self.modulo.remainder(self.state);
                self.state = (self.state + self.step) & 0xffff_ffff;
                at
            }
            Scheme::RocksDb => {
                let at = self.block + (self.state >> 23);
                self.state = self.state.wrapping_mul(0x9e37_79b9) & 0xffff_ffff;
                at
            }
            Scheme::RocksDbLegacy => {
                let at = self.block + self.state % ROCKSDB_LINE_BITS;
                self.state = (self.state + self.step) & 0xffff_ffff;
                at
            }
            Scheme::Parquet => {
                let word = i as usize % PARQUET_SALTS.len();
                let bit = (self.state as u32).wrapping_mul(PARQUET_SALTS[word]) >> 27;
                self.block + 32 * word as u64 + u64::from(bit)
            }
            // The older variant's hashes have 32 bits, but its sums have 64.
            Scheme::RedisBloom | Scheme::RedisBloom32 => {
                let at = self.modulo.remainder(self.state);
                self.state = self.state.wrapping_add(self.step);
                at
            }
            Scheme::Bip37 { tweak } => {
                let seed = i.wrapping_mul(0xfba4_c795).wrapping_add(tweak);
                self.modulo
                    .remainder(u64::from(murmur3::hash32(self.key, seed)))
            }
            // A Java remainder without its sign.
            Scheme::Cassandra | Scheme::CassandraOld => {
                let at = self
                    .modulo
                    .remainder(self.state.cast_signed().unsigned_abs());
                self.state = self.state.wrapping_add(self.step);
                at
            }
            Scheme::HBaseJenkins | Scheme::HBaseMurmur | Scheme::HBaseMurmur3 => {
                let sum = (self.state as u32).cast_signed();
                self.state = self.state.wrapping_add(self.step);
                self.modulo.remainder(u64::from(sum.unsigned_abs()))
            }
            Scheme::HadoopMurmur => self.chained(murmur2::hadoop),
            Scheme::HadoopJenkins => self.chained(lookup3::hash),
            Scheme::DoubleHashing | Scheme::EnhancedDoubleHashing => native_walk(),
        })
    }
}

impl ForeignProbes<'_> {
    /// Hadoop's: each hash is the seed of the next, and the sign of a remainder is dropped.
    #[inline]
    fn chained(&mut self, hash: impl Fn(&[u8], u32) -> u32) -> u64 {
        let hash = hash(self.key, self.state as u32);
        self.state = u64::from(hash);
        self.modulo
            .remainder(u64::from(hash.cast_signed().unsigned_abs()))
    }
}
