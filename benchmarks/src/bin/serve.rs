//! `mayhap serve` beside redis-server, in turns, under the load of redis-benchmark: CPU time of the server per command.
//!
//! `serve [--quick] [--only batch] [--mayhap FILE] [--markdown FILE]`: `mayhap` is taken from the main build, redis-server and
//! redis-benchmark from the system. With `--only batch` just the commands of a hundred items are measured.

use mayhap_benchmarks::machine::Machine;
use mayhap_benchmarks::serve::{
    Host, Line, Load, against_missing, choose_mayhap, flood, idle, in_turns, redis_is_there, table,
};
use std::fs;
use std::path::Path;

const ROUNDS: usize = 3;

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
    if !redis_is_there() {
        println!(
            "redis-server or redis-benchmark is missing: apt install redis-server redis-tools"
        );
        return;
    }
    let (keys, scale, rounds) = if is_quick {
        (10_000, 100, 1)
    } else {
        (10_000_000, 1, ROUNDS)
    };
    let is_whole = match after("--only") {
        None => true,
        Some(part) => {
            assert_eq!(part, "batch", "the only part that there is");
            false
        }
    };
    let mut lines = Vec::new();
    if is_whole {
        against_get(keys, scale, rounds, &mut lines);
    }
    for layout in ["native", "redisbloom"] {
        let hosts = [(); 2].map(|()| Host::mayhap(layout, "no", 1));
        lines.extend(against_missing(
            hosts.each_ref(),
            layout,
            (keys, scale, rounds),
        ));
    }
    if is_whole {
        at_depth_one(scale, rounds, &mut lines);
        with_fsync(keys, scale, rounds, &mut lines);
        with_threads(keys, scale, rounds, &mut lines);
        memory(keys, &mut lines);
    }
    if is_whole && !is_quick {
        let host = Host::mayhap("native", "no", 2);
        lines.push(Line {
            name: "memory of 10,000 idle connections".to_owned(),
            figure: idle(&host, 10_000) / 1e6,
            against: String::new(),
            base: 100.0,
            most: Some(1.0),
            unit: "MB",
        });
    }
    let table = table(&lines);
    println!("{table}");
    if let Some(path) = after("--markdown") {
        let page = format!(
            "# The server beside Redis\n\n{}\n\nMedians of {rounds} rounds in turns with redis-server, client and servers on the same machine; `make bench-serve` writes this \
             page. CPU is user and system time of the server process.\n\n{table}",
            // Date and processor; the rest is about the other benchmarks.
            Machine::look(1, rounds).lines()[..2].join("\n")
        );
        fs::write(Path::new(path), page).expect("the page is written");
    }
}

/// A question and an insert beside the GET of redis-server, ten million keys each.
fn against_get(keys: u64, scale: u64, rounds: usize, lines: &mut Vec<Line>) {
    let (redis, mayhap) = (Host::redis(), Host::mayhap("native", "no", 1));
    redis.fill_strings(keys);
    mayhap.fill_filter("f", keys);
    mayhap.ask(&format!("BF.RESERVE fresh 0.01 {}", keys.max(1000)));
    let requests = 2_000_000 / scale;
    let load = |line: &str| Load::new(line, 64, requests, keys);
    let found = in_turns(
        rounds,
        &[
            (&redis, load("GET key:__rand_int__")),
            (&mayhap, load("BF.EXISTS f key:__rand_int__")),
            (&mayhap, load("BF.ADD fresh key:__rand_int__")),
        ],
    );
    for (name, at) in [("BF.EXISTS, depth 64", 1), ("BF.ADD, depth 64", 2)] {
        lines.push(Line {
            name: name.to_owned(),
            figure: found[at].cpu_microseconds,
            against: "redis-server GET".to_owned(),
            base: found[0].cpu_microseconds,
            most: Some(0.8),
            unit: "us CPU",
        });
    }
}

fn at_depth_one(scale: u64, rounds: usize, lines: &mut Vec<Line>) {
    let (redis, mayhap) = (Host::redis(), Host::mayhap("native", "no", 1));
    mayhap.fill_filter("f", 100_000);
    let load = |line: &str| Load::new(line, 1, 200_000 / scale, 100_000);
    let found = in_turns(
        rounds,
        &[
            (&redis, load("PING")),
            (&mayhap, load("PING")),
            (&mayhap, load("BF.EXISTS f key:__rand_int__")),
        ],
    );
    for (name, at) in [
        ("p99 of PING, depth 1", 1),
        ("p99 of BF.EXISTS, depth 1", 2),
    ] {
        lines.push(Line {
            name: name.to_owned(),
            figure: found[at].p99_milliseconds,
            against: "redis-server PING".to_owned(),
            base: found[0].p99_milliseconds,
            most: Some(1.15),
            unit: "ms",
        });
    }
}

fn with_fsync(keys: u64, scale: u64, rounds: usize, lines: &mut Vec<Line>) {
    let (no, everysec) = (
        Host::mayhap("native", "no", 1),
        Host::mayhap("native", "everysec", 1),
    );
    for host in [&no, &everysec] {
        host.ask(&format!("BF.RESERVE f 0.01 {}", keys.max(1000)));
    }
    let load = || Load::new("BF.ADD f key:__rand_int__", 64, 2_000_000 / scale, keys);
    let found = in_turns(rounds, &[(&no, load()), (&everysec, load())]);
    lines.push(Line {
        name: "time of a BF.ADD, --fsync everysec".to_owned(),
        figure: 1e6 / found[1].requests_per_second,
        against: "--fsync no".to_owned(),
        base: 1e6 / found[0].requests_per_second,
        most: Some(1.15),
        unit: "us",
    });
}

fn with_threads(keys: u64, scale: u64, rounds: usize, lines: &mut Vec<Line>) {
    let (one, two) = (
        Host::mayhap("native", "no", 1),
        Host::mayhap("native", "no", 2),
    );
    for host in [&one, &two] {
        host.fill_filter("f", keys);
    }
    let request = |number: usize| {
        let mut words = "*102\r\n$10\r\nBF.MEXISTS\r\n$1\r\nf\r\n".to_owned();
        for item in 0..100 {
            let item = (100 * number + item) as u64 * 7919 % keys;
            words += &format!("$16\r\nkey:{item:012}\r\n");
        }
        words.into_bytes()
    };
    let reply = "*100\r\n".len() + 100 * ":1\r\n".len();
    let mut all = [Vec::new(), Vec::new()];
    for _ in 0..rounds {
        for (host, figures) in [&one, &two].into_iter().zip(&mut all) {
            let sent = (2000 / scale).max(2) as usize;
            figures.push(flood(host, 8, sent, request, reply));
        }
    }
    let [one, two] = all.map(|mut figures| {
        figures.sort_by(f64::total_cmp);
        figures[figures.len() / 2] / 1000.0
    });
    // Held the other way round: how much of one thread's work is done in the time of two.
    lines.push(Line {
        name: "thousand BF.MEXISTS of 100 a second, one thread".to_owned(),
        figure: one,
        against: "two threads".to_owned(),
        base: two,
        most: Some(0.8),
        unit: "",
    });
}

/// Bits a key, as BF.INFO tells the size.
fn memory(keys: u64, lines: &mut Vec<Line>) {
    let host = Host::mayhap("native", "no", 1);
    let size = |key: &str| host.ask_number(&format!("BF.INFO {key} SIZE")) as f64 * 8.0;
    host.ask(&format!("BF.RESERVE fixed 0.01 {keys} NONSCALING"));
    host.ask(&format!("BF.RESERVE scaling 0.01 {keys}"));
    let grown = keys.min(1_000_000);
    host.add_items("grown", grown);
    for (name, key, keys, most) in [
        ("NONSCALING at 1 %", "fixed", keys, 10.2),
        ("scaling at 1 %, before it grows", "scaling", keys, 11.3),
        ("grown from 100 to a million at 1 %", "grown", grown, 20.0),
    ] {
        lines.push(Line {
            name: name.to_owned(),
            figure: size(key) / keys as f64,
            against: "bits".to_owned(),
            base: most,
            most: (keys >= 1_000_000).then_some(1.0),
            unit: "bits a key",
        });
    }
    let wrong = host.count_found("grown", grown, 200_000);
    lines.push(Line {
        name: "its false positives".to_owned(),
        figure: wrong as f64 / 2000.0,
        against: "asked for".to_owned(),
        base: 1.0,
        most: Some(1.0),
        unit: "%",
    });
}
