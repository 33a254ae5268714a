//! How long others wait, and how much memory it takes, while `mayhap serve` does something to one large filter.
//!
//! `waits [--quick] [--mayhap FILE] [--markdown FILE]`: three clients go on all the time, one that asks a small filter, one that asks the
//! large one, and one that runs transactions on the small one. The longest wait of the first two is told for each command, beside that of a
//! second in which nothing else happens.

use mayhap_benchmarks::machine::Machine;
use mayhap_benchmarks::serve::{Host, Waits, choose_mayhap};
use std::fmt::Write;
use std::fs;

/// What is done, and what of it is timed: the last line, or for `BGSAVE` until the snapshot is there.
const COMMANDS: [(&str, &[&str]); 13] = [
    ("nothing, for a second", &["nothing"]),
    ("`SAVE`", &["SAVE"]),
    ("`BGSAVE`", &["BGSAVE"]),
    (
        "`RENAME` during `BGSAVE`",
        &["BGSAVE", "RENAME big other", "RENAME other big"],
    ),
    ("`COPY`", &["COPY big copy"]),
    ("`BF.MERGE` into a filter", &["BF.MERGE copy big"]),
    (
        "`EXEC` of a `BF.MERGE`",
        &["MULTI", "BF.MERGE copy big", "EXEC"],
    ),
    ("`DEL`", &["DEL copy"]),
    ("`BF.MERGE` into a new key", &["BF.MERGE new big"]),
    ("`UNLINK`", &["UNLINK new"]),
    ("`BF.ESTIMATE`", &["BF.ESTIMATE big"]),
    ("`INFO filters`", &["INFO filters"]),
    ("`MAYHAP.EXPORT`", &["MAYHAP.EXPORT big file.mayhap"]),
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let is_quick = arguments.iter().any(|argument| argument == "--quick");
    let after = |option: &str| {
        let at = arguments.iter().position(|argument| argument == option)?;
        Some(arguments.get(at + 1).expect("a value after the option"))
    };
    if let Some(program) = after("--mayhap") {
        choose_mayhap(program.into());
    }
    // 1.6 GB, or 16 MB.
    let keys: u64 = if is_quick { 10_500_000 } else { 1_050_000_000 };
    let host = Host::mayhap("native", "everysec", 2);
    host.ask(&format!("BF.RESERVE big 0.0039 {keys} NONSCALING"));
    host.ask("BF.ADD small x");
    host.add_items("big", if is_quick { 10_000 } else { 2_000_000 });
    let size = host.ask_number("MEMORY USAGE big");
    let mut table = "| while | it takes, s | `BF.EXISTS` on a small key waits, ms | on the large filter, ms | memory besides the filter, MiB |\n| --- | ---: | ---: | ---: | ---: |\n".to_owned();
    for (name, lines) in COMMANDS {
        let Waits {
            seconds,
            small_ms,
            large_ms,
            extra_mib,
        } = host.waits(lines);
        println!("{name}: {seconds:.2} s, {small_ms:.1} ms, {large_ms:.1} ms, {extra_mib:.0} MiB");
        let _ = writeln!(
            table,
            "| {name} | {seconds:.1} | {small_ms:.0} | {large_ms:.0} | {extra_mib:.0} |"
        );
    }
    println!("{table}");
    if let Some(path) = after("--markdown") {
        let page = format!(
            "# Who waits for whom\n\n{}\n\nA filter of {:.1} GB, two worker threads, `--fsync everysec`, three clients that go on all the time on the same machine; `make bench-serve` writes this page.\n\n{table}",
            Machine::look(1, 1).lines()[..2].join("\n"),
            size as f64 / 1e9
        );
        fs::write(path, page).expect("the page is written");
    }
}
