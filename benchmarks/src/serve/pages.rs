//! Open pages of the dashboard: each follows the events and asks for the table of filters, as the page does.

use super::Host;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How often a page asks for its table.
const TABLE_INTERVAL: Duration = Duration::from_secs(3);

/// Pages that are open until this is dropped.
pub struct OpenPages {
    is_closing: Arc<AtomicBool>,
    events: Arc<AtomicU64>,
    streams: Vec<TcpStream>,
    threads: Vec<JoinHandle<()>>,
}

fn request(port: u16, path: &str) -> TcpStream {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("the page listens");
    let head = format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n");
    stream.write_all(head.as_bytes()).expect("sent");
    stream
}

impl OpenPages {
    /// Opens so many pages of a server, and waits until each has had an event.
    pub fn open(host: &Host, pages: u64) -> Self {
        let port = host.page_port().expect("a server with a page");
        let is_closing = Arc::new(AtomicBool::new(false));
        let events = Arc::new(AtomicU64::new(0));
        let (mut streams, mut threads) = (Vec::new(), Vec::new());
        for _ in 0..pages {
            let stream = request(port, "/api/events");
            streams.push(stream.try_clone().expect("a socket"));
            let (seen, closing) = (Arc::clone(&events), Arc::clone(&is_closing));
            threads.push(thread::spawn(move || {
                for line in BufReader::new(stream).lines() {
                    match line {
                        Ok(line) if line.starts_with("data: ") => {
                            seen.fetch_add(1, Ordering::Relaxed);
                        }
                        Ok(_) => {}
                        Err(_) => break,
                    }
                }
                assert!(closing.load(Ordering::Relaxed), "a stream has ended");
            }));
            let closing = Arc::clone(&is_closing);
            threads.push(thread::spawn(move || ask_for_table(port, &closing)));
        }
        while events.load(Ordering::Relaxed) < pages {
            thread::sleep(Duration::from_millis(20));
        }
        Self {
            is_closing,
            events,
            streams,
            threads,
        }
    }

    /// The number of events so far.
    pub fn events(&self) -> u64 {
        self.events.load(Ordering::Relaxed)
    }
}

fn ask_for_table(port: u16, is_closing: &AtomicBool) {
    let mut next = Instant::now();
    while !is_closing.load(Ordering::Relaxed) {
        if Instant::now() >= next {
            next = Instant::now() + TABLE_INTERVAL;
            let mut answer = String::new();
            let mut stream = request(port, "/api/filters?per=25&sort=fill&order=desc");
            stream.read_to_string(&mut answer).expect("an answer");
            assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        }
        thread::sleep(Duration::from_millis(50));
    }
}

impl Drop for OpenPages {
    fn drop(&mut self) {
        self.is_closing.store(true, Ordering::Relaxed);
        for stream in &self.streams {
            let _ = stream.shutdown(Shutdown::Both);
        }
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}
