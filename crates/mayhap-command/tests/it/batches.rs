//! Adding items in a batch gives the same replies and the same bits as adding them one by one.

use crate::host::Host;
use mayhap_command::{Config, Layout, Reply};
use mayhap_testkit::{Random, is_soak};

/// A test case: the filter, how many different items there are, how many are added, and the memory limit of a filter.
struct Case {
    reserve: &'static str,
    range: u64,
    adds: u64,
    max_bytes: u64,
}

const CASES: [Case; 5] = [
    // Many small layers, and repeated items.
    Case {
        reserve: "BF.RESERVE k 0.01 50 EXPANSION 2",
        range: 9_000,
        adds: 12_000,
        max_bytes: 1 << 30,
    },
    // Layers larger than a core's cache, which grow in the middle of a batch.
    Case {
        reserve: "BF.RESERVE k 0.00001 175000 EXPANSION 1",
        range: 700_000,
        adds: 600_000,
        max_bytes: 1 << 30,
    },
    // Full in the middle of a batch.
    Case {
        reserve: "BF.RESERVE k 0.01 2000 NONSCALING",
        range: 5_000,
        adds: 6_000,
        max_bytes: 1 << 30,
    },
    // Cannot grow in the middle of a batch, but present items are still found.
    Case {
        reserve: "BF.RESERVE k 0.01 500 EXPANSION 2",
        range: 2_000,
        adds: 4_000,
        max_bytes: 1500,
    },
    // A large filter that never becomes full.
    Case {
        reserve: "BF.RESERVE k 0.01 4000000",
        range: 3_000,
        adds: 9_000,
        max_bytes: 1 << 30,
    },
];

/// Adds items one by one, and stops after the first that a full filter rejects, as a batch does.
fn one_by_one(host: &mut Host, command: &[u8], items: &[&[u8]]) -> Vec<Reply> {
    let mut replies = Vec::new();
    for item in items {
        let reply = host.run(&[command, b"k", item]);
        let is_full = reply == Reply::error("ERR non scaling filter is full");
        replies.push(reply);
        if is_full {
            break;
        }
    }
    replies
}

fn together(host: &mut Host, command: &[u8], items: &[&[u8]]) -> Vec<Reply> {
    let words = [&[command, b"k"], items].concat();
    match host.run(&words) {
        Reply::Booleans(answers) => answers.into_iter().map(Reply::Boolean).collect(),
        Reply::Array(replies) => replies,
        other => panic!("{other:?}"),
    }
}

fn compare(layout: Layout, case: &Case, seed: u64) {
    let config = Config {
        layout,
        ..Config::default()
    };
    let mut random = Random::new(seed);
    let (mut many, mut single) = (Host::new(config.clone()), Host::new(config));
    for host in [&mut many, &mut single] {
        host.run_line(case.reserve);
        host.max_bytes = case.max_bytes;
    }
    let mut added = 0;
    while added < case.adds {
        let count = 1 + random.below(300);
        added += count;
        // Items of all lengths, including empty ones, and some twice in one batch.
        let items: Vec<String> = (0..count)
            .map(|_| match random.below(case.range) {
                0 => String::new(),
                item => format!("{item}{}", &"............"[..(item % 12) as usize]),
            })
            .collect();
        let items: Vec<&[u8]> = items.iter().map(String::as_bytes).collect();
        let (add, ask) = if random.one_in(3) {
            (&b"BF.MEXISTS"[..], &b"BF.EXISTS"[..])
        } else {
            (&b"BF.MADD"[..], &b"BF.ADD"[..])
        };
        let told = together(&mut many, add, &items);
        assert_eq!(
            told,
            one_by_one(&mut single, ask, &items),
            "{}",
            case.reserve
        );
    }
    assert!(many.keys == single.keys, "{}", case.reserve);
}

#[test]
fn a_batch_gives_the_same_replies_and_bits_as_single_items() {
    let rounds = if is_soak() { 20 } else { 1 };
    for seed in 1..=rounds {
        for case in &CASES {
            compare(Layout::RedisBloom, case, seed);
            compare(Layout::Native, case, seed);
        }
    }
}
