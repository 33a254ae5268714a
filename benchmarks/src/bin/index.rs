//! `mayhap which` over an index of ten thousand files with a hundred thousand keys each.
//!
//! `index [--quick] [--markdown FILE]`: `mayhap` is taken from the main build (`cargo build --release`). The filters are built from generated
//! keys; the files exist and are empty, so that `which` finds all of them unchanged. Every answer is checked.

use mayhap::{KeyType, Ribbon};
use mayhap_benchmarks::machine::Machine;
use mayhap_codec::index::{
    Directory, Index, IndexFilter, IndexWriter, IndexedFile, KeyForm, Root, SCHEME, StoredPath,
};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::{Instant, UNIX_EPOCH};

const RATE: f64 = 0.001;
const BATCH_KEYS: u64 = 1000;
const ROUNDS: usize = 31;

struct Size {
    files: u64,
    keys: u64,
}

impl Size {
    /// Key `number` of a file: no two files have a key in common.
    fn key(&self, file: u64, number: u64) -> u64 {
        (file * self.keys + number).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    /// A key of no file.
    fn absent(&self, number: u64) -> u64 {
        self.key(self.files, number)
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let is_quick = arguments.iter().any(|argument| argument == "--quick");
    let page = arguments
        .iter()
        .position(|argument| argument == "--markdown");
    let page = page.and_then(|at| arguments.get(at + 1));
    let size = if is_quick {
        Size {
            files: 200,
            keys: 2000,
        }
    } else {
        Size {
            files: 10_000,
            keys: 100_000,
        }
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let mayhap = target.join("release/mayhap");
    assert!(mayhap.exists(), "build mayhap first: cargo build --release");
    let folder = target.join("index-benchmark");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("data")).expect("a folder");
    let path = folder.join("files.idx");

    let started = Instant::now();
    let unpadded = build(&size, &folder, &path);
    let build_seconds = started.elapsed().as_secs_f64();
    let keys = size.files * size.keys;
    let file_bytes = fs::metadata(&path).expect("the index").len();
    let bits_per_key = 8.0 * file_bytes as f64 / keys as f64;

    let which = |arguments: &[String], input: &str| run(&mayhap, &path, arguments, input);
    // One key, warm: the first rounds bring the files into the page cache.
    let mut single = Vec::new();
    for round in 0..ROUNDS + 3 {
        let file = round as u64 * 7919 % size.files;
        let key = size.key(file, round as u64).to_string();
        let (output, seconds) = which(&[key], "");
        let name = format!("data/{}", name(file));
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            printed.lines().any(|line| line.ends_with(&name)),
            "{name} is missed: {printed}"
        );
        assert!(
            output.stderr.is_empty(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        if round >= 3 {
            single.push(1e3 * seconds);
        }
    }
    single.sort_by(f64::total_cmp);

    // Batches of keys that are in one file each, and of keys that are in none.
    let present: Vec<(u64, u64)> = (0..BATCH_KEYS)
        .map(|number| {
            let file = number * 104_729 % size.files;
            (file, size.key(file, number * 31 % size.keys))
        })
        .collect();
    let lines: String = present.iter().map(|(_, key)| format!("{key}\n")).collect();
    let absent: String = (0..BATCH_KEYS)
        .map(|number| format!("{}\n", size.absent(number)))
        .collect();
    let pairs = (BATCH_KEYS * size.files) as f64;
    let (mut present_ns, mut absent_ns, mut false_positives) = (Vec::new(), Vec::new(), 0);
    for _ in 0..5 {
        let (output, seconds) = which(&["-".to_owned()], &lines);
        present_ns.push(1e9 * seconds / pairs);
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut printed = printed.lines();
        for (file, key) in &present {
            let line = printed.next().unwrap_or_default();
            let is_found = line.starts_with(&format!("{key}\t"))
                && line.split('\t').any(|found| found.ends_with(&name(*file)));
            assert!(is_found, "{key} is missed: {line}");
        }
        let (output, seconds) = which(&["-".to_owned()], &absent);
        absent_ns.push(1e9 * seconds / pairs);
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        false_positives = printed.matches("\t").count();
    }
    let skipped = 1.0 - false_positives as f64 / pairs;
    let least = |values: &[f64]| values.iter().copied().fold(f64::INFINITY, f64::min);
    let rows = [
        (
            "size of the index, bits per key",
            format!("{bits_per_key:.2}"),
            "10.4",
            bits_per_key <= 10.4,
        ),
        (
            "`which` for one key, median of 31, ms",
            format!("{:.1}", single[ROUNDS / 2]),
            "25",
            single[ROUNDS / 2] <= 25.0,
        ),
        (
            "`which` for one key, least, ms",
            format!("{:.1}", single[0]),
            "",
            true,
        ),
        (
            "1,000 keys of the files, ns per file and key",
            format!("{:.1}", least(&present_ns)),
            "50",
            least(&present_ns) <= 50.0,
        ),
        (
            "1,000 other keys, ns per file and key",
            format!("{:.1}", least(&absent_ns)),
            "50",
            least(&absent_ns) <= 50.0,
        ),
        (
            "files skipped for other keys",
            format!("{:.3} %", 100.0 * skipped),
            "99.8 %, at least",
            skipped >= 0.998,
        ),
        ("files missed", "0".to_owned(), "0", true),
    ];
    let mut table = String::from("| what | measured | target |\n| --- | --- | --- |\n");
    for (what, measured, bound, is_met) in &rows {
        let is_met = if *is_met || is_quick { "" } else { " (missed)" };
        table += &format!("| {what} | {measured} | {bound}{is_met} |\n");
    }
    let described = format!(
        "{} files of {} keys at 0.1 %: {keys} keys in {:.0} MB, of which the filters take {:.2} bits per key. Built in {build_seconds:.0} s.",
        size.files,
        size.keys,
        file_bytes as f64 / 1e6,
        8.0 * unpadded as f64 / keys as f64
    );
    println!("{described}\n\n{table}");
    if !is_quick {
        assert!(
            skipped >= 0.998 && bits_per_key <= 10.4,
            "a target that does not depend on the machine is missed"
        );
    }
    if let Some(page) = page {
        let machine = Machine::look(1, ROUNDS).lines();
        let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
        let load = load.split(' ').next().unwrap_or("unknown").to_owned();
        let text = format!(
            "# The index of files\n\n`make bench-index` writes this page. {described}\n\n{table}\n\
             Times are wall-clock times of the whole program, with its start, the check of every file's size and time, and the search for new \
             files. The page cache is warm. The batch is the least of five runs; it includes the verification of every filter.\n\n\
             Machine: {}; load {load}.\n",
            machine.join("; ")
        );
        fs::write(page, text).expect("the page can be written");
    }
    let _ = fs::remove_dir_all(&folder);
}

fn name(file: u64) -> String {
    format!("f{file:05}.txt")
}

/// Writes the index, and returns the bytes of its filters.
fn build(size: &Size, folder: &Path, path: &Path) -> u64 {
    let mut directory = Directory {
        settings: br#"{"column":null,"fpr":0.001,"kind":"ribbon","granularity":"file","key_type":"u64","delimiter":null,"header":false}"#.to_vec(),
        roots: vec![Root {
            path: StoredPath {
                is_relative: true,
                bytes: b"data".to_vec(),
            },
            is_folder: true,
        }],
        files: Vec::new(),
    };
    let index = File::create(path).expect("the index");
    let mut writer = IndexWriter::create(&index).expect("the index");
    let next = AtomicU64::new(0);
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let (send, built) = sync_channel(threads);
        for _ in 0..threads {
            let (send, next) = (send.clone(), &next);
            scope.spawn(move || {
                loop {
                    let file = next.fetch_add(1, Ordering::Relaxed);
                    if file >= size.files {
                        return;
                    }
                    let hashes: Vec<_> = (0..size.keys)
                        .map(|number| SCHEME.hash(size.key(file, number).to_le_bytes().as_slice()))
                        .collect();
                    let filter = Ribbon::build_with(&hashes, RATE, SCHEME).expect("a filter");
                    send.send((file, filter)).expect("the writer waits");
                }
            });
        }
        drop(send);
        for (file, filter) in built {
            let empty = folder.join("data").join(name(file));
            let created = File::create(&empty).and_then(|file| file.metadata());
            let modified = created.and_then(|found| found.modified()).expect("a file");
            let since = modified.duration_since(UNIX_EPOCH).expect("after 1970");
            let filter = IndexFilter::Ribbon(&filter);
            let entry = writer.append(&filter, None, KeyForm::Text, KeyType::U64);
            directory.files.push(IndexedFile {
                path: StoredPath {
                    is_relative: true,
                    bytes: format!("data/{}", name(file)).into_bytes(),
                },
                size: 0,
                modified_ns: i64::try_from(since.as_nanos()).expect("before 2262"),
                column: Vec::new(),
                is_covered: true,
                filters: vec![entry.expect("a filter is written")],
            });
        }
    });
    directory.files.sort_by(|a, b| a.path.cmp(&b.path));
    writer.commit(&directory).expect("the index");
    let index = Index::open(path).expect("the index");
    index
        .directory()
        .filters()
        .map(|filter| filter.size_bytes())
        .sum()
}

fn run(mayhap: &Path, index: &Path, arguments: &[String], input: &str) -> (Output, f64) {
    let started = Instant::now();
    let mut child = Command::new(mayhap)
        .arg("which")
        .arg(index)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("mayhap starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(input.as_bytes()).expect("it reads");
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    (output, started.elapsed().as_secs_f64())
}
