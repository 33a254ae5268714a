//! Systems that know no limit on probes: theirs are read and written up to ours, and refused by number beyond it.

use mayhap_codec::hadoop::{self, HashType};
use mayhap_codec::{DecodeError, EncodeError, Problem, clickhouse, redis, spark};
use mayhap_core::ClassicBloom;
use mayhap_core::plan::classic::MAX_PROBES;

/// Around the number that batches keep room for, and the most.
const COUNTS: [u32; 6] = [257, 1023, 1024, 1025, 1026, MAX_PROBES];

type Codec = (
    fn(u32) -> ClassicBloom,
    fn(&ClassicBloom) -> Result<Vec<u8>, EncodeError>,
    fn(&[u8], u32) -> Result<ClassicBloom, DecodeError>,
);

const CODECS: [Codec; 4] = [
    (
        |probes| hadoop::bloom::create(50_000, probes, HashType::Murmur).unwrap(),
        hadoop::bloom::encode,
        |bytes, _| hadoop::bloom::decode(bytes),
    ),
    (
        |probes| hadoop::bloom::create(50_000, probes, HashType::Jenkins).unwrap(),
        hadoop::bloom::encode,
        |bytes, _| hadoop::bloom::decode(bytes),
    ),
    (
        // Spark sizes by itself: so many bits for one key take so many probes.
        |probes| {
            let bits = (f64::from(probes) / std::f64::consts::LN_2).round() as u64;
            spark::with_bits(1, bits, spark::Version::Two { seed: 3 }).unwrap()
        },
        spark::encode,
        |bytes, _| spark::decode(bytes),
    ),
    (
        |probes| clickhouse::terms::create(10_000, probes, 5).unwrap(),
        clickhouse::terms::encode,
        |bytes, probes| clickhouse::terms::decode(bytes, probes, 5),
    ),
];

#[test]
fn filters_of_many_probes_are_read_written_and_asked_one_by_one_and_together() {
    for (create, encode, decode) in CODECS {
        for probes in COUNTS {
            let mut filter = create(probes);
            assert_eq!(filter.plan().probes, probes);
            assert!(filter.insert("a") && filter.contains("a"));
            let back = decode(&encode(&filter).unwrap(), probes).unwrap();
            assert!(back.words().eq(filter.words()));
            let keys = ["a", "b", "c", "a"];
            let mut found = [false; 4];
            back.contains_each(&keys, &mut found);
            assert_eq!(found, keys.map(|key| back.contains(key)), "{probes} probes");
            assert!(found[0] && found[3]);
        }
    }
}

#[test]
fn more_are_refused_by_their_number() {
    let hadoop = hadoop::bloom::create(64, 1, HashType::Murmur).unwrap();
    let hadoop = hadoop::bloom::encode(&hadoop).unwrap();
    let spark = spark::with_bits(1, 64, spark::Version::One).unwrap();
    let spark = spark::encode(&spark).unwrap();
    for number in [MAX_PROBES + 1, u32::MAX >> 1] {
        let with = |bytes: &[u8]| {
            let mut bytes = bytes.to_vec();
            bytes[4..8].copy_from_slice(&number.to_be_bytes());
            bytes
        };
        let errors = [
            hadoop::bloom::decode(&with(&hadoop)).unwrap_err(),
            spark::decode(&with(&spark)).unwrap_err(),
        ];
        for error in errors {
            let told = format!(" is {number}, expected 1 to 4096");
            assert!(error.to_string().ends_with(&told), "{error}");
        }
        let error = clickhouse::terms::decode(&[0; 8], number, 0).unwrap_err();
        assert!(matches!(error.problem, Problem::Plan(_)));
        assert!(error.to_string().contains(&format!("probes = {number}")));
    }
    let error = spark::with_bits(1, 1 << 20, spark::Version::One).unwrap_err();
    let told = "probes = 726817 is out of range: give 1 to 4096 probes";
    assert_eq!(error.to_string(), told);
}

#[test]
fn the_strictest_rates_of_redisbloom_are_planned_for_as_there() {
    for (error, hashes) in [(1e-100, 333), (1e-300, 997)] {
        let mut filter = redis::Bloom::reserve(error, 10, None).unwrap();
        assert_eq!(filter.layers().next().unwrap().plan().probes, hashes);
        assert_eq!(filter.try_insert(b"a"), Ok(true));
        assert!(filter.contains(b"a") && !filter.contains(b"b"));
        let back = redis::bloom::decode(&redis::bloom::encode(&filter)).unwrap();
        assert!(back == filter);
    }
}
