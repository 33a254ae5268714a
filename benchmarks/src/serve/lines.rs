//! Figures beside what they are held against.

use super::{Host, Load, Measured, median};
use std::fmt::Write as _;

/// A figure, what it is held against, and how large the ratio may be.
pub struct Line {
    /// What was measured.
    pub name: String,
    /// How much it was.
    pub figure: f64,
    /// What it is held against.
    pub against: String,
    /// How much that was.
    pub base: f64,
    /// What the ratio may be.
    pub most: Option<f64>,
    /// Of both.
    pub unit: &'static str,
}

/// Runs loads in turns; the medians of each.
pub fn in_turns(rounds: usize, loads: &[(&Host, Load)]) -> Vec<Measured> {
    let mut all: Vec<Vec<Measured>> = vec![Vec::new(); loads.len()];
    for _ in 0..rounds {
        for (runs, (host, load)) in all.iter_mut().zip(loads) {
            runs.push(load.run(host));
        }
    }
    all.iter().map(|runs| median(runs)).collect()
}

/// All of them, in Markdown.
pub fn table(lines: &[Line]) -> String {
    let mut table =
        "| | mayhap | against | ratio | at most |\n| --- | --- | --- | --- | --- |\n".to_owned();
    for line in lines {
        let ratio = line.figure / line.base;
        let most = line.most.map_or(String::new(), |most| {
            format!("{most:.2}{}", if ratio <= most { "" } else { ", missed" })
        });
        let _ = writeln!(
            table,
            "| {} | {:.3} {} | {} {:.3} | {ratio:.2} | {most} |",
            line.name, line.figure, line.unit, line.against, line.base
        );
    }
    table
}

/// A hundred items at a time, beside the same command on a key that is missing. Both hosts are alike and empty.
///
/// What is in already is not passed on, so that new items cost more: they go into a host of their own, into a filter of the same size,
/// which has room for those of all rounds; they hardly ever come twice. Its snapshots do not fall into the time of the others.
pub fn against_missing(
    [host, fresh]: [&Host; 2],
    layout: &str,
    (keys, scale, rounds): (u64, u64, usize),
) -> Vec<Line> {
    host.fill_filter("f", keys);
    fresh.ask(&format!("BF.RESERVE f 0.01 {keys}"));
    let items = " key:__rand_int__".repeat(100);
    let load = |line: String| Load::new(&line, 16, 50_000 / scale, keys);
    let new = Load::new(
        &format!("BF.MADD f{items}"),
        16,
        30_000 / scale,
        1000 * keys,
    );
    let found = in_turns(
        rounds,
        &[
            (host, load(format!("BF.MEXISTS none{items}"))),
            (host, load(format!("BF.MEXISTS f{items}"))),
            (host, load(format!("BF.MADD f{items}"))),
            (fresh, new),
        ],
    );
    let most = if layout == "native" { 2.0 } else { 3.0 };
    let line = |(name, at): (&str, usize)| Line {
        name: format!("{name}, {layout}, an item"),
        figure: found[at].cpu_microseconds / 100.0,
        against: "BF.MEXISTS of a missing key".to_owned(),
        base: found[0].cpu_microseconds / 100.0,
        most: Some(most),
        unit: "us CPU",
    };
    [
        ("BF.MEXISTS of 100", 1),
        ("BF.MADD of 100 that are in", 2),
        ("BF.MADD of 100 new ones", 3),
    ]
    .map(line)
    .into()
}
