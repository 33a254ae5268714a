//! Pages over HTTP/1.1, for Prometheus and for who asks whether the server is well. One page a connection, GET and HEAD only.
//!
//! Each connection has a thread of its own for at most ten seconds, and there are at most so many: simple, and slow clients hold
//! nobody up for longer than that. Requests for filters never come this way.

mod answer;

use super::listeners::Listeners;
use answer::{COME_AGAIN, answer};
use mio::Waker;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Connections at a time; others are told to come again.
const MAX_CLIENTS: usize = 64;
/// Requests for one page that are answered at a time: a page may look at every filter. Other pages go on, so that who asks whether the
/// server is well hears it.
const MAX_CONCURRENT_RENDERS: usize = 2;
/// Bytes before the empty line.
const MAX_HEAD: usize = 8 << 10;
/// From the first byte to the last.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// What is at a path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HttpPage {
    /// 200, or 503 when the server is not well.
    pub status: u16,
    /// Such as `text/plain; charset=utf-8`.
    pub content_type: &'static str,
    /// The page itself.
    pub body: Vec<u8>,
}

/// Finds the page of a path, which begins with `/` and has no query.
pub type Pages = dyn Fn(&str) -> Option<HttpPage> + Send + Sync;

/// A server of pages. Dropped, it goes on.
pub struct PageServer {
    /// Where it listens, with the port that was found.
    pub address: SocketAddr,
    is_stopping: Arc<AtomicBool>,
    waker: Waker,
    thread: JoinHandle<()>,
}

impl PageServer {
    /// Accepts no more. Whoever is being served has its ten seconds.
    pub fn stop(self) {
        self.is_stopping.store(true, Ordering::Release);
        let _ = self.waker.wake();
        let _ = self.thread.join();
    }
}

/// Listens, and serves pages from now on.
///
/// # Errors
/// When the address cannot be listened at, which the error names.
pub fn serve_pages(address: SocketAddr, pages: Arc<Pages>) -> io::Result<PageServer> {
    let listeners = Listeners::new(std::iter::once(address))?;
    let address = listeners.addresses()?.first().copied().unwrap_or(address);
    let waker = listeners.waker()?;
    let is_stopping = Arc::new(AtomicBool::new(false));
    let is_told = Arc::clone(&is_stopping);
    let clients = Arc::new(AtomicUsize::new(0));
    let paths = Arc::new(Paths::default());
    let thread = thread::Builder::new().name("pages".to_owned());
    let thread = thread.spawn(move || {
        let end = listeners.run(
            || is_told.load(Ordering::Acquire),
            |_, mut stream, _| {
                if clients.load(Ordering::Relaxed) >= MAX_CLIENTS {
                    let _ = stream.write(COME_AGAIN);
                    return;
                }
                let client = HttpClient::new(TcpStream::from(stream), &clients);
                let (pages, paths) = (Arc::clone(&pages), Arc::clone(&paths));
                let name = "page".to_owned();
                let thread = thread::Builder::new().name(name);
                // Where there is no room for a thread, the client is gone with it.
                if let Err(error) =
                    thread.spawn(move || client.serve(&move |path: &str| paths.page(path, &*pages)))
                {
                    crate::report(&format!(
                        "serving a page: {error}; the client was sent away"
                    ));
                }
            },
        );
        if let Err(error) = end {
            crate::report(&format!(
                "waiting for HTTP: {error}; there are no pages any more"
            ));
        }
    })?;
    Ok(PageServer {
        address,
        is_stopping,
        waker,
        thread,
    })
}

/// Paths whose pages are being made.
#[derive(Default)]
struct Paths(Mutex<Vec<String>>);

/// Takes a path back, also when its page panics.
struct PageSlot<'p>(&'p Paths, &'p str);

impl Drop for PageSlot<'_> {
    fn drop(&mut self) {
        let mut paths = self.0.lock();
        if let Some(at) = paths.iter().position(|path| path == self.1) {
            paths.swap_remove(at);
        }
    }
}

impl Paths {
    fn lock(&self) -> MutexGuard<'_, Vec<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn page(&self, path: &str, pages: &Pages) -> Option<HttpPage> {
        let mut paths = self.lock();
        if paths.iter().filter(|making| *making == path).count() >= MAX_CONCURRENT_RENDERS {
            return Some(answer::plain(
                503,
                "this page is being made for others: ask again in a second\n",
            ));
        }
        paths.push(path.to_owned());
        drop(paths);
        let _making = PageSlot(self, path);
        pages(path)
    }
}

struct HttpClient {
    stream: TcpStream,
    clients: Arc<AtomicUsize>,
    deadline: Instant,
}

impl Drop for HttpClient {
    fn drop(&mut self) {
        self.clients.fetch_sub(1, Ordering::Relaxed);
    }
}

impl HttpClient {
    fn new(stream: TcpStream, clients: &Arc<AtomicUsize>) -> Self {
        clients.fetch_add(1, Ordering::Relaxed);
        Self {
            stream,
            clients: Arc::clone(clients),
            deadline: Instant::now() + REQUEST_TIMEOUT,
        }
    }

    /// There is nobody to tell when it fails.
    fn serve(mut self, pages: &Pages) {
        let _ = self.try_serve(pages);
    }

    fn try_serve(&mut self, pages: &Pages) -> io::Result<()> {
        self.stream.set_nonblocking(false)?;
        let head = self.head()?;
        let answer = answer(&head, pages);
        self.send(&answer)?;
        self.stream.shutdown(Shutdown::Write)?;
        // A socket that is closed with bytes unread may take the answer with it.
        let mut rest = [0; 1024];
        for _ in 0..64 {
            if self.read(&mut rest)? == 0 {
                break;
            }
        }
        Ok(())
    }

    fn time_left(&self) -> io::Result<Duration> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        Ok(left)
    }

    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.time_left()?;
        self.stream.set_read_timeout(Some(left))?;
        self.stream.read(buffer)
    }

    /// What comes before the empty line; or as much as there is when that does not come.
    fn head(&mut self) -> io::Result<Vec<u8>> {
        let mut head = Vec::new();
        let mut buffer = [0; 1024];
        while head.len() < MAX_HEAD {
            let count = self.read(&mut buffer)?;
            head.extend_from_slice(buffer.get(..count).unwrap_or_default());
            let new = head.len().saturating_sub(count + 3);
            let new = head.get(new..).unwrap_or_default();
            let ends = |end: &[u8]| new.windows(end.len()).any(|bytes| bytes == end);
            if count == 0 || ends(b"\r\n\r\n") || ends(b"\n\n") {
                break;
            }
        }
        Ok(head)
    }

    fn send(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let left = self.time_left()?;
            self.stream.set_write_timeout(Some(left))?;
            let count = self.stream.write(bytes)?;
            bytes = bytes.get(count..).unwrap_or_default();
        }
        Ok(())
    }
}
