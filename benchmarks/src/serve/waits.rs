//! How long clients wait while another one does something at length.

use super::host::Host;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// What was measured during one command.
pub struct Waits {
    /// How long it took.
    pub seconds: f64,
    /// The longest wait of a client that asks a small filter.
    pub small_ms: f64,
    /// The longest wait of a client that asks the large one.
    pub large_ms: f64,
    /// The most memory there was, beyond what there was before.
    pub extra_mib: f64,
}

/// Between two requests of a client.
const PAUSE: Duration = Duration::from_micros(500);

struct Client(BufReader<TcpStream>);

impl Client {
    fn to(host: &Host) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", host.port())).expect("the server listens");
        stream.set_nodelay(true).expect("a socket");
        Self(BufReader::new(stream))
    }

    fn ask(&mut self, line: &str) -> String {
        let stream = self.0.get_mut();
        stream
            .write_all(format!("{line}\r\n").as_bytes())
            .expect("sent");
        self.reply()
    }

    /// The first line of a reply, all of which is read; the text of a bulk string.
    fn reply(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).expect("a reply");
        assert!(!line.is_empty(), "the server closed the connection");
        let count: i64 = line[1..].trim().parse().unwrap_or(0);
        match line.as_bytes()[0] {
            b'$' if count >= 0 => {
                let mut bytes = vec![0; count as usize + 2];
                self.0.read_exact(&mut bytes).expect("a bulk string");
                return String::from_utf8_lossy(&bytes).into_owned();
            }
            b'*' => (0..count).for_each(|_| drop(self.reply())),
            _ => {}
        }
        line.trim().to_owned()
    }
}

impl Host {
    /// Does this while three clients go on, and tells the longest waits. The key `small` and the key `big` must be there.
    pub fn waits(&self, lines: &[&str]) -> Waits {
        let (small, large) = (AtomicU64::new(0), AtomicU64::new(0));
        let is_over = AtomicBool::new(false);
        let ask = |key: &'static str, longest: &AtomicU64| {
            let mut client = Client::to(self);
            while !is_over.load(Ordering::Relaxed) {
                let began = Instant::now();
                client.ask(&format!("BF.EXISTS {key} x"));
                longest.fetch_max(began.elapsed().as_nanos() as u64, Ordering::Relaxed);
                thread::sleep(PAUSE);
            }
        };
        thread::scope(|scope| {
            let (ask, small_wait, large_wait) = (&ask, &small, &large);
            scope.spawn(move || ask("small", small_wait));
            scope.spawn(move || ask("big", large_wait));
            scope.spawn(|| {
                let mut client = Client::to(self);
                while !is_over.load(Ordering::Relaxed) {
                    for line in ["MULTI", "BF.ADD small y", "BF.EXISTS small x", "EXEC"] {
                        client.ask(line);
                    }
                    thread::sleep(PAUSE);
                }
            });
            thread::sleep(Duration::from_millis(200));
            let before = self.reset_peak();
            small.store(0, Ordering::Relaxed);
            large.store(0, Ordering::Relaxed);
            let began = Instant::now();
            let mut client = Client::to(self);
            for line in lines {
                if *line == "nothing" {
                    thread::sleep(Duration::from_secs(1));
                    continue;
                }
                let reply = client.ask(line);
                assert!(!reply.starts_with('-'), "{line}: {reply}");
            }
            while lines.contains(&"BGSAVE")
                && client
                    .ask("INFO persistence")
                    .contains("rdb_bgsave_in_progress:1")
            {
                thread::sleep(Duration::from_millis(20));
            }
            let seconds = began.elapsed().as_secs_f64();
            let peak = self.peak_bytes();
            // Who waited to the end is told soon after it.
            thread::sleep(Duration::from_millis(50));
            let milliseconds = |longest: &AtomicU64| longest.load(Ordering::Relaxed) as f64 / 1e6;
            let waits = Waits {
                seconds,
                small_ms: milliseconds(&small),
                large_ms: milliseconds(&large),
                extra_mib: (peak - before).max(0.0) / f64::from(1 << 20),
            };
            is_over.store(true, Ordering::Relaxed);
            waits
        })
    }
}
