//! HBase's chunks and metadata, and files that our own code wrote block by block.

use super::{KEYS, MANY, ask};
use mayhap_codec::hbase::{
    self, ChunkPlace, CompoundWriter, Filter, HFile, HashType, Meta, encode,
};
use mayhap_codec::{Limits, Problem};
use mayhap_core::plan::hbase::ChunkPlan;

const LIMITS: Limits = Limits { max_bytes: 1 << 20 };

pub(super) fn read_chunk(bytes: &[u8]) -> bool {
    ask(hbase::decode(bytes, 7, HashType::Murmur), |filter, key| {
        _ = filter.contains(key);
    })
}

pub(super) fn chunk_samples() -> Vec<Vec<u8>> {
    let sample = |keys| {
        let plan = ChunkPlan::by_keys(keys, 0.01, 7).unwrap();
        let mut filter = hbase::create(&plan, HashType::Murmur).unwrap();
        filter.extend((0..20_u32).map(u32::to_be_bytes));
        encode(&filter).unwrap()
    };
    vec![sample(20), sample(MANY)]
}

pub(super) fn read_meta(bytes: &[u8]) -> bool {
    Meta::decode(bytes).is_ok_and(|meta| Meta::decode(&meta.encode()) == Ok(meta))
}

fn meta(chunks: usize) -> Meta {
    let place = |number| ChunkPlace {
        offset: number,
        on_disk_bytes: 7,
        first_key: Vec::new(),
    };
    Meta {
        total_bytes: 256,
        probes: 7,
        hash: HashType::Murmur,
        keys: 20,
        max_keys: 213,
        comparator: String::new(),
        chunks: (0..chunks as u64).map(place).collect(),
    }
}

/// Places without keys are the most chunks for the bytes.
pub(super) fn meta_samples() -> Vec<Vec<u8>> {
    vec![meta(3).encode(), meta(100_000).encode()]
}

pub(super) fn read_hfile(bytes: &[u8]) -> bool {
    let file = HFile::open(bytes, LIMITS);
    let filters = file.and_then(|file| Ok((file.general()?, file.delete_family()?)));
    match filters {
        Ok((general, deletes)) => {
            for filter in [&general, &deletes].into_iter().flatten() {
                for key in KEYS {
                    _ = filter.contains(key);
                    _ = filter.passes(key, key);
                }
            }
            general.is_some()
        }
        // Many chunks together are.
        Err(error) => matches!(error.problem, Problem::TooLarge { .. }),
    }
}

/// A block without checksums.
fn block(magic: &str, data: &[u8]) -> Vec<u8> {
    let size = (data.len() as u32).to_be_bytes();
    let whole = (data.len() as u32 + 33).to_be_bytes();
    let previous = u64::MAX.to_be_bytes();
    [
        magic.as_bytes(),
        &size[..],
        &size,
        &previous,
        &[0],
        &[0; 4],
        &whole,
        data,
    ]
    .concat()
}

/// A field of bytes in a protocol buffer.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    [&[number << 3 | 2, bytes.len() as u8], bytes].concat()
}

/// An HFile that has only a filter.
fn hfile(chunks: &[Vec<u8>], first_keys: &[Vec<u8>]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut meta = meta(0);
    for (chunk, first_key) in chunks.iter().zip(first_keys) {
        let block = block("BLMFBLK2", chunk);
        meta.chunks.push(ChunkPlace {
            offset: file.len() as u64,
            on_disk_bytes: block.len() as u32,
            first_key: first_key.clone(),
        });
        file.extend(block);
    }
    let load_on_open = file.len() as u32;
    let entry = [field(1, b"BLOOM_FILTER_TYPE"), field(2, b"ROW")].concat();
    let entries = field(1, &entry);
    let info = [b"PBUF", &[entries.len() as u8][..], &entries].concat();
    file.extend(block("FILEINF2", &info));
    file.extend(block("BLMFMET2", &meta.encode()));
    let mut offset = vec![2 << 3];
    let mut rest = load_on_open;
    while rest >= 0x80 {
        offset.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    offset.push(rest as u8);
    let mut trailer = b"TRABLK\"$".to_vec();
    trailer.push(offset.len() as u8);
    trailer.extend(offset);
    trailer.resize(212 - 4, 0);
    trailer.extend([3, 0, 0, 2]);
    file.extend(trailer);
    file
}

pub(super) fn hfile_samples() -> Vec<Vec<u8>> {
    let plan = ChunkPlan::by_size(128, 0.01, 7).unwrap();
    let mut writer = CompoundWriter::new(plan, HashType::Murmur);
    for key in 0..300_u32 {
        writer.push(&key.to_be_bytes()).unwrap();
    }
    let written = writer.finish().unwrap();
    let chunks: Vec<Vec<u8>> = written
        .iter()
        .map(|chunk| encode(&chunk.filter).unwrap())
        .collect();
    let keys: Vec<Vec<u8>> = written.into_iter().map(|chunk| chunk.first_key).collect();
    // Chunks of one byte are the most for the bytes.
    let count = 20_000;
    vec![
        hfile(&chunks, &keys),
        hfile(&vec![vec![1]; count], &vec![Vec::new(); count]),
    ]
}

#[test]
fn a_chunk_that_is_listed_twice_is_refused() {
    let file = hfile(&[vec![1; 8], vec![2; 8]], &[vec![1], vec![2]]);
    assert!(read_hfile(&file));
    let filter = HFile::open(&file, LIMITS).unwrap().general().unwrap();
    assert_eq!(filter.unwrap().chunk_count(), 2);
    // The place of the second chunk is the last one: offset, size and a key of one byte.
    let second = file.len() - 212 - 14;
    assert_eq!(file[second..][..8], 41_u64.to_be_bytes());
    let mut twice = file;
    twice[second..][..8].fill(0);
    assert!(!read_hfile(&twice));
    assert_eq!(
        hbase::decode(&[0], 0, HashType::Murmur),
        Ok(Filter::Everything)
    );
}
