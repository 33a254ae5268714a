//! A server process and a connection to it.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Items of one BF.MADD.
const AT_ONCE: u64 = 1000;

/// A server that ends with this value, and its folder.
pub struct Host {
    process: Child,
    port: u16,
    page_port: Option<u16>,
    folder: PathBuf,
}

static CHOSEN: OnceLock<PathBuf> = OnceLock::new();

/// Which `mayhap` is started, if it is another than that of the main build. The first choice counts.
pub fn choose_mayhap(program: PathBuf) {
    let _ = CHOSEN.set(program);
}

/// Whether what this compares with is installed.
pub fn redis_is_there() -> bool {
    ["redis-server", "redis-benchmark"]
        .iter()
        .all(|program| Command::new(program).arg("--version").output().is_ok())
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port()
}

fn folder() -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let name = format!("mayhap-serve-{}-{number}", std::process::id());
    let path = std::env::temp_dir().join(name);
    fs::create_dir_all(&path).expect("a folder");
    path
}

/// What the main build has made.
fn built(name: &str, how: &str) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../target"),
        PathBuf::from,
    );
    let path = target.join("release").join(name);
    assert!(path.exists(), "build it first: {how}");
    path
}

impl Host {
    /// redis-server without snapshots, as fast as it can be.
    pub fn redis() -> Self {
        Self::redis_with(&[])
    }

    /// The same with the module, whose new filters have this layout.
    pub fn redis_with_module(layout: &str) -> Self {
        let module = built(
            "libmayhap_module.so",
            "cargo build --release -p mayhap-module",
        );
        let module = module.to_str().expect("a path");
        Self::redis_with(&["--loadmodule", module, "layout", layout])
    }

    fn redis_with(options: &[&str]) -> Self {
        let (port, folder) = (free_port(), folder());
        let mut command = Command::new("redis-server");
        command
            .args([
                "--port",
                &port.to_string(),
                "--save",
                "",
                "--appendonly",
                "no",
                "--dir",
            ])
            .arg(&folder)
            .args(options);
        Self::start(command, port, folder)
    }

    /// mayhap with so many threads.
    pub fn mayhap(layout: &str, fsync: &str, threads: u32) -> Self {
        Self::mayhap_with(layout, fsync, threads, None)
    }

    /// mayhap with one thread and a page.
    pub fn mayhap_with_page() -> Self {
        Self::mayhap_with("native", "no", 1, Some(free_port()))
    }

    fn mayhap_with(layout: &str, fsync: &str, threads: u32, page_port: Option<u16>) -> Self {
        let (port, folder) = (free_port(), folder());
        let ours = || built("mayhap", "cargo build --release");
        let mut command = Command::new(CHOSEN.get().cloned().unwrap_or_else(ours));
        command
            .args(["serve", "--port", &port.to_string(), "--layout", layout])
            .args(["--fsync", fsync, "--threads", &threads.to_string()])
            .args(["--max-clients", "20000", "--dir"])
            .arg(&folder);
        if let Some(page_port) = page_port {
            command.args(["--http", &format!("127.0.0.1:{page_port}")]);
        }
        let mut host = Self::start(command, port, folder);
        host.page_port = page_port;
        host
    }

    fn start(mut command: Command, port: u16, folder: PathBuf) -> Self {
        let process = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let host = Self {
            process: process.expect("the server starts"),
            port,
            page_port: None,
            folder,
        };
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            std::thread::sleep(Duration::from_millis(20));
        }
        host
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    pub(super) fn page_port(&self) -> Option<u16> {
        self.page_port
    }

    /// User and system time of all threads so far, to the nanosecond: ticks of 10 ms were 4 % of a run.
    pub(super) fn cpu_seconds(&self) -> f64 {
        let tasks = format!("/proc/{}/task", self.process.id());
        let tasks = fs::read_dir(tasks).expect("the process is there");
        let nanoseconds = tasks.flatten().map(|task| {
            let stat = fs::read_to_string(task.path().join("schedstat")).unwrap_or_default();
            let first = stat.split(' ').next().unwrap_or_default();
            first.parse::<f64>().unwrap_or(0.0)
        });
        nanoseconds.sum::<f64>() / 1e9
    }

    fn resident_bytes(&self) -> f64 {
        self.status("VmRSS:")
    }

    /// Bytes that it has now; the peak is counted from here on.
    pub(super) fn reset_peak(&self) -> f64 {
        let path = format!("/proc/{}/clear_refs", self.process.id());
        fs::write(path, "5").expect("the process is ours");
        self.resident_bytes()
    }

    /// The most bytes that it had.
    pub(super) fn peak_bytes(&self) -> f64 {
        self.status("VmHWM:")
    }

    fn status(&self, field: &str) -> f64 {
        let path = format!("/proc/{}/status", self.process.id());
        let status = fs::read_to_string(path).expect("the process is there");
        let line = status.lines().find_map(|line| line.strip_prefix(field));
        let kilobytes = line.expect("the field").trim().trim_end_matches(" kB");
        kilobytes.parse::<f64>().expect("a number") * 1024.0
    }

    fn connect(&self) -> TcpStream {
        TcpStream::connect(("127.0.0.1", self.port)).expect("the server listens")
    }

    /// Sends an inline command; the first line of the reply.
    pub fn ask(&self, line: &str) -> String {
        let mut stream = self.connect();
        stream
            .write_all(format!("{line}\r\n").as_bytes())
            .expect("sent");
        let mut reply = String::new();
        BufReader::new(stream)
            .read_line(&mut reply)
            .expect("a reply");
        assert!(!reply.starts_with('-'), "{line}: {reply}");
        reply.trim().to_owned()
    }

    /// The number in a reply of one field.
    pub fn ask_number(&self, line: &str) -> u64 {
        let mut stream = self.connect();
        stream
            .write_all(format!("{line}\r\nQUIT\r\n").as_bytes())
            .expect("sent");
        let mut reply = String::new();
        stream.read_to_string(&mut reply).expect("a reply");
        let number = reply.lines().find_map(|line| line.strip_prefix(':'));
        number.expect("a number").parse().expect("a number")
    }

    /// Sends all requests while it reads all replies, which begin with `kind` each; what comes after `kind` is summed up.
    fn pour(
        &self,
        requests: impl Iterator<Item = Vec<u8>> + Send,
        replies: u64,
        kind: char,
    ) -> u64 {
        let stream = self.connect();
        let mut writer = stream.try_clone().expect("a socket");
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let mut buffer = Vec::new();
                for request in requests {
                    buffer.extend_from_slice(&request);
                    if buffer.len() > 1 << 16 {
                        writer.write_all(&buffer).expect("sent");
                        buffer.clear();
                    }
                }
                writer.write_all(&buffer).expect("sent");
            });
            let mut reader = BufReader::with_capacity(1 << 16, stream);
            let (mut line, mut sum, mut seen) = (String::new(), 0, 0);
            while seen < replies {
                line.clear();
                reader.read_line(&mut line).expect("a reply");
                assert!(!line.starts_with('-') && !line.is_empty(), "{line}");
                if let Some(rest) = line.strip_prefix(kind) {
                    seen += 1;
                    sum += rest.trim().parse::<u64>().unwrap_or(0);
                }
            }
            sum
        })
    }

    /// So many strings, with the names that redis-benchmark asks for.
    pub fn fill_strings(&self, keys: u64) {
        let requests = (0..keys).map(|key| format!("SET key:{key:012} x\r\n").into_bytes());
        self.pour(requests, keys, '+');
    }

    /// A filter for so many items, with all of them in.
    pub fn fill_filter(&self, key: &str, keys: u64) {
        self.ask(&format!("BF.RESERVE {key} 0.01 {keys}"));
        self.add_items(key, keys);
    }

    /// So many items, in a filter that is made if it is missing.
    pub fn add_items(&self, key: &str, items: u64) {
        self.pour(many("BF.MADD", key, 0, items), items, ':');
    }

    /// How many of so many items behind the first `from` are found.
    pub fn count_found(&self, key: &str, from: u64, items: u64) -> u64 {
        self.pour(many("BF.MEXISTS", key, from, items), items, ':')
    }
}

fn many(command: &str, key: &str, from: u64, items: u64) -> impl Iterator<Item = Vec<u8>> + Send {
    let (command, key) = (command.to_owned(), key.to_owned());
    (0..items.div_ceil(AT_ONCE)).map(move |batch| {
        let first = batch * AT_ONCE;
        let last = (first + AT_ONCE).min(items);
        let mut request = format!("*{}\r\n", last - first + 2);
        for word in [&command, &key] {
            request += &format!("${}\r\n{word}\r\n", word.len());
        }
        for item in first..last {
            request += &format!("$16\r\nkey:{:012}\r\n", from + item);
        }
        request.into_bytes()
    })
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// What so many connections that do nothing add to a server's memory, in bytes.
pub fn idle(host: &Host, connections: usize) -> f64 {
    let before = host.resident_bytes();
    let mut open = Vec::new();
    for _ in 0..connections {
        match TcpStream::connect(("127.0.0.1", host.port)) {
            Ok(mut stream) => {
                stream.write_all(b"PING\r\n").expect("sent");
                let mut pong = [0; 7];
                stream.read_exact(&mut pong).expect("a reply");
                open.push(stream);
            }
            Err(error) => {
                println!("{} connections, then {error}", open.len());
                break;
            }
        }
    }
    (host.resident_bytes() - before).max(0.0)
}
