//! What open pages of the dashboard cost: CPU time of `mayhap serve` per `BF.EXISTS` with five pages open and with none, in turns.
//!
//! `pages [--quick] [--mayhap FILE] [--markdown FILE]`: the server has ten thousand filters; each page follows the events and asks for
//! its table every three seconds. All threads of the server count, those that serve the pages included.

use mayhap_benchmarks::machine::Machine;
use mayhap_benchmarks::serve::{
    Host, Line, Load, Measured, OpenPages, choose_mayhap, median, redis_is_there, table,
};
use std::fs;

const ROUNDS: usize = 9;
const PAGES: u64 = 5;

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
        println!("redis-benchmark is missing: apt install redis-tools");
        return;
    }
    let (filters, keys, requests, rounds) = if is_quick {
        (100, 10_000, 100_000, 1)
    } else {
        (10_000, 10_000_000, 6_000_000, ROUNDS)
    };
    let host = Host::mayhap_with_page();
    host.fill_filter("f", keys);
    for filter in 0..filters {
        host.ask(&format!("BF.RESERVE filter:{filter} 0.01 1000"));
    }
    let load = Load::new("BF.EXISTS f key:__rand_int__", 64, requests, keys);
    // The first run warms up.
    load.run(&host);
    let (mut without, mut with) = (Vec::new(), Vec::new());
    let mut events = 0;
    for round in 0..rounds {
        let mut alone = || without.push(load.run(&host));
        let mut watched = || {
            let pages = OpenPages::open(&host, PAGES);
            let before = pages.events();
            with.push(load.run(&host));
            events += pages.events() - before;
        };
        // Neither is always the first of a round.
        if round % 2 == 0 {
            alone();
            watched();
        } else {
            watched();
            alone();
        }
    }
    let cpu = |runs: &[Measured]| median(runs).cpu_microseconds;
    let lines = [Line {
        name: format!("BF.EXISTS, depth 64, {PAGES} pages open"),
        figure: cpu(&with),
        against: "no page".to_owned(),
        base: cpu(&without),
        most: Some(1.05),
        unit: "us CPU",
    }];
    let mut ratios: Vec<f64> = with
        .iter()
        .zip(&without)
        .map(|(with, without)| with.cpu_microseconds / without.cpu_microseconds)
        .collect();
    ratios.sort_by(f64::total_cmp);
    let ratios: Vec<String> = ratios.iter().map(|ratio| format!("{ratio:.3}")).collect();
    let text = format!(
        "{}\nThe ratios of the rounds, sorted: {}. The pages had {events} events meanwhile.\n",
        table(&lines),
        ratios.join(", ")
    );
    println!("{text}");
    if let Some(path) = after("--markdown") {
        let page = format!(
            "# What open pages cost\n\n{}\n\nMedians of {rounds} rounds in turns, client, pages and server on the same machine; {} filters; `make bench-serve` writes this page. CPU is user \
             and system time of the server process, with all its threads.\n\n{text}",
            Machine::look(1, rounds).lines()[..2].join("\n"),
            filters + 1
        );
        fs::write(path, page).expect("the page is written");
    }
}
