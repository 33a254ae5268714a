//! Filter commands for any host: random ones, and every command with every kind of argument.

use crate::Random;

/// The keys of random commands: few, so that commands meet; two are named like options.
pub const KEYS: [&str; 6] = ["a", "b", "c", "d", "nonscaling", "expansion"];

fn item(random: &mut Random) -> String {
    format!("item {}", random.below(400)).replace(' ', "")
}

fn items(random: &mut Random) -> String {
    let bound = random.choose(&[1, 3, 20, 200]);
    let items = (0..=random.below(bound)).map(|_| item(random));
    items.collect::<Vec<_>>().join(" ")
}

fn rate(random: &mut Random) -> &'static str {
    random.choose(&["0.01", "0.1", "0.5", "0.0001", "1e-9", "0", "x"])
}

fn capacity(random: &mut Random) -> u64 {
    let bound = random.choose(&[2, 10, 100, 5000]);
    random.below(bound)
}

/// A random command that may change a key.
pub fn random_write(random: &mut Random) -> String {
    let key = random.choose(&KEYS);
    let (one, many) = (item(random), items(random));
    let (rate, capacity) = (rate(random), capacity(random));
    let expansion = random.choose(&["", " EXPANSION 0", " EXPANSION 1", " EXPANSION 4"]);
    match random.below(40) {
        0 => format!("BF.RESERVE {key} {rate} {capacity}{expansion}"),
        1 => format!("BF.RESERVE {key} {rate} {capacity} NONSCALING"),
        2..6 => format!("BF.ADD {key} {one}"),
        6..11 => format!("BF.MADD {key} {many}"),
        11..13 => {
            format!("BF.INSERT {key} ERROR {rate} CAPACITY {capacity}{expansion} ITEMS {many}")
        }
        13 => format!("BF.INSERT {key} NOCREATE NONSCALING ITEMS {many}"),
        14 => format!("BF.WINDOW {key} {rate} {capacity} {}", random.below(5)),
        15 => format!("CF.RESERVE {key} {capacity}{expansion}"),
        16 => format!("CF.RESERVE {key} {capacity} ERROR {rate}{expansion}"),
        17 => format!(
            "CF.RESERVE {key} {capacity} BUCKETSIZE {}{expansion}",
            random.below(5)
        ),
        18..20 => format!("CF.ADD {key} {one}"),
        20..22 => format!("CF.ADDNX {key} {one}"),
        22..25 => format!("CF.INSERT {key} CAPACITY {capacity} ITEMS {many}"),
        25 => format!("CF.INSERTNX {key} ITEMS {many}"),
        26..30 => format!("CF.DEL {key} {one}"),
        30 => format!("CF.COMPACT {key}"),
        31 => format!("CBF.RESERVE {key} {rate} {capacity}"),
        32 => format!("CBF.ADD {key} {one}"),
        33 => format!("CBF.MADD {key} {many}"),
        34 => format!("CBF.DEL {key} {one}"),
        35 => format!(
            "BF.MERGE {key} {} {}",
            random.choose(&KEYS),
            random.choose(&KEYS)
        ),
        36..38 => format!("DEL {key}"),
        38 => format!("SET {key} x"),
        _ => format!("RENAME {key} {}", random.choose(&KEYS)),
    }
}

/// A random command that only reads a key.
pub fn random_query(random: &mut Random) -> String {
    let key = random.choose(&KEYS);
    let (one, many) = (item(random), items(random));
    let field = random.choose(&[
        "",
        " CAPACITY",
        " SIZE",
        " FILTERS",
        " ITEMS",
        " EXPANSION",
        " no",
    ]);
    match random.below(16) {
        0..3 => format!("BF.EXISTS {key} {one}"),
        3..5 => format!("BF.MEXISTS {key} {many}"),
        5 => format!("BF.INFO {key}{field}"),
        6 => format!("BF.CARD {key}"),
        7 => format!("BF.DEBUG {key}"),
        8 => format!("CF.EXISTS {key} {one}"),
        9 => format!("CF.MEXISTS {key} {many}"),
        10 => format!("CF.COUNT {key} {one}"),
        11 => format!("CF.INFO {key}"),
        12 => format!("CF.DEBUG {key}"),
        13 => format!("CBF.COUNT {key} {one}"),
        14 => format!("CBF.MEXISTS {key} {many}"),
        _ => format!(
            "{}.SCANDUMP {key} {}",
            random.choose(&["BF", "CF"]),
            random.below(3)
        ),
    }
}

/// Arguments that are known to break parsers.
const WORDS: [&str; 27] = [
    "0",
    "1",
    "-1",
    "2",
    "100",
    "255",
    "256",
    "32768",
    "65536",
    "1073741824",
    "1073741825",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551616",
    "0.01",
    "0.99",
    "1e-300",
    "1e308",
    "nan",
    "inf",
    "-inf",
    "",
    "ITEMS",
    "NONSCALING",
    "EXPANSION",
    "ERROR",
];

/// Calls `run` with every command in `names`, in every combination of up to three arguments.
pub fn for_each_argument(names: &[&str], mut run: impl FnMut(&[&[u8]])) {
    for &name in names {
        let mut lines: Vec<Vec<&str>> = vec![vec![name], vec![name, "k"]];
        for one in WORDS {
            lines.push(vec![name, "k", one]);
            for two in WORDS {
                lines.push(vec![name, "k", one, two]);
                for option in ["EXPANSION", "NONSCALING", "BUCKETSIZE", "ERROR", "7"] {
                    lines.push(vec![name, "k", one, two, option]);
                }
            }
        }
        for value in WORDS {
            for option in [
                "EXPANSION",
                "ERROR",
                "CAPACITY",
                "BUCKETSIZE",
                "MAXITERATIONS",
            ] {
                lines.push(vec![name, "k", "0.01", "100", option, value]);
                lines.push(vec![name, "k", "100", option, value]);
                lines.push(vec![name, "k", option, value, "ITEMS", "x", "y"]);
            }
            lines.push(vec![name, "k", "0.01", value, "5"]);
            lines.push(vec![name, "k", value, "100", "5"]);
        }
        for time in WORDS {
            lines.push(vec!["mayhap.at", time, name, "k", "7"]);
            lines.push(vec!["mayhap.at", time, name, "k", "0.01", "100"]);
        }
        for line in lines {
            let words: Vec<&[u8]> = line.iter().map(|word| word.as_bytes()).collect();
            run(&words);
        }
    }
}
