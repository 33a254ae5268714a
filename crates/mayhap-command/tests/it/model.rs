//! Random commands against exact sets and multisets: no false negatives, and counts are never too low.

use crate::host::Host;
use mayhap_command::{Config, Layout, Reply};
use mayhap_core::Timestamp;
use mayhap_testkit::{Random, is_soak};
use std::collections::HashMap;

/// The expected contents of a key.
enum Model {
    /// Items with the time at which each was last added; the capacity; the length of the window.
    Bloom {
        added: HashMap<u64, u64>,
        capacity: Option<u64>,
        window_ms: Option<u64>,
    },
    Cuckoo {
        copies: HashMap<u64, u64>,
    },
    Counting {
        copies: HashMap<u64, u64>,
    },
}

fn integer(reply: Reply) -> i64 {
    match reply {
        Reply::Integer(number) => number,
        Reply::Boolean(yes) => i64::from(yes),
        other => panic!("a number, and not {other:?}"),
    }
}

fn field(reply: Reply, name: &str) -> i64 {
    let Reply::Fields(fields) = reply else {
        panic!("fields");
    };
    let found = fields.into_iter().find(|(known, _)| *known == name);
    integer(found.expect("the field").1)
}

fn make(host: &mut Host, random: &mut Random) -> Model {
    host.run_line("DEL k");
    host.config.layout = random.choose(&[Layout::Native, Layout::Native, Layout::RedisBloom]);
    let capacity = random.choose(&[10, 100, 1000, 20_000]);
    if random.one_in(9) {
        // A key of an older version.
        host.load_ring("k", 0.001, capacity, 2);
        return Model::Bloom {
            added: HashMap::new(),
            capacity: None,
            window_ms: Some(2000),
        };
    }
    if random.one_in(3) {
        // A key that nobody reserves; RedisBloom's layout makes no difference.
        host.config.layout = Layout::Native;
        host.config.bf_error_rate = 0.001;
        (host.config.bf_initial_size, host.config.cf_initial_size) = (capacity, capacity);
        let family = random.choose(&["BF", "CF"]);
        let added = integer(host.run_line(&format!("{family}.ADD k 0")));
        assert_eq!(added, 1);
        return if family == "BF" {
            Model::Bloom {
                added: HashMap::from([(0, host.now.0)]),
                capacity: None,
                window_ms: None,
            }
        } else {
            Model::Cuckoo {
                copies: HashMap::from([(0, 1)]),
            }
        };
    }
    let (line, model) = match random.below(7) {
        0 | 1 => (
            format!("BF.RESERVE k 0.001 {capacity}"),
            Model::Bloom {
                added: HashMap::new(),
                capacity: None,
                window_ms: None,
            },
        ),
        2 => (
            format!("BF.RESERVE k 0.001 {capacity} NONSCALING"),
            Model::Bloom {
                added: HashMap::new(),
                capacity: Some(capacity),
                window_ms: None,
            },
        ),
        3 => (
            format!("BF.WINDOW k 0.001 {capacity} 2"),
            Model::Bloom {
                added: HashMap::new(),
                capacity: None,
                window_ms: Some(2000),
            },
        ),
        4 => (
            format!("CF.RESERVE k {capacity} EXPANSION 2"),
            Model::Cuckoo {
                copies: HashMap::new(),
            },
        ),
        5 => (
            format!("CF.RESERVE k {capacity} EXPANSION 0"),
            Model::Cuckoo {
                copies: HashMap::new(),
            },
        ),
        _ => (
            format!("CBF.RESERVE k 0.001 {capacity}"),
            Model::Counting {
                copies: HashMap::new(),
            },
        ),
    };
    assert_eq!(host.run_line(&line), Reply::OK, "{line}");
    model
}

fn bloom_step(
    host: &mut Host,
    item: u64,
    random: &mut Random,
    (added, capacity, window_ms): (&mut HashMap<u64, u64>, Option<u64>, Option<u64>),
) {
    host.now = Timestamp(host.now.0 + random.below(8));
    let now = host.now.0;
    if random.one_in(3) {
        let found = integer(host.run_line(&format!("BF.EXISTS k {item}")));
        let is_in = added
            .get(&item)
            .is_some_and(|&then| window_ms.is_none_or(|window| now - then < window));
        assert!(found == 1 || !is_in, "a false negative");
        return;
    }
    let card = integer(host.run_line("BF.CARD k"));
    let items: Vec<u64> = (0..random.choose(&[1, 1, 5, 300]))
        .map(|at| item + at)
        .collect();
    let words: Vec<String> = items.iter().map(u64::to_string).collect();
    let Reply::Array(answers) =
        normalised(host.run_line(&format!("BF.MADD k {}", words.join(" "))))
    else {
        panic!("an array");
    };
    let mut new = 0;
    for (item, answer) in items.iter().zip(&answers) {
        match answer {
            Reply::Boolean(is_new) => {
                let is_in = added
                    .get(item)
                    .is_some_and(|&then| window_ms.is_none_or(|window| now - then < window));
                assert!(!(*is_new && is_in), "known, and called new");
                new += i64::from(*is_new);
                added.insert(*item, now);
            }
            Reply::Error(_) => {
                let capacity = capacity.expect("only a fixed filter is full");
                assert!(
                    card + new >= capacity.cast_signed(),
                    "full, with {card} + {new} in"
                );
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(answers.len() == items.len() || capacity.is_some());
    if window_ms.is_none() {
        let after = integer(host.run_line("BF.CARD k"));
        assert_eq!(after, card + new);
        assert!(after <= added.len().cast_signed() as i64);
        if let Some(capacity) = capacity {
            assert!(after <= capacity.cast_signed());
        }
    }
}

/// Arrays of booleans as arrays of replies.
fn normalised(reply: Reply) -> Reply {
    match reply {
        Reply::Booleans(answers) => Reply::Array(answers.into_iter().map(Reply::Boolean).collect()),
        reply => reply,
    }
}

fn cuckoo_step(host: &mut Host, item: u64, random: &mut Random, copies: &mut HashMap<u64, u64>) {
    let known = copies.get(&item).copied().unwrap_or(0);
    match random.below(6) {
        0 => assert!(integer(host.run_line(&format!("CF.EXISTS k {item}"))) == 1 || known == 0),
        1 => {
            let count = integer(host.run_line(&format!("CF.COUNT k {item}"))) as u64;
            assert!(count >= known, "{count} of {known}");
        }
        // Only present items may be removed.
        2 if known > 0 => {
            assert_eq!(integer(host.run_line(&format!("CF.DEL k {item}"))), 1);
            copies.insert(item, known - 1);
        }
        3 if random.one_in(50) => assert_eq!(host.run_line("CF.COMPACT k"), Reply::OK),
        _ => {
            let items: Vec<u64> = (0..random.choose(&[1, 1, 4, 200]))
                .map(|at| item + at)
                .collect();
            let words: Vec<String> = items.iter().map(u64::to_string).collect();
            let reply = host.run_line(&format!("CF.INSERT k ITEMS {}", words.join(" ")));
            let Reply::Array(answers) = normalised(reply) else {
                panic!("an array");
            };
            for (item, answer) in items.iter().zip(answers) {
                match answer {
                    Reply::Boolean(true) => *copies.entry(*item).or_default() += 1,
                    Reply::NotAdded => {}
                    other => panic!("{other:?}"),
                }
            }
        }
    }
    if random.one_in(50) {
        let all: u64 = copies.values().sum();
        let told = field(host.run_line("CF.INFO k"), "Number of items inserted");
        assert_eq!(told, all.cast_signed());
    }
}

fn counting_step(host: &mut Host, item: u64, random: &mut Random, copies: &mut HashMap<u64, u64>) {
    let known = copies.get(&item).copied().unwrap_or(0);
    match random.below(5) {
        0 => assert!(integer(host.run_line(&format!("CBF.EXISTS k {item}"))) == 1 || known == 0),
        1 => {
            let count = integer(host.run_line(&format!("CBF.COUNT k {item}"))) as u64;
            assert!(count >= known.min(15), "{count} of {known}");
        }
        2 if known > 0 => match host.run_line(&format!("CBF.DEL k {item}")) {
            Reply::Boolean(true) => _ = copies.insert(item, known - 1),
            // A saturated counter no longer counts.
            Reply::Error(_) => {}
            other => panic!("{other:?}"),
        },
        _ => {
            let is_new = integer(host.run_line(&format!("CBF.ADD k {item}"))) == 1;
            assert!(!is_new || known == 0);
            *copies.entry(item).or_default() += 1;
        }
    }
}

#[test]
fn there_are_no_false_negatives_and_counts_are_never_too_low() {
    let rounds = if is_soak() { 500 } else { 50 };
    for seed in 0..rounds {
        let mut random = Random::new(1000 + seed);
        let mut host = Host::new(Config::default());
        // Repeated items make RedisBloom's tables grow without bound.
        host.max_bytes = 1 << 22;
        let mut model = make(&mut host, &mut random);
        let range = random.choose(&[50, 1000, 30_000]);
        for _ in 0..2000 {
            let item = random.below(range);
            match &mut model {
                Model::Bloom {
                    added,
                    capacity,
                    window_ms,
                } => bloom_step(&mut host, item, &mut random, (added, *capacity, *window_ms)),
                Model::Cuckoo { copies } => cuckoo_step(&mut host, item, &mut random, copies),
                Model::Counting { copies } => counting_step(&mut host, item, &mut random, copies),
            }
        }
        everything_is_found(&mut host, &model);
    }
}

/// Checks all items at the end.
fn everything_is_found(host: &mut Host, model: &Model) {
    let (family, items): (_, Vec<u64>) = match model {
        Model::Bloom {
            added, window_ms, ..
        } => {
            let now = host.now.0;
            let lives = |then: u64| window_ms.is_none_or(|window| now - then < window);
            let living = added.iter().filter(|&(_, &then)| lives(then));
            ("BF", living.map(|(&item, _)| item).collect())
        }
        Model::Cuckoo { copies } => ("CF", living(copies)),
        Model::Counting { copies } => ("CBF", living(copies)),
    };
    for items in items.chunks(500) {
        let words: Vec<String> = items.iter().map(u64::to_string).collect();
        let reply = host.run_line(&format!("{family}.MEXISTS k {}", words.join(" ")));
        assert_eq!(reply, Reply::Booleans(vec![true; items.len()]));
    }
}

fn living(copies: &HashMap<u64, u64>) -> Vec<u64> {
    let living = copies.iter().filter(|&(_, &count)| count > 0);
    living.map(|(&item, _)| item).collect()
}
