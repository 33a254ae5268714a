//! Untrusted bytes that become a filter as a whole: images of filters, DUMP payloads, and LOADCHUNK.

use mayhap_codec::Limits;
use mayhap_command::{Command, Config, Context, Slot};
use mayhap_core::{SipKey, Timestamp};
use mayhap_fuzz::LIMITS;
use mayhap_fuzz::checksums;
use mayhap_fuzz::round_trip::check_round_trip;

/// The memory that a growing filter may take.
const MAX_BYTES: u64 = 1 << 21;

/// The version of RDB.
const RDB: u16 = 12;

/// Commands that every filter is given.
const LINES: [&str; 18] = [
    "BF.ADD k a",
    "BF.MADD k b c d e f g h",
    "BF.MEXISTS k a b c",
    "BF.INFO k",
    "BF.DEBUG k",
    "BF.ESTIMATE k",
    "BF.SCANDUMP k 1",
    "CF.ADD k a",
    "CF.INSERT k ITEMS a a a a a b c d",
    "CF.COUNT k a",
    "CF.DEL k a",
    "CF.COMPACT k",
    "CF.INFO k",
    "CF.SCANDUMP k 1",
    "CBF.MADD k a b c",
    "CBF.DEL k a",
    "CBF.COUNT k b",
    "CBF.INFO k",
];

fn apply(slot: &mut Slot, words: &[&[u8]]) {
    let config = Config::default();
    let context = Context {
        config: &config,
        now: Timestamp(1_000_000),
        secret: SipKey::new([7; 16]),
        max_bytes: MAX_BYTES,
    };
    let (before, command) = (slot.size_bytes(), Command::parse(words, &config));
    match command {
        Ok(Command::Query(query)) => _ = query.apply(slot, &context),
        Ok(Command::Write(write)) => _ = write.apply(slot, &[], &context),
        Err(_) => {}
    }
    // Its fields come on top of its bits.
    let most = before.max(MAX_BYTES) + (1 << 16);
    assert!(slot.size_bytes() <= most, "{words:?}");
}

fn check(slot: &Slot) {
    // Decompressed, it is larger than it came in.
    let most = Limits { max_bytes: 1 << 24 };
    check_round_trip(slot, Slot::encode, |bytes| Slot::decode(bytes, most));
    if !matches!(slot, Slot::Missing | Slot::Other) {
        let dump = |slot: &Slot| slot.dump(RDB);
        check_round_trip(slot, dump, |bytes| Slot::restore(bytes, most));
    }
}

fn exercise(mut slot: Slot) {
    check(&slot);
    for line in LINES {
        let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        apply(&mut slot, &words);
    }
    if let Some(stats) = slot.stats(Timestamp(1_000_000)) {
        let is_share = |share: Option<f64>| share.is_none_or(|share| (0.0..=1.0).contains(&share));
        assert!(is_share(stats.fill) && stats.estimated_rate <= Some(1.0));
    }
    check(&slot);
}

pub(crate) fn image(bytes: &[u8]) {
    if let Ok(slot) = Slot::decode(bytes, LIMITS) {
        exercise(slot);
    }
}

pub(crate) fn restore(bytes: &[u8]) {
    for payload in [bytes, &checksums::dump(bytes)] {
        if let Ok(slot) = Slot::restore(payload, LIMITS) {
            exercise(slot);
        }
    }
}

/// A header, chunks (length, iterator, bytes), and in the last byte the length of the chunks.
pub(crate) fn chunks(bytes: &[u8]) {
    let Some((&tail, bytes)) = bytes.split_last() else {
        return;
    };
    let (header, tail) = bytes.split_at(bytes.len().saturating_sub(tail.into()));
    for load in ["BF.LOADCHUNK", "CF.LOADCHUNK"] {
        let mut slot = Slot::Missing;
        apply(&mut slot, &[load.as_bytes(), b"k", b"1", header]);
        if matches!(slot, Slot::Missing) {
            continue;
        }
        let mut tail = tail;
        while let Some((&[length, low, high], rest)) = tail.split_first_chunk() {
            let (chunk, rest) = rest.split_at(rest.len().min(length.into()));
            let iterator = i16::from_le_bytes([low, high]).to_string();
            apply(
                &mut slot,
                &[load.as_bytes(), b"k", iterator.as_bytes(), chunk],
            );
            tail = rest;
        }
        exercise(slot);
    }
}
