//! Commands that RedisBloom does not have, settings, and intended differences between the layouts.

use crate::host::Host;
use mayhap_command::{Config, Layout, NAMES, Protocol, Reply};
use mayhap_core::Timestamp;

fn host() -> Host {
    Host::new(Config::default())
}

fn expect(host: &mut Host, line: &str, expected: &str) {
    let mut reply = Vec::new();
    host.run_line(line).write(Protocol::Resp3, &mut reply);
    assert_eq!(reply.escape_ascii().to_string(), expected, "{line}");
}

#[test]
fn merge_adds_all_items_and_reports_what_differs() {
    let mut host = host();
    host.run_line("BF.MADD a 1 2 3");
    host.run_line("BF.MADD b 3 4 5");
    expect(&mut host, "BF.MERGE c a b", "+OK\\r\\n");
    expect(
        &mut host,
        "BF.MEXISTS c 1 2 3 4 5 6",
        "*6\\r\\n#t\\r\\n#t\\r\\n#t\\r\\n#t\\r\\n#t\\r\\n#f\\r\\n",
    );
    expect(&mut host, "BF.CARD c", ":5\\r\\n");
    expect(&mut host, "BF.MERGE c c", "+OK\\r\\n");
    expect(&mut host, "BF.CARD c", ":5\\r\\n");
    expect(
        &mut host,
        "BF.MERGE missing missing",
        "-ERR not found\\r\\n",
    );
    expect(&mut host, "BF.MERGE a missing", "-ERR not found\\r\\n");
    host.run_line("SET s x");
    let wrong = "-WRONGTYPE Operation against a key holding the wrong kind of value\\r\\n";
    expect(&mut host, "BF.MERGE a s", wrong);
    expect(&mut host, "BF.MERGE s a", wrong);
    host.run_line("CF.ADD f 1");
    expect(&mut host, "BF.MERGE a f", wrong);
    let before = host.images();
    host.run_line("BF.RESERVE fixed 0.01 100 NONSCALING");
    host.config.bf_initial_size = 5000;
    host.run_line("BF.ADD larger 9");
    expect(&mut host, "BF.MERGE both a larger", "+OK\\r\\n");
    expect(&mut host, "BF.CARD both", ":4\\r\\n");
    host.run_line("BF.INSERT strict ERROR 0.001 ITEMS 1");
    host.run_line("BF.RESERVE small 0.01 100");
    host.run_line("BF.ADD small 1");
    host.run_line("BF.RESERVE large 0.01 5000");
    expect(
        &mut host,
        "BF.MERGE small large",
        "-ERR filters cannot be merged: they differ in bits per key in a line: 8 and 7\\r\\n",
    );
    host.run_line("BF.WINDOW w 0.01 100 5");
    for (source, what) in [
        ("fixed", "they differ in whether they grow"),
        ("strict", "they differ in slice bits: 26 and 29"),
        (
            "small",
            "one was created with a capacity and the other without: reserve both with the same capacity",
        ),
        ("w", "they differ in whether they grow"),
    ] {
        let refused = format!("-ERR filters cannot be merged: {what}\\r\\n");
        expect(&mut host, &format!("BF.MERGE a {source}"), &refused);
    }
    host.secret = mayhap_core::SipKey::new([1; 16]);
    host.run_line("BF.MADD other 1 2 3");
    expect(
        &mut host,
        "BF.MERGE a other",
        "-ERR filters cannot be merged: they differ in hash key\\r\\n",
    );
    host.config.layout = Layout::RedisBloom;
    host.run_line("BF.MADD theirs 1 2 3");
    expect(
        &mut host,
        "BF.MERGE a theirs",
        "-ERR filters cannot be merged: they differ in layout\\r\\n",
    );
    host.run_line("BF.RESERVE theirs2 0.02 100");
    expect(
        &mut host,
        "BF.MERGE theirs theirs2",
        "-ERR filters cannot be merged: they differ in error rate\\r\\n",
    );
    for (key, image) in before {
        assert_eq!(host.images()[&key], image, "nothing was changed");
    }
}

#[test]
fn grown_filters_are_merged_in_both_layouts() {
    for (layout, is_reserved) in [
        (Layout::Native, false),
        (Layout::Native, true),
        (Layout::RedisBloom, false),
    ] {
        let mut host = host();
        host.config.layout = layout;
        if is_reserved {
            host.run_line("BF.RESERVE long 0.01 100");
            host.run_line("BF.RESERVE short 0.01 100");
        }
        for number in 0..5000 {
            host.run_line(&format!("BF.ADD long {number}"));
        }
        for number in 5000..5300 {
            host.run_line(&format!("BF.ADD short {number}"));
        }
        for line in ["BF.MERGE short long", "BF.MERGE all long short"] {
            expect(&mut host, line, "+OK\\r\\n");
        }
        for key in ["short", "all"] {
            for number in 0..5300 {
                expect(&mut host, &format!("BF.EXISTS {key} {number}"), "#t\\r\\n");
            }
            // They continue to grow.
            for number in 5300..8000 {
                host.run_line(&format!("BF.ADD {key} {number}"));
                expect(&mut host, &format!("BF.EXISTS {key} {number}"), "#t\\r\\n");
            }
        }
    }
}

#[test]
fn a_window_filter_forgets_old_items() {
    let mut host = host();
    host.now = Timestamp(0);
    expect(&mut host, "BF.WINDOW k 0.001 1000 60", "+OK\\r\\n");
    expect(
        &mut host,
        "BF.WINDOW k 0.001 1000 60",
        "-ERR item exists\\r\\n",
    );
    expect(&mut host, "BF.ADD k a", "#t\\r\\n");
    expect(&mut host, "BF.ADD k a", "#f\\r\\n");
    expect(&mut host, "BF.CARD k", ":1\\r\\n");
    expect(&mut host, "TYPE k", "+mayhap-bf\\r\\n");
    host.now = Timestamp(59_000);
    expect(&mut host, "BF.MEXISTS k a b", "*2\\r\\n#t\\r\\n#f\\r\\n");
    host.now = Timestamp(70_000);
    expect(&mut host, "BF.EXISTS k a", "#f\\r\\n");
    expect(&mut host, "BF.CARD k", ":0\\r\\n");
    expect(&mut host, "BF.ADD k a", "#t\\r\\n");
    for (line, error) in [
        (
            "BF.WINDOW n 0.01 100 0",
            "seconds must be in the range [1, 281474976710]",
        ),
        ("BF.WINDOW n 0.01 100 1.5", "bad seconds"),
        (
            "BF.WINDOW n 0.01 0 1",
            "capacity must be in the range [1, 1073741824]",
        ),
        ("BF.WINDOW n x 1 1", "bad error rate"),
    ] {
        expect(&mut host, line, &format!("-ERR {error}\\r\\n"));
    }
}

#[test]
fn counting_filters_add_and_remove() {
    let mut host = host();
    expect(&mut host, "CBF.RESERVE k 0.01 1000", "+OK\\r\\n");
    expect(
        &mut host,
        "CBF.RESERVE k 0.01 1000",
        "-ERR item exists\\r\\n",
    );
    expect(&mut host, "CBF.ADD k a", "#t\\r\\n");
    expect(&mut host, "CBF.MADD k a b", "*2\\r\\n#f\\r\\n#t\\r\\n");
    expect(&mut host, "CBF.COUNT k a", ":2\\r\\n");
    expect(&mut host, "CBF.DEL k a", "#t\\r\\n");
    expect(&mut host, "CBF.DEL k a", "#t\\r\\n");
    expect(&mut host, "CBF.DEL k a", "#f\\r\\n");
    expect(&mut host, "CBF.MEXISTS k a b", "*2\\r\\n#f\\r\\n#t\\r\\n");
    expect(&mut host, "CBF.EXISTS missing a", "#f\\r\\n");
    expect(&mut host, "CBF.COUNT missing a", ":0\\r\\n");
    expect(&mut host, "CBF.INFO missing", "-ERR not found\\r\\n");
    expect(&mut host, "CBF.DEL missing a", "-ERR not found\\r\\n");
    expect(&mut host, "TYPE k", "+mayhap-cb\\r\\n");
    let wrong = "-WRONGTYPE Operation against a key holding the wrong kind of value\\r\\n";
    for line in ["BF.ADD k a", "CF.ADD k a", "BF.INFO k", "BF.MERGE b k"] {
        expect(&mut host, line, wrong);
    }
    // Counters do not saturate.
    for _ in 0..2000 {
        host.run_line("CBF.ADD k often");
    }
    expect(&mut host, "CBF.COUNT k often", ":2000\\r\\n");
    expect(&mut host, "CBF.DEL k often", "#t\\r\\n");
    expect(&mut host, "CBF.COUNT k often", ":1999\\r\\n");
    assert_eq!(
        info_number(&mut host, "k", "Number of items inserted"),
        2000
    );
    assert_eq!(info_number(&mut host, "k", "Capacity"), 1000);
    assert_eq!(info_number(&mut host, "k", "Full counters"), 0);
}

/// A number that `CBF.INFO` reports.
fn info_number(host: &mut Host, key: &str, name: &str) -> i64 {
    let Reply::Fields(fields) = host.run_line(&format!("CBF.INFO {key}")) else {
        panic!("fields");
    };
    let field = fields.into_iter().find(|field| field.0 == name);
    let Some((_, Reply::Integer(number))) = field else {
        panic!("{name}");
    };
    number
}

#[test]
fn counting_filters_of_older_versions_keep_their_counters() {
    let mut host = host();
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../golden/slots/counting.created"
    );
    let header = std::fs::read(path).expect("a header");
    assert_eq!(host.run(&[b"MAYHAP.LOAD", b"k", &header]), Reply::OK);
    for _ in 0..20 {
        host.run_line("CBF.ADD k full");
    }
    expect(
        &mut host,
        "CBF.DEL k full",
        "-ERR a counter of this item is saturated, so the item cannot be removed\\r\\n",
    );
    expect(&mut host, "CBF.EXISTS k full", "#t\\r\\n");
    expect(&mut host, "CBF.COUNT k full", ":15\\r\\n");
    assert_eq!(info_number(&mut host, "k", "Largest count"), 15);
    assert_eq!(info_number(&mut host, "k", "Number of items inserted"), 20);
}

/// A counting key grows past its capacity, and rejects items that the memory limit does not allow: they are not replicated.
#[test]
fn counting_filters_grow_within_their_limit() {
    let mut host = host();
    host.max_bytes = 6000;
    expect(&mut host, "CBF.RESERVE k 0.01 100", "+OK\\r\\n");
    let mut accepted = Vec::new();
    let mut rejected = 0;
    for number in 0..6000 {
        let item = mixed_item(number);
        let (before, logged) = (host.images(), host.log.len());
        match host.run_line(&format!("CBF.ADD k {item}")) {
            Reply::Boolean(_) => accepted.push(item),
            reply => {
                assert_eq!(reply, Reply::error("ERR Insufficient memory"));
                assert!(host.images() == before && host.log.len() == logged);
                rejected += 1;
            }
        }
    }
    assert!(accepted.len() > 1000 && rejected > 100, "{rejected}");
    assert!(info_number(&mut host, "k", "Capacity") > 100);
    for item in &accepted {
        expect(&mut host, &format!("CBF.EXISTS k {item}"), "#t\\r\\n");
    }
    let logged = host.log.len();
    let Reply::Array(replies) = host.run_line("CBF.MADD k x1 x2 x3 0 x4 x5 x6") else {
        panic!("some are rejected");
    };
    assert_eq!(replies[3], Reply::Boolean(false));
    assert!(replies.contains(&Reply::error("ERR Insufficient memory")));
    let added = replies
        .iter()
        .filter(|reply| matches!(reply, Reply::Boolean(_)));
    let words: usize = host.log[logged..].iter().map(|entry| entry.1.len()).sum();
    assert_eq!(words, 2 + added.count());
    for item in accepted {
        expect(&mut host, &format!("CBF.DEL k {item}"), "#t\\r\\n");
    }
}

/// Few different items, each several times, and many that come once.
fn mixed_item(number: u64) -> u64 {
    if number.is_multiple_of(3) {
        number % 50
    } else {
        number
    }
}

#[test]
fn estimates_are_accurate() {
    let mut host = host();
    host.run_line("BF.RESERVE k 0.01 10000 NONSCALING");
    for number in 0..5000 {
        host.run_line(&format!("BF.ADD k {number}"));
    }
    let Reply::Fields(fields) = host.run_line("BF.ESTIMATE k") else {
        panic!("fields");
    };
    let names: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    let expected = [
        "Items",
        "Error rate",
        "Error rate asked",
        "Fill",
        "Items until full",
    ];
    assert_eq!(names, expected);
    assert!(matches!(fields[0].1, Reply::Integer(4800..5200)));
    assert!(matches!(fields[1].1, Reply::Double(rate) if rate > 0.0 && rate < 0.002));
    assert_eq!(fields[2].1, Reply::Double(0.01));
    assert!(matches!(fields[4].1, Reply::Integer(4800..5200)));
    expect(&mut host, "BF.ESTIMATE missing", "-ERR not found\\r\\n");
}

#[test]
fn a_cuckoo_filter_has_the_requested_rate() {
    let mut host = host();
    expect(&mut host, "CF.RESERVE k 20000 ERROR 0.0001", "+OK\\r\\n");
    for number in 0..20_000 {
        expect(&mut host, &format!("CF.ADD k {number}"), "#t\\r\\n");
    }
    let strangers = (100_000..300_000)
        .filter(|number| host.run_line(&format!("CF.EXISTS k {number}")) == Reply::Boolean(true));
    let strangers = strangers.count();
    assert!(strangers <= 20 + 14, "{strangers} of 20 that are allowed");
    for (line, error) in [
        ("CF.RESERVE n 100 ERROR x", "Couldn\\'t parse ERROR"),
        (
            "CF.RESERVE n 100 ERROR 0",
            "ERROR: value must be in the range (0, 1)",
        ),
        (
            "CF.RESERVE n 100 ERROR 1",
            "ERROR: value must be in the range (0, 1)",
        ),
        (
            "CF.RESERVE n 100 ERROR 1e-300",
            "ERR Could not create filter",
        ),
        (
            "CF.RESERVE n 100 ERROR",
            "ERR wrong number of arguments for \\'cf.reserve\\' command",
        ),
    ] {
        expect(&mut host, line, &format!("-{error}\\r\\n"));
    }
}

#[test]
fn a_filter_keeps_its_layout_when_the_setting_changes() {
    let mut host = host();
    host.run_line("BF.ADD ours a");
    host.run_line("CF.ADD ours-cf a");
    host.config
        .set("mayhap-layout", b"redisbloom")
        .expect("a layout");
    host.run_line("BF.ADD theirs a");
    host.run_line("CF.ADD theirs-cf a");
    host.run_line("BF.ADD ours b");
    for (key, name) in [
        ("ours", "mayhap-bf"),
        ("ours-cf", "mayhap-cf"),
        ("theirs", "MBbloom--"),
        ("theirs-cf", "MBbloomCF"),
    ] {
        expect(&mut host, &format!("TYPE {key}"), &format!("+{name}\\r\\n"));
    }
    expect(&mut host, "BF.MEXISTS ours a b", "*2\\r\\n#t\\r\\n#t\\r\\n");
    // RedisBloom's dump loads as RedisBloom's layout, whatever the setting.
    host.config
        .set("MAYHAP.layout", b"native")
        .expect("a layout");
    let Reply::Array(parts) = host.run_line("BF.SCANDUMP theirs 0") else {
        panic!("a header");
    };
    let Reply::Bulk(header) = &parts[1] else {
        panic!("a header");
    };
    let loaded = host.run(&[b"BF.LOADCHUNK", b"loaded", b"1", header]);
    assert_eq!(loaded, Reply::OK);
    expect(&mut host, "TYPE loaded", "+MBbloom--\\r\\n");
}

#[test]
fn settings_have_aliases() {
    let mut config = Config::default();
    for name in NAMES {
        assert!(config.get(name).is_some(), "{name}");
        let with_module = name.strip_prefix("mayhap-").unwrap_or(name);
        assert_eq!(
            config.get(&format!("mayhap.{with_module}")),
            config.get(name)
        );
    }
    assert_eq!(config.set("mayhap.bf-error-rate", b"0.9"), Ok(()));
    assert_eq!(config.get("BF-ERROR-RATE"), Some("0.25".to_owned()));
    let error = config.set("mayhap-layout", b"other").unwrap_err();
    assert_eq!(error, "Invalid value for `mayhap-layout`");
    assert!(config.set("mayhap", b"1").is_err() && config.get("mayhap.x").is_none());
}

#[test]
fn the_memory_limit_rejects_filters_and_growth_and_changes_nothing() {
    for layout in [Layout::Native, Layout::RedisBloom] {
        let mut host = host();
        host.config.layout = layout;
        host.max_bytes = 10_000;
        let no_memory = "-ERR Insufficient memory to create filter\\r\\n";
        for line in [
            "BF.RESERVE k 0.01 1000000",
            "BF.RESERVE k 0.01 1000000 NONSCALING",
            "BF.INSERT k CAPACITY 1000000 ITEMS a",
            "CF.RESERVE k 1000000",
            "CF.RESERVE k 1000000 EXPANSION 0",
            "BF.WINDOW k 0.01 1000000 60",
            "CBF.RESERVE k 0.01 1000000",
        ] {
            expect(&mut host, line, no_memory);
        }
        assert!(host.keys.is_empty() && host.log.is_empty());
        for (line, error) in [
            ("BF.ADD b", "ERR problem inserting into filter"),
            ("CF.ADD c", "ERR Insufficient memory"),
        ] {
            let mut number = 0;
            let refused = loop {
                let (before, logged) = (host.images(), host.log.len());
                let reply = host.run_line(&format!("{line} {number}"));
                if matches!(reply, Reply::Error(_)) {
                    assert_eq!((host.images(), host.log.len()), (before, logged));
                    break reply;
                }
                number += 1;
            };
            assert_eq!(refused, Reply::error(error));
            assert!(number > 500, "{number}");
        }
        assert!(host.keys.values().all(|slot| slot.size_bytes() < 11_000));
    }
}

#[test]
fn mayhap_at_accepts_commands_with_one_key_only() {
    let mut host = host();
    host.run_line("BF.MADD a 1 2 3");
    expect(
        &mut host,
        "MAYHAP.AT 5 BF.MERGE b a",
        "-ERR MAYHAP.AT must be followed by a filter command that writes one key\\r\\n",
    );
    expect(&mut host, "MAYHAP.AT 5 BF.ADD b 1", "#t\\r\\n");
}

/// A header of 38 bytes can declare 62,979 tables. Commands must take time only for tables that were loaded.
#[test]
fn declared_but_missing_tables_cost_nothing() {
    let mut host = host();
    let mut header = Vec::new();
    for count in [0_u64, 2, 0, 62_979] {
        header.extend_from_slice(&count.to_le_bytes());
    }
    for short in [2_u16, 20, 1] {
        header.extend_from_slice(&short.to_le_bytes());
    }
    assert_eq!(host.run(&[b"CF.LOADCHUNK", b"k", b"1", &header]), Reply::OK);
    let items: Vec<Vec<u8>> = (0..50_000).map(|item| format!("{item}").into()).collect();
    let mut words: Vec<&[u8]> = vec![b"CF.MEXISTS", b"k"];
    words.extend(items.iter().map(Vec::as_slice));
    let none = Reply::Booleans(vec![false; items.len()]);
    assert_eq!(host.run(&words), none);
    expect(&mut host, "CF.DEL k a", "#f\\r\\n");
    expect(&mut host, "CF.COMPACT k", "+OK\\r\\n");
    let debug = "bktsize:2 buckets:2 items:0 deletes:0 filters:1 max_iterations:20 expansion:1";
    assert_eq!(host.run_line("CF.DEBUG k"), Reply::Bulk(debug.into()));
}

#[test]
fn try_clone_gives_an_equal_slot() {
    for layout in [Layout::Native, Layout::RedisBloom] {
        let mut host = host();
        host.config.layout = layout;
        host.run_line("SET other x");
        host.run_line("BF.RESERVE fixed 0.01 100 NONSCALING");
        host.run_line("BF.WINDOW window 0.01 100 5");
        host.run_line("CF.RESERVE nest 100 EXPANSION 0");
        for item in 0..600 {
            for add in [
                "BF.ADD grown",
                "BF.ADD fixed",
                "BF.ADD window",
                "CF.ADD chain",
            ] {
                host.run_line(&format!("{add} {item}"));
            }
            host.run_line(&format!("CF.ADD nest {item}"));
            host.run_line(&format!("CBF.ADD counted {item}"));
        }
        assert_eq!(host.keys.len(), 7);
        for slot in host.keys.values() {
            assert_eq!(slot.try_clone().as_ref(), Ok(slot));
        }
    }
}

/// RedisBloom stores the requested or configured expansion even for filters that do not grow.
#[test]
fn a_filter_that_does_not_grow_stores_its_expansion_as_redisbloom_does() {
    let mut host = host();
    host.config.layout = Layout::RedisBloom;
    for (number, (line, growth)) in [
        ("BF.INSERT k EXPANSION 1 NONSCALING ITEMS a", 1),
        ("BF.INSERT k NONSCALING EXPANSION 4 ITEMS a", 4),
        ("BF.INSERT k NONSCALING EXPANSION 0 ITEMS a", 0),
        ("BF.INSERT k EXPANSION 0 ITEMS a", 0),
        ("BF.INSERT k NONSCALING ITEMS a", 2),
        ("BF.RESERVE k 0.01 100 NONSCALING", 2),
        ("BF.RESERVE k 0.01 100 EXPANSION 0", 0),
    ]
    .into_iter()
    .enumerate()
    {
        let line = line.replace(" k", &format!(" k{number}"));
        host.run_line(&line);
        let Reply::Array(scanned) = host.run_line(&format!("BF.SCANDUMP k{number} 0")) else {
            panic!("{line}: no chunk");
        };
        let Reply::Bulk(header) = &scanned[1] else {
            panic!("{line}: no header");
        };
        let word = |at| u32::from_le_bytes(*header[at..].first_chunk().unwrap());
        assert_eq!(
            (word(12), word(16)),
            (13, growth),
            "{line}: options and growth"
        );
        expect(
            &mut host,
            &format!("BF.INFO k{number} EXPANSION"),
            "%1\\r\\n+Expansion rate\\r\\n_\\r\\n",
        );
    }
}
