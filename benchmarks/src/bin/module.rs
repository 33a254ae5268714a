//! The module inside of redis-server, under the load of redis-benchmark: CPU time of the server per command, in turns with the engine's
//! own GET and with the same command on a key that is missing.
//!
//! `module [--quick] [--markdown FILE]`: the module is taken from the main build, the rest from the system.

use mayhap_benchmarks::machine::Machine;
use mayhap_benchmarks::serve::{
    Host, Line, Load, against_missing, in_turns, redis_is_there, table,
};
use std::fs;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let is_quick = arguments.iter().any(|argument| argument == "--quick");
    if !redis_is_there() {
        println!(
            "redis-server or redis-benchmark is missing: apt install redis-server redis-tools"
        );
        return;
    }
    let (sizes, scale, rounds) = if is_quick {
        ([1000, 10_000], 100, 1)
    } else {
        ([1_000_000, 10_000_000], 1, 3)
    };
    let mut lines = Vec::new();
    for (keys, most) in sizes.into_iter().zip([1.3, 1.5]) {
        one_by_one(keys, (scale, rounds), most, &mut lines);
    }
    for layout in ["native", "redisbloom"] {
        let hosts = [(); 2].map(|()| Host::redis_with_module(layout));
        let size = (sizes[1], scale, rounds);
        lines.extend(against_missing(hosts.each_ref(), layout, size));
    }
    let table = table(&lines);
    println!("{table}");
    if let Some(at) = arguments
        .iter()
        .position(|argument| argument == "--markdown")
    {
        let path = arguments.get(at + 1).expect("--markdown FILE");
        let page = format!(
            "# The module inside of Redis\n\n{}\n\nMedians of {rounds} rounds in turns, client and redis-server on the same machine; `make bench-module` writes this page. CPU is user and system time of redis-server.\n\n{table}",
            Machine::look(1, rounds).lines()[..2].join("\n")
        );
        fs::write(path, page).expect("the page is written");
    }
}

/// Questions and inserts at depth 64.
fn one_by_one(keys: u64, (scale, rounds): (u64, usize), most: f64, lines: &mut Vec<Line>) {
    let host = Host::redis_with_module("native");
    host.fill_strings(keys);
    host.fill_filter("f", keys);
    let load = |line: &str| Load::new(line, 64, 2_000_000 / scale, keys);
    let found = in_turns(
        rounds,
        &[
            (&host, load("GET key:__rand_int__")),
            (&host, load("BF.EXISTS none key:__rand_int__")),
            (&host, load("BF.EXISTS f key:__rand_int__")),
            (&host, load("BF.ADD f key:__rand_int__")),
        ],
    );
    let mut line = |name: &str, at: usize, (against, base): (&str, usize), most: Option<f64>| {
        lines.push(Line {
            name: format!("{name}, {keys} keys, depth 64"),
            figure: found[at].cpu_microseconds,
            against: against.to_owned(),
            base: found[base].cpu_microseconds,
            most,
            unit: "us CPU",
        });
    };
    let missing = ("BF.EXISTS of a missing key", 1);
    line("BF.EXISTS", 2, missing, Some(most));
    line("BF.ADD", 3, missing, None);
    line("BF.EXISTS", 2, ("GET", 0), None);
    line("BF.ADD", 3, ("GET", 0), None);
}
