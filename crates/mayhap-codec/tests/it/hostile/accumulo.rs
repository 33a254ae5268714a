//! Accumulo's blocks, and RFiles that hold nothing else.

use super::{MANY, ask};
use mayhap_codec::Limits;
use mayhap_codec::accumulo::{self, Functor, acu_bloom};
use mayhap_codec::hadoop::{HashType, dynamic};

pub(super) fn read(bytes: &[u8]) -> bool {
    ask(accumulo::decode(bytes), |filter, key| {
        _ = filter.contains(key);
    })
}

fn block(keys_a_row: i32, keys: u32) -> Vec<u8> {
    let filter = accumulo::create(Functor::Row, HashType::Murmur, keys_a_row, 0.01);
    let mut filter = filter.unwrap();
    for key in 0..keys {
        filter.add(key.to_be_bytes()).unwrap();
    }
    accumulo::encode(&filter).unwrap()
}

/// Rows of one bit as Hadoop writes them are the most rows for the bytes.
fn hadoop_rows() -> Vec<u8> {
    let mut filter = dynamic::create(1, 1, HashType::Murmur, 0).unwrap();
    for key in 0..50_000_u32 {
        filter.add(key.to_be_bytes()).unwrap();
    }
    let name = Functor::Row.class().as_bytes();
    let length = (name.len() as u16).to_be_bytes();
    [&length, name, &dynamic::encode(&filter).unwrap()].concat()
}

pub(super) fn samples() -> Vec<Vec<u8>> {
    vec![block(10, 25), block(MANY as i32, 20), hadoop_rows()]
}

pub(super) fn read_rfile(bytes: &[u8]) -> bool {
    let limits = Limits { max_bytes: 1 << 20 };
    acu_bloom(bytes, limits).is_ok_and(|block| block.is_some_and(|block| read(&block)))
}

/// An RFile of version 3 with one meta block, which is not compressed.
pub(super) fn rfile_samples() -> Vec<Vec<u8>> {
    let block = block(10, 12);
    let mut file = block.clone();
    let cryptography = file.len() as u64;
    file.extend(7_u32.to_be_bytes());
    file.extend(b"U+1F47B");
    let index = file.len() as u64;
    // Numbers of two bytes begin with 52 less than their high byte.
    let number = |number: usize| [((number >> 8) as u8).wrapping_sub(52), number as u8];
    file.extend([1, 14]);
    file.extend(b"data:acu_bloom");
    file.extend([4]);
    file.extend(b"none");
    file.extend([0]);
    file.extend(number(block.len()));
    file.extend(number(block.len()));
    file.extend(index.to_be_bytes());
    file.extend(cryptography.to_be_bytes());
    file.extend([0, 3, 0, 0]);
    file.extend([
        0xd1, 0x11, 0xd3, 0x68, 0x91, 0xb5, 0xd7, 0xb6, 0x39, 0xdf, 0x41, 0x40, 0x92, 0xba, 0xe1,
        0x50,
    ]);
    vec![file]
}

/// Eighty bytes that announce rows of 256 MiB allocate nothing.
#[test]
fn a_row_that_is_cut_off_stays_small() {
    let filter = accumulo::with_shape(Functor::Row, HashType::Murmur, 10, 64, 5).unwrap();
    let mut bytes = accumulo::encode(&filter).unwrap();
    // The header of the whole follows the name, three numbers and the header of the row follow that.
    let whole = 2 + Functor::Row.class().len();
    let row = whole + 13 + 12;
    // The bits of the whole and of the row, and then no longs.
    for at in [whole + 9, row + 9] {
        bytes[at..at + 4].copy_from_slice(&i32::MAX.to_be_bytes());
    }
    bytes.truncate(bytes.len() - 13);
    bytes.extend([0, 0, 0, 0, 0x78]);
    assert!(super::checked("accumulo", read, &bytes, "cut off"));
    let mut filter = accumulo::decode(&bytes).unwrap();
    assert!(!filter.contains("a"));
    assert!(filter.add("a").is_err(), "a row is not made whole");
}
