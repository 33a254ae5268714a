//! redis-benchmark with a command, and what the server spent on it.

use super::Host;
use std::process::Command;

/// A command that is sent many times.
pub struct Load {
    words: Vec<String>,
    depth: u32,
    requests: u64,
    keys: u64,
}

/// What a run took.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// Of the server, for a request.
    pub cpu_microseconds: f64,
    /// As the client saw it.
    pub requests_per_second: f64,
    /// The same.
    pub p99_milliseconds: f64,
}

impl Load {
    /// `line` is the command, with `__rand_int__` where a number below `keys` goes.
    pub fn new(line: &str, depth: u32, requests: u64, keys: u64) -> Self {
        Self {
            words: line.split(' ').map(str::to_owned).collect(),
            depth,
            requests: requests.max(1000),
            keys,
        }
    }

    /// Sends it, from fifty connections.
    pub fn run(&self, host: &Host) -> Measured {
        let before = host.cpu_seconds();
        let output = Command::new("redis-benchmark")
            .args(["-p", &host.port().to_string(), "-c", "50", "--csv"])
            .args([
                "-P",
                &self.depth.to_string(),
                "-n",
                &self.requests.to_string(),
            ])
            .args(["-r", &self.keys.to_string()])
            .args(&self.words)
            .output()
            .expect("redis-benchmark runs");
        let cpu = host.cpu_seconds() - before;
        let text = String::from_utf8_lossy(&output.stdout);
        let line = text.lines().last().unwrap_or_default();
        // "name","rps","avg","min","p50","p95","p99","max"
        let fields: Vec<&str> = line
            .split("\",\"")
            .map(|field| field.trim_matches('"'))
            .collect();
        let number = |from_end: usize| -> f64 {
            let at = fields.len().checked_sub(from_end).expect("eight fields");
            fields[at].parse().unwrap_or_else(|_| panic!("{line}"))
        };
        Measured {
            cpu_microseconds: cpu * 1e6 / self.requests as f64,
            requests_per_second: number(7),
            p99_milliseconds: number(2),
        }
    }
}

/// The median of each figure.
pub fn median(runs: &[Measured]) -> Measured {
    let of = |figure: fn(&Measured) -> f64| {
        let mut figures: Vec<f64> = runs.iter().map(figure).collect();
        figures.sort_by(f64::total_cmp);
        figures[figures.len() / 2]
    };
    Measured {
        cpu_microseconds: of(|run| run.cpu_microseconds),
        requests_per_second: of(|run| run.requests_per_second),
        p99_milliseconds: of(|run| run.p99_milliseconds),
    }
}
