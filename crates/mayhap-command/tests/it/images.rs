//! Images of slots: encoding and decoding is the identity, and other bytes are rejected or give a filter that still answers.

use crate::host::Host;
use mayhap_codec::native::{self, HashKey};
use mayhap_codec::redis::dump::TypeId;
use mayhap_codec::redis::fields::{DecodePosition, Sink, Source};
use mayhap_codec::{Format, Problem};
use mayhap_command::{Config, DecodeError, Layout, Limits, Reply, Slot};
use mayhap_core::{AnyFilter, GrowingCuckoo, Timestamp};
use mayhap_testkit::{Random, is_soak};

const LIMITS: Limits = Limits { max_bytes: 1 << 20 };

/// Filters of all kinds, small and grown.
fn slots() -> Vec<Slot> {
    let mut host = Host::new(Config::default());
    for layout in [Layout::Native, Layout::RedisBloom] {
        host.config.layout = layout;
        let name = format!("{layout:?}");
        host.run_line(&format!("BF.RESERVE {name}-fixed 0.01 100 NONSCALING"));
        host.run_line(&format!("BF.RESERVE {name}-strict 0.0000001 30"));
        host.run_line(&format!("CF.RESERVE {name}-cfixed 100 EXPANSION 0"));
        host.run_line(&format!("BF.RESERVE {name}-empty 0.01 10"));
        host.run_line(&format!("CF.RESERVE {name}-cempty 10"));
        host.run_line(&format!("CF.RESERVE {name}-cgrown 10 EXPANSION 1"));
        for number in 0..90 {
            for key in ["fixed", "strict", "grown"] {
                host.run_line(&format!("BF.ADD {name}-{key} {number}"));
            }
            for key in ["cfixed", "cgrown"] {
                host.run_line(&format!("CF.ADD {name}-{key} {}", number % 60));
            }
        }
        host.run_line(&format!("CF.DEL {name}-cgrown 3"));
        for number in 90..400 {
            host.run_line(&format!("BF.ADD {name}-grown {number}"));
        }
    }
    host.run_line("BF.WINDOW window 0.01 10 1");
    host.load_ring("ring", 0.01, 10, 1);
    for number in 0..40 {
        host.now = Timestamp(host.now.0 + 30);
        for key in ["window", "ring"] {
            host.run_line(&format!("BF.ADD {key} {number}"));
        }
    }
    host.load_counting_bloom("oldcounting", 0.01, 100);
    for key in ["counting", "oldcounting"] {
        host.run_line(&format!("CBF.MADD {key} 1 2 3 3 3"));
    }
    // One whose counters become wider, with counts outside of them.
    host.run_line("CBF.RESERVE widening 0.1 1000");
    for number in 0..20_000 {
        host.run_line(&format!("CBF.ADD widening {number}"));
    }
    for number in 0..330 {
        for _ in 0..5 {
            host.run_line(&format!("CBF.ADD widening {number}"));
        }
    }
    host.config.layout = Layout::Native;
    host.run_line("BF.RESERVE chain 0.01 10");
    for number in 0..200 {
        host.run_line(&format!("BF.ADD chain {number}"));
        host.run_line(&format!("CF.ADD cset {}", number % 60));
    }
    // One that has moved some of its groups to the next shape, and has copies outside of its cells.
    for number in 0..17_850 {
        host.run_line(&format!("CF.ADD moving {number}"));
        host.run_line(&format!("CF.ADD moving {}", number % 7));
    }
    let Reply::Bulk(file) = host.run_line("MAYHAP.FILE moving") else {
        panic!("a file");
    };
    let Ok(AnyFilter::GrowingCuckoo(moving)) = native::decode_with_key(&file, LARGE, host.secret)
    else {
        panic!("a growing filter");
    };
    let mut tables = moving.tables();
    assert!(tables.any(|table| table.slices.moved_groups > 0 && !table.extra_copies.is_empty()));
    for (family, from) in [
        ("CF", "Native-cgrown"),
        ("CF", "cset"),
        ("BF", "Native-grown"),
    ] {
        let Reply::Array(parts) = host.run_line(&format!("{family}.SCANDUMP {from} 0")) else {
            panic!("a header");
        };
        let Reply::Bulk(header) = &parts[1] else {
            panic!("a header");
        };
        let (load, to) = (format!("{family}.LOADCHUNK"), format!("{from}-loading"));
        host.run(&[load.as_bytes(), to.as_bytes(), b"1", header]);
    }
    host.keys.into_values().collect()
}

#[test]
fn decoding_an_image_gives_the_same_slot() {
    let mut slots = slots();
    assert!(slots.len() > 15);
    for slot in &slots {
        let bytes = slot.encode();
        let again = Slot::decode(&bytes, LIMITS).expect("what we wrote");
        assert!(again == *slot && again.encode() == bytes, "{slot:?}");
        for version in [10, 12, 80] {
            let payload = slot.dump(version);
            let restored = Slot::restore(&payload, LIMITS).expect("what we dumped");
            assert!(
                restored == *slot && restored.dump(version) == payload,
                "{slot:?}"
            );
        }
    }
    slots.extend([Slot::Missing, Slot::Other]);
    for slot in &slots[slots.len() - 2..] {
        assert_eq!(Slot::decode(&slot.encode(), LIMITS).as_ref(), Ok(slot));
    }
}

/// Filters with some items that are larger than a piece of 16 MiB.
fn large_slots() -> Vec<Slot> {
    let mut host = Host::new(Config::default());
    host.run_line("BF.RESERVE fixed 0.01 30000000 NONSCALING");
    host.run_line("BF.RESERVE chain 0.01 20000000");
    host.run_line("CF.RESERVE cchain 20000000 EXPANSION 2");
    let mut growing = GrowingCuckoo::new(20_000_000, 0.01).expect("a filter");
    growing.reserve(15_000_000).expect("memory");
    host.load("cgrowing", growing.try_clone().expect("memory"));
    growing.set_is_set(true);
    let mut set = Vec::new();
    native::write_with(&growing, HashKey::Outside, &mut set).expect("a file");
    host.run(&[b"MAYHAP.LOAD", b"growing", &set]);
    host.run_line("BF.WINDOW window 0.01 20000000 60");
    host.load_ring("ring", 0.01, 20_000_000, 60);
    host.run_line("CF.RESERVE cfixed 20000000 EXPANSION 0");
    host.run_line("CBF.RESERVE counting 0.01 15000000");
    host.load_counting_bloom("oldcounting", 0.01, 5_000_000);
    for number in 0..1000 {
        for key in ["fixed", "growing", "chain", "window", "ring"] {
            host.run_line(&format!("BF.ADD {key} {number}"));
        }
        for key in ["cfixed", "cgrowing", "cchain"] {
            host.run_line(&format!("CF.ADD {key} {number}"));
        }
        host.run_line(&format!("CBF.ADD counting {number}"));
        host.run_line(&format!("CBF.ADD oldcounting {number}"));
    }
    let slots: Vec<Slot> = host.keys.into_values().collect();
    assert!(slots.len() == 10 && slots.iter().all(|slot| slot.size_bytes() > PIECE as u64));
    slots
}

const PIECE: usize = 16 << 20;
const LARGE: Limits = Limits { max_bytes: 1 << 30 };

/// The strings of a saved value.
#[derive(Clone, Default)]
struct Strings {
    strings: Vec<Vec<u8>>,
    loaded: usize,
}

impl Sink for Strings {
    fn unsigned(&mut self, _: u64) {
        panic!("a native filter is strings");
    }

    fn double(&mut self, _: f64) {
        panic!("a native filter is strings");
    }

    fn string(&mut self, bytes: &[u8]) {
        self.strings.push(bytes.to_vec());
    }
}

impl DecodePosition for Strings {
    fn error(&self, problem: Problem) -> DecodeError {
        DecodeError {
            format: Format::RedisBloomDump,
            offset: self.loaded as u64,
            problem,
        }
    }
}

impl Source for Strings {
    type Bytes = Vec<u8>;

    fn unsigned(&mut self, what: &'static str) -> Result<u64, DecodeError> {
        Err(self.value(what, 0, "a string"))
    }

    fn double(&mut self, what: &'static str) -> Result<f64, DecodeError> {
        Err(self.value(what, 0, "a string"))
    }

    fn string(&mut self, what: &'static str) -> Result<Vec<u8>, DecodeError> {
        let next = self.strings.get(self.loaded).cloned();
        self.loaded += 1;
        next.ok_or_else(|| self.value(what, 0, "as many as were saved"))
    }
}

type Damage = fn(&mut Vec<Vec<u8>>);

fn type_of(slot: &Slot) -> TypeId {
    let name: &[u8; 9] = slot.type_name().as_bytes().try_into().expect("a type");
    TypeId::new(name, 1)
}

#[test]
fn a_large_filter_is_saved_in_pieces_and_loaded_from_them() {
    for slot in large_slots() {
        let (name, id) = (slot.type_name(), type_of(&slot));
        let mut saved = Strings::default();
        slot.save(&mut saved);
        assert!(saved.strings.len() > 3, "{name}");
        assert!(saved.strings.iter().all(|piece| piece.len() <= PIECE));
        assert!(saved.strings[1..].concat() == slot.encode(), "{name}");
        let load = |saved: &Strings, limits| {
            let mut saved = saved.clone();
            Slot::load(id, &mut saved, limits).map(|slot| (slot, saved.loaded))
        };
        let (loaded, strings) = load(&saved, LARGE).expect("what was saved");
        assert!(loaded == slot && strings == saved.strings.len(), "{name}");
        // The older form, without pieces.
        let whole = Strings {
            strings: vec![slot.encode()],
            loaded: 0,
        };
        assert!(load(&whole, LARGE).is_ok_and(|(loaded, _)| loaded == slot));
        let restored = Slot::restore(&slot.dump(10), LARGE).expect("a dump");
        assert!(restored == slot, "{name}");
        // The limit is checked before the bits are read.
        let small = Limits { max_bytes: 1000 };
        assert!(load(&saved, small).is_err(), "{name}");
        let damages: [(&str, Damage); 9] = [
            ("no pieces", |strings| strings.truncate(1)),
            ("no bits", |strings| strings.truncate(2)),
            ("one less", |strings| drop(strings.pop())),
            ("an empty one", |strings| strings.insert(2, Vec::new())),
            ("one twice", |strings| strings.insert(2, strings[2].clone())),
            ("one byte less", |strings| {
                strings[2].pop();
            }),
            ("one byte more", |strings| strings[2].push(0)),
            ("another size", |strings| strings[0][8] ^= 1),
            ("half a size", |strings| strings[0].truncate(12)),
        ];
        for (damage, apply) in damages {
            let mut damaged = saved.clone();
            apply(&mut damaged.strings);
            // The reader of the whole value rejects what remains.
            let whole = load(&damaged, LARGE)
                .ok()
                .filter(|(_, loaded)| *loaded == damaged.strings.len());
            assert!(whole.is_none(), "{name} {damage}");
        }
        // An impossible size, and fields of other types.
        for size in [0, u64::MAX] {
            let mut damaged = saved.clone();
            damaged.strings[0][8..].copy_from_slice(&size.to_le_bytes());
            assert!(load(&damaged, LARGE).is_err(), "{name} {size}");
        }
        for at in (0..saved.strings[1].len().min(100)).step_by(9) {
            let mut damaged = saved.clone();
            damaged.strings[1][at] ^= 0x55;
            // The result may be another filter, or an error.
            let _ = load(&damaged, LARGE);
        }
    }
}

#[test]
fn the_commands_of_a_large_filter_have_a_chunk_each() {
    for slot in large_slots() {
        let mut host = Host::new(Config::default());
        let mut longest = 0;
        slot.give_commands(b"k", &mut |name, words| {
            longest = words
                .iter()
                .map(|word| word.len())
                .fold(longest, usize::max);
            let all: Vec<&[u8]> = [name.as_bytes()]
                .into_iter()
                .chain(words.iter().copied())
                .collect();
            assert_eq!(host.run(&all), Reply::OK, "{name}");
        });
        assert!(
            host.keys.get(b"k".as_slice()) == Some(&slot),
            "{}",
            slot.type_name()
        );
        // Counting filters have no chunks.
        assert_eq!(longest <= PIECE, !matches!(slot, Slot::Counting(_)));
    }
}

#[test]
fn scandump_and_loadchunk_copy_a_filter() {
    for slot in slots() {
        let family = match slot {
            Slot::Bloom(_) => "BF",
            Slot::Cuckoo(_) => "CF",
            _ => continue,
        };
        let mut host = Host::new(Config::default());
        host.keys.insert(b"from".to_vec(), slot.clone());
        let mut iterator = 0;
        loop {
            let reply = host.run_line(&format!("{family}.SCANDUMP from {iterator}"));
            let Reply::Array(parts) = reply else {
                panic!("{reply:?}");
            };
            let (Reply::Integer(next), Reply::Bulk(chunk)) = (&parts[0], &parts[1]) else {
                break;
            };
            if *next == 0 {
                break;
            }
            iterator = *next;
            let load = format!("{family}.LOADCHUNK");
            let words = [
                load.as_bytes(),
                b"to",
                iterator.to_string().as_bytes(),
                chunk,
            ]
            .map(<[u8]>::to_vec);
            let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
            assert_eq!(host.run(&words), Reply::OK);
        }
        if let Some(loaded) = host.keys.get(b"to".as_slice()) {
            assert!(loaded.encode() == slot.encode(), "{slot:?}");
        } else {
            // Empty cuckoo filters have no chunks, as in RedisBloom.
            let stats = slot.stats(host.now).expect("a filter");
            assert_eq!((family, stats.estimated_keys), ("CF", Some(0)));
        }
    }
}

#[test]
fn an_invalid_chunk_is_rejected_and_changes_nothing() {
    let mut host = Host::new(Config::default());
    host.run_line("BF.RESERVE b 0.01 100 NONSCALING");
    host.run_line("BF.MADD b 1 2 3");
    let size = {
        let Reply::Array(parts) = host.run_line("BF.SCANDUMP b 1") else {
            panic!("a chunk");
        };
        let Reply::Integer(next) = parts[0] else {
            panic!("an iterator");
        };
        next - 1
    };
    let before = host.images();
    for (iterator, length, error) in [
        (1, 3, "ERR received bad data"),
        (0, 0, "ERR received bad data"),
        (-5, 1, "ERR received bad data"),
        (4, 4, "ERR invalid offset - no link found"),
        (size + 1 + 4, 4, "ERR invalid offset - no link found"),
        (
            size + 2,
            4,
            "ERR invalid chunk - Too big for current filter",
        ),
        (i64::MAX, 4, "ERR invalid offset - no link found"),
    ] {
        let chunk = vec![0xff; length];
        let iterator = iterator.to_string();
        let reply = host.run(&[b"BF.LOADCHUNK", b"b", iterator.as_bytes(), &chunk]);
        assert_eq!(reply, Reply::error(error), "{iterator} {length}");
        assert_eq!(host.images(), before);
    }
    host.run_line("CF.ADD c 1");
    for (position, error) in [
        ("0", "Invalid position"),
        ("x", "Invalid position"),
        ("1", "ERR item exists"),
        ("2", "Couldn't load chunk!"),
        ("-7", "Couldn't load chunk!"),
        ("9223372036854775807", "Couldn't load chunk!"),
    ] {
        let reply = host.run(&[b"CF.LOADCHUNK", b"c", position.as_bytes(), b"x"]);
        assert_eq!(reply, Reply::error(error), "{position}");
    }
    let reply = host.run(&[b"CF.LOADCHUNK", b"new", b"1", b"short"]);
    assert_eq!(reply, Reply::error("Invalid header"));
}

#[test]
fn an_item_added_while_a_filter_is_loaded_is_kept() {
    for (family, error) in [
        ("CF", "Couldn't load chunk!"),
        ("BF", "ERR invalid offset - no link found"),
    ] {
        let mut host = Host::new(Config::default());
        host.run_line(&format!("{family}.ADD from a"));
        let mut chunks = Vec::new();
        for position in [0, 1] {
            let scanned = host.run_line(&format!("{family}.SCANDUMP from {position}"));
            let Reply::Array(parts) = scanned else {
                panic!("a chunk");
            };
            let [Reply::Integer(next), Reply::Bulk(chunk)] = parts.as_slice() else {
                panic!("a chunk");
            };
            chunks.push((next.to_string(), chunk.clone()));
        }
        let load = |host: &mut Host, number: usize| {
            let (position, chunk): &(String, Vec<u8>) = &chunks[number];
            let load = format!("{family}.LOADCHUNK");
            host.run(&[load.as_bytes(), b"to", position.as_bytes(), chunk])
        };
        assert_eq!(load(&mut host, 0), Reply::OK);
        let added = host.run_line(&format!("{family}.ADD to b"));
        assert_eq!(added, Reply::Boolean(true));
        assert_eq!(load(&mut host, 1), Reply::error(error));
        let found = host.run_line(&format!("{family}.EXISTS to b"));
        assert_eq!(found, Reply::Boolean(true));
    }
}

/// Runs commands on a slot from untrusted bytes.
fn exercise(slot: Slot) {
    let bytes = slot.encode();
    let again = Slot::decode(&bytes, Limits { max_bytes: 1 << 22 }).expect("what we wrote");
    assert_eq!(again.encode(), bytes);
    let mut host = Host::new(Config::default());
    host.max_bytes = 1 << 22;
    host.keys.insert(b"k".to_vec(), slot);
    for line in [
        "BF.ADD k a",
        "BF.MADD k a b c d e f",
        "BF.EXISTS k a",
        "BF.INFO k",
        "BF.DEBUG k",
        "BF.ESTIMATE k",
        "BF.SCANDUMP k 0",
        "BF.SCANDUMP k 1",
        "BF.MERGE k2 k",
        "BF.MERGE k2 k",
        "CF.ADD k a",
        "CF.INSERT k ITEMS a b c d e f a a a a a a",
        "CF.DEL k a",
        "CF.COUNT k a",
        "CF.INFO k",
        "CF.COMPACT k",
        "CF.SCANDUMP k 1",
        "CBF.ADD k a",
        "CBF.DEL k a",
        "CBF.COUNT k a",
        "CBF.INFO k",
    ] {
        host.run_line(line);
    }
    for (family, key) in [("BF", "a"), ("CF", "b"), ("CBF", "a")] {
        host.run_line(&format!("{family}.EXISTS k {key}"));
    }
    assert!(host.keys[b"k".as_slice()].size_bytes() < 1 << 24);
}

#[test]
fn mutated_images_are_rejected_or_still_answer() {
    let rounds = if is_soak() { 20_000 } else { 400 };
    let mut random = Random::new(5);
    let (mut read, mut refused) = (0, 0);
    for slot in slots() {
        let image = slot.encode();
        for cut in 0..image.len().min(400) {
            assert!(Slot::decode(&image[..cut], LIMITS).is_err());
        }
        for _ in 0..rounds {
            let mut bytes = image.clone();
            for _ in 0..=random.below(3) {
                let reach = random
                    .choose(&[200, bytes.len() as u64])
                    .min(bytes.len() as u64);
                let at = random.below(reach) as usize;
                bytes[at] = match random.below(4) {
                    0 => 0,
                    1 => 0xff,
                    2 => bytes[at] ^ 1 << random.below(8),
                    _ => random.below(256) as u8,
                };
            }
            match Slot::decode(&bytes, LIMITS) {
                Ok(slot) => {
                    read += 1;
                    exercise(slot);
                }
                Err(_) => refused += 1,
            }
        }
    }
    assert!(read > 1000 && refused > 500, "{read} {refused}");
}

#[test]
fn a_header_over_the_limit_is_rejected() {
    let mut host = Host::new(Config::default());
    for (line, limit) in [
        ("BF.RESERVE k 0.01 100000", 50_000),
        ("BF.RESERVE k 0.01 100000 NONSCALING", 50_000),
        ("BF.RESERVE k 0.000000001 100000", 50_000),
        ("BF.WINDOW k 0.01 100000 5", 50_000),
        ("CF.RESERVE k 100000", 50_000),
        ("CF.RESERVE k 100000 EXPANSION 0", 50_000),
        ("CBF.RESERVE k 0.01 100000", 50_000),
    ] {
        host.max_bytes = 1 << 30;
        assert_eq!(host.run_line(line), Reply::OK);
        let (_, load) = host.log.pop().expect("what was passed on");
        assert!(load[2].len() < 2000, "{line}: no bits");
        let words: Vec<&[u8]> = load.iter().map(Vec::as_slice).collect();
        let made = host.images();
        host.run_line("DEL k");
        host.max_bytes = limit;
        assert_eq!(host.run(&words), Reply::error("ERR received bad data"));
        assert!(host.keys.is_empty());
        host.max_bytes = 1 << 30;
        assert_eq!(host.run(&words), Reply::OK);
        assert_eq!(host.images(), made);
        assert_eq!(host.run(&words), Reply::error("ERR item exists"));
        host.run_line("DEL k");
    }
}
