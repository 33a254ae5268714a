//! What the figures were measured with: date, compiler, CPU, caches, kernel, versions of the peers.

use serde::{Deserialize, Serialize};
use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

#[derive(Serialize, Deserialize)]
pub struct Machine {
    pub date: String,
    pub rustc: String,
    pub cpu: String,
    pub cores: usize,
    /// Which of AVX2 and AVX-512 the CPU has.
    pub flags: Vec<String>,
    pub caches: Vec<String>,
    pub kernel: String,
    pub peers: Vec<String>,
    pub children: usize,
    pub rounds: usize,
}

impl Machine {
    pub fn look(children: usize, rounds: usize) -> Self {
        let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let field = |name: &str| {
            let line = cpuinfo.lines().find(|line| line.starts_with(name))?;
            Some(line.split_once(':')?.1.trim().to_owned())
        };
        let flags = field("flags").unwrap_or_default();
        let flags = flags
            .split(' ')
            .filter(|flag| ["avx2", "avx512f", "avx512bw"].contains(flag));
        Self {
            date: date(),
            rustc: env!("RUSTC_VERSION").to_owned(),
            cpu: field("model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            flags: flags.map(str::to_owned).collect(),
            caches: caches(),
            kernel: mayhap::Kernel::best().to_string(),
            peers: peers(),
            children,
            rounds,
        }
    }

    /// The same for people, a line each.
    pub fn lines(&self) -> Vec<String> {
        let or_unknown = |list: &[String]| match list {
            [] => "unknown".to_owned(),
            list => list.join(", "),
        };
        vec![
            format!("{}, {}", self.date, self.rustc),
            format!(
                "{}, {} cores, {}; caches: {}",
                self.cpu,
                self.cores,
                or_unknown(&self.flags),
                or_unknown(&self.caches)
            ),
            format!("mayhap's kernel: {}", self.kernel),
            format!("peers: {}", or_unknown(&self.peers)),
            format!(
                "processes: {}, one after the other; rounds in each: {} or more, in which the contenders take turns (2 for \
                 inserts of 100M keys); the least time counts. Ratios are formed inside a process; shown is the median \
                 over the processes, with the lowest and the highest",
                self.children, self.rounds
            ),
            "CPU time of the thread; wall time where two threads insert".to_owned(),
            "all but the first four are built once a process, which is the time shown for their inserts"
                .to_owned(),
        ]
    }
}

/// Today (UTC), from the days since 1970 by counting years and months.
fn date() -> String {
    let seconds = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    civil(seconds / 86_400)
}

fn civil(mut days: u64) -> String {
    let leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let mut year = 1970;
    while days >= 365 + u64::from(leap(year)) {
        days -= 365 + u64::from(leap(year));
        year += 1;
    }
    let february = 28 + u64::from(leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    format!("{year}-{month:02}-{:02}", days + 1)
}

fn caches() -> Vec<String> {
    let describe = |index: usize| {
        let folder = format!("/sys/devices/system/cpu/cpu0/cache/index{index}");
        let read = |file: &str| {
            Some(
                fs::read_to_string(format!("{folder}/{file}"))
                    .ok()?
                    .trim()
                    .to_owned(),
            )
        };
        (read("type")? != "Instruction").then_some(())?;
        Some(format!("L{} {}", read("level")?, read("size")?))
    };
    (0..8).filter_map(describe).collect()
}

/// Names and versions out of the lock file that this program was built with.
fn peers() -> Vec<String> {
    let lock = include_str!("../Cargo.lock");
    let version = |name: &str| {
        let package = lock.split("[[package]]").find(|package| {
            package
                .lines()
                .any(|line| line == format!("name = \"{name}\""))
        })?;
        let version = package
            .lines()
            .find_map(|line| line.strip_prefix("version = "))?;
        Some(format!("{name} {}", version.trim_matches('"')))
    };
    [
        "fastbloom",
        "sbbf-rs-safe",
        "xorf",
        "cuckoofilter",
        "qfilter",
        "growable-bloom-filter",
        "scalable_cuckoo_filter",
    ]
    .into_iter()
    .filter_map(version)
    .collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn days_become_dates() {
        let cases = [
            (0, "1970-01-01"),
            (59, "1970-03-01"),
            (11_016, "2000-02-29"),
            (11_322, "2000-12-31"),
            (20_513, "2026-03-01"),
        ];
        for (days, date) in cases {
            assert_eq!(super::civil(days), date);
        }
    }

    #[test]
    fn every_peer_has_a_version() {
        assert_eq!(super::peers().len(), 5);
    }
}
