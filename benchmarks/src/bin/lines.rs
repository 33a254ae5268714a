//! The command line over ten million URLs, beside the programs that people use for it: all in turns, on the same file.
//!
//! `lines [--quick] [--peers FOLDER] [--markdown FILE]`: `mayhap` is taken from the main build (`cargo build --release`), huniq and
//! runiq from the folder, if they are there (`cargo install --root FOLDER huniq runiq`).

use mayhap_benchmarks::machine::Machine;
use std::collections::HashSet;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;
use wait4::Wait4;

const ROUNDS: usize = 5;
const LINES: u64 = 10_000_000;
const QUICK: u64 = 100_000;

struct Job {
    name: &'static str,
    program: PathBuf,
    arguments: Vec<String>,
    /// Whether all different lines must come out.
    is_exact: bool,
    runs: Vec<Run>,
}

#[derive(Clone, Copy)]
struct Run {
    seconds: f64,
    cpu_seconds: f64,
    peak_bytes: f64,
    lines: u64,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value = |flag: &str| {
        let at = arguments.iter().position(|argument| argument == flag)?;
        arguments.get(at + 1).cloned()
    };
    // In a process of its own: what this one takes would count as memory of the programs that it starts.
    if let [flag, path, lines] = arguments.as_slice()
        && flag == "--write"
    {
        let lines = lines.parse().expect("a number of lines");
        println!("{}", write_urls(Path::new(path), lines));
        return;
    }
    let is_quick = arguments.iter().any(|argument| argument == "--quick");
    let (lines, rounds) = if is_quick {
        (QUICK, 1)
    } else {
        (LINES, ROUNDS)
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folder = root.join("target/lines");
    fs::create_dir_all(&folder).expect("a folder for the lines");
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let mayhap = target.join("release/mayhap");
    assert!(mayhap.exists(), "build mayhap first: cargo build --release");
    let peers = value("--peers").map_or_else(|| root.join("target/peers/bin"), PathBuf::from);

    let urls = folder.join(format!("urls-{lines}.txt"));
    let written = Command::new(std::env::current_exe().expect("a path"))
        .args([
            "--write".as_ref(),
            urls.as_os_str(),
            lines.to_string().as_ref(),
        ])
        .output()
        .expect("this program starts");
    let different = String::from_utf8_lossy(&written.stdout);
    let different: u64 = different.trim().parse().expect("a number of lines");
    let bytes = fs::metadata(&urls).expect("the file").len();
    let filter = folder.join("filter.mayhap");
    let path = |path: &Path| path.to_str().expect("a path of letters").to_owned();
    let (urls, filter) = (path(&urls), path(&filter));
    let job = |name, program: &Path, words: &str, is_exact| Job {
        name,
        program: program.to_path_buf(),
        arguments: words
            .split_whitespace()
            .map(|word| word.replace("URLS", &urls).replace("FILTER", &filter))
            .collect(),
        is_exact,
        runs: Vec::new(),
    };
    let capacity = lines / 2;
    let mut jobs = vec![
        job("cat", Path::new("cat"), "URLS", false),
        job(
            "mayhap uniq --capacity",
            &mayhap,
            &format!("uniq -q --fpr 1e-4 --capacity {capacity} URLS"),
            false,
        ),
        job(
            "mayhap uniq, growing",
            &mayhap,
            "uniq -q --fpr 1e-4 URLS",
            false,
        ),
        job(
            "mayhap uniq, one in a million",
            &mayhap,
            "uniq -q URLS",
            false,
        ),
        job(
            "mayhap uniq, one in a million, -j1",
            &mayhap,
            "uniq -q -j1 URLS",
            false,
        ),
        job(
            "mayhap build --capacity",
            &mayhap,
            &format!("build --capacity {capacity} -o FILTER URLS"),
            false,
        ),
        job(
            "mayhap build --capacity -j1",
            &mayhap,
            &format!("build -j1 --capacity {capacity} -o FILTER URLS"),
            false,
        ),
        job(
            "mayhap check, none printed, -j1",
            &mayhap,
            "check -j1 -v FILTER URLS",
            false,
        ),
        job(
            "mayhap check, all printed, -j1",
            &mayhap,
            "check -j1 FILTER URLS",
            false,
        ),
        job(
            "mayhap check, all printed",
            &mayhap,
            "check FILTER URLS",
            false,
        ),
    ];
    for (name, program, words) in [
        ("huniq", "huniq", ""),
        ("runiq quick", "runiq", "-f quick URLS"),
        ("runiq compact", "runiq", "-f compact URLS"),
    ] {
        if peers.join(program).exists() {
            jobs.push(job(name, &peers.join(program), words, name == "huniq"));
        }
    }
    for _ in 0..rounds {
        for job in &mut jobs {
            job.runs.push(run(job, &folder, &urls));
        }
    }
    for job in &jobs {
        let printed = job.runs[0].lines;
        if job.name.contains("uniq") {
            assert!(printed <= different, "{} prints a line twice", job.name);
            assert!(
                printed as f64 >= 0.999 * different as f64,
                "{} drops lines",
                job.name
            );
            assert!(!job.is_exact || printed == different, "{}", job.name);
        }
    }
    let report = report(&jobs, lines, different, bytes);
    print!("{report}");
    if let Some(path) = value("--markdown") {
        fs::write(path, report).expect("a file for the report");
    }
}

/// Lines of 57 bytes or so, of which half came before, far away or near; how many are different.
fn write_urls(path: &Path, lines: u64) -> u64 {
    let mut different = HashSet::new();
    let mut state = 1_u64;
    let mut random = move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ state >> 31).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed ^ mixed >> 29
    };
    let mut out = BufWriter::new(File::create(path).expect("a file for the lines"));
    for _ in 0..lines {
        let number = random() % (lines * 60 / 100);
        different.insert(number);
        let site = number.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 48;
        writeln!(
            out,
            "https://www.site-{site:05}.example/articles/{number:08}/index.html"
        )
        .expect("room");
    }
    out.flush().expect("room");
    different.len() as u64
}

fn run(job: &Job, folder: &Path, urls: &str) -> Run {
    let output = folder.join("out.txt");
    let started = Instant::now();
    let mut child = Command::new(&job.program)
        .args(&job.arguments)
        .stdin(File::open(urls).map_or(Stdio::null(), Stdio::from))
        .stdout(File::create(&output).expect("a file"))
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    let used = child.wait4().expect("the program ends");
    let seconds = started.elapsed().as_secs_f64();
    assert!(
        used.status.code().is_some_and(|code| code < 2),
        "{}",
        job.name
    );
    let lines = count_lines(&output);
    Run {
        seconds,
        cpu_seconds: (used.rusage.utime + used.rusage.stime).as_secs_f64(),
        peak_bytes: used.rusage.maxrss as f64,
        lines,
    }
}

fn count_lines(path: &Path) -> u64 {
    let mut file = File::open(path).expect("what it printed");
    let (mut lines, mut bytes) = (0, vec![0; 1 << 20]);
    loop {
        match file.read(&mut bytes).expect("a file that can be read") {
            0 => return lines,
            read => lines += bytes[..read].iter().filter(|&&byte| byte == b'\n').count() as u64,
        }
    }
}

/// Other programs only add time, so the minimum is closest to the program's own.
fn minimum(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(f64::INFINITY, f64::min)
}

fn report(jobs: &[Job], lines: u64, different: u64, bytes: u64) -> String {
    let machine = Machine::look(1, jobs[0].runs.len());
    let mut text = format!(
        "# The command line over {lines} URLs\n\n{} MB, {different} different lines; {}, {}, {}. Programs take turns, minimum of {} rounds; \
         output to a file on disk.\n\n| | seconds | CPU seconds | GB/s | memory, MB | CPU / cat |\n|---|--:|--:|--:|--:|--:|\n",
        bytes / 1_000_000,
        machine.date,
        machine.cpu,
        machine.rustc,
        jobs[0].runs.len(),
    );
    let figure = |job: &Job, of: fn(&Run) -> f64| minimum(job.runs.iter().map(of));
    let cat = figure(&jobs[0], |run| run.cpu_seconds);
    for job in jobs {
        let seconds = figure(job, |run| run.seconds);
        let cpu = figure(job, |run| run.cpu_seconds);
        let _ = writeln!(
            text,
            "| {} | {seconds:.2} | {cpu:.2} | {:.2} | {:.0} | {:.1} |",
            job.name,
            bytes as f64 / seconds / 1e9,
            figure(job, |run| run.peak_bytes) / 1e6,
            cpu / cat,
        );
    }
    let by_name = |name: &str| jobs.iter().find(|job| job.name == name);
    text.push_str("\n| ratio of minimums | wall time | memory |\n|---|--:|--:|\n");
    for ours in ["mayhap uniq --capacity", "mayhap uniq, growing"] {
        for theirs in ["huniq", "runiq quick", "runiq compact"] {
            if let (Some(ours), Some(theirs)) = (by_name(ours), by_name(theirs)) {
                let time = figure(theirs, |run| run.seconds) / figure(ours, |run| run.seconds);
                let memory =
                    figure(ours, |run| run.peak_bytes) / figure(theirs, |run| run.peak_bytes);
                let _ = writeln!(
                    text,
                    "| {} v {} | {time:.1}x faster | {memory:.2} of its memory |",
                    ours.name, theirs.name
                );
            }
        }
    }
    text
}
