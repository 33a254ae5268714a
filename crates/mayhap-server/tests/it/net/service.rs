//! A service for tests, and a client for it.

use mayhap_server::net::{AfterReply, ClientHandle, ListenOptions, Running, Service, start};
use mayhap_server::resp::RequestLimits;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};

/// What a reply is before its round is settled.
const UNSETTLED: &[u8] = b"?";

#[derive(Default)]
pub(crate) struct Echo {
    pub(crate) clients: Mutex<Vec<ClientHandle>>,
    pub(crate) connected: AtomicUsize,
    pub(crate) disconnected: AtomicUsize,
    pub(crate) settled: AtomicUsize,
    /// What clients see while a round is being settled, by looking into their sockets: to be nothing.
    pub(crate) spied: Mutex<Option<TcpStream>>,
    pub(crate) seen_too_early: AtomicUsize,
    /// Refuses everybody.
    pub(crate) is_closed: AtomicBool,
    everybody: RequestLimits,
    /// Long requests that are being served, and whether they may come to their end.
    long: (Mutex<(usize, bool)>, Condvar),
    /// Whether what NEEDS needs is in use, and how often it was tried.
    pub(crate) is_busy: AtomicBool,
    pub(crate) tries: AtomicUsize,
}

impl Echo {
    pub(crate) fn wait_for_long(&self, count: usize) {
        let (state, bell) = &self.long;
        let state = state.lock().unwrap();
        drop(
            bell.wait_while(state, |(running, _)| *running < count)
                .unwrap(),
        );
    }

    pub(crate) fn release_long(&self) {
        let (state, bell) = &self.long;
        state.lock().unwrap().1 = true;
        bell.notify_all();
    }
}

pub(crate) struct Session {
    client: ClientHandle,
    served: usize,
    is_known: bool,
}

impl Service for Echo {
    type Session = Session;

    fn connect(&self, client: ClientHandle) -> Result<Session, Vec<u8>> {
        if self.is_closed.load(Ordering::SeqCst) {
            return Err(b"-ERR closed today\r\n".to_vec());
        }
        self.connected.fetch_add(1, Ordering::SeqCst);
        self.clients.lock().unwrap().push(client.clone());
        Ok(Session {
            client,
            served: 0,
            is_known: true,
        })
    }

    fn limits(&self, session: &Session) -> &RequestLimits {
        if session.is_known {
            &self.everybody
        } else {
            &RequestLimits::BEFORE_AUTH
        }
    }

    fn serve_offloaded(
        &self,
        session: &mut Session,
        words: &[&[u8]],
        out: &mut Vec<u8>,
    ) -> AfterReply {
        session.served += 1;
        let (state, bell) = &self.long;
        let mut state = state.lock().unwrap();
        state.0 += 1;
        bell.notify_all();
        let mut state = bell.wait_while(state, |(_, may_end)| !*may_end).unwrap();
        state.0 -= 1;
        out.extend_from_slice(b"+long\r\n");
        match words {
            [_, b"SHUTDOWN"] => AfterReply::ShutDown,
            _ => AfterReply::GoOn,
        }
    }

    fn serve(&self, session: &mut Session, words: &[&[u8]], out: &mut Vec<u8>) -> AfterReply {
        match words {
            [b"LONG", ..] => return AfterReply::Offload,
            [b"NEEDS"] if self.is_busy.load(Ordering::SeqCst) => {
                self.tries.fetch_add(1, Ordering::SeqCst);
                return AfterReply::Retry;
            }
            _ => {}
        }
        session.served += 1;
        match words {
            [b"NEEDS"] => out.extend_from_slice(b"+free\r\n"),
            [b"PING"] => out.extend_from_slice(b"+PONG\r\n"),
            [b"ECHO", words @ ..] => {
                out.extend_from_slice(format!("*{}\r\n", words.len()).as_bytes());
                for word in words {
                    out.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
                    out.extend_from_slice(word);
                    out.extend_from_slice(b"\r\n");
                }
            }
            [b"COUNT"] => out.extend_from_slice(format!(":{}\r\n", session.served).as_bytes()),
            [b"ID"] => out.extend_from_slice(format!(":{}\r\n", session.client.id).as_bytes()),
            [b"SETTLED"] => out.extend_from_slice(UNSETTLED),
            [b"BIG", length, ..] => {
                let length: usize = std::str::from_utf8(length).unwrap().parse().unwrap();
                out.extend_from_slice(format!("${length}\r\n").as_bytes());
                out.resize(out.len() + length, b'x');
                out.extend_from_slice(b"\r\n");
            }
            [b"FORGET"] => {
                session.is_known = false;
                out.extend_from_slice(b"+OK\r\n");
            }
            [b"QUIT"] => {
                out.extend_from_slice(b"+OK\r\n");
                return AfterReply::CloseAfterReply;
            }
            [b"KILL"] => {
                session.client.kill();
                out.extend_from_slice(b"+OK\r\n");
            }
            [b"PANIC"] => panic!("as asked"),
            [b"SHUTDOWN"] => return AfterReply::ShutDown,
            _ => out.extend_from_slice(b"-ERR unknown\r\n"),
        }
        AfterReply::GoOn
    }

    fn settle<'s>(&self, round: &mut dyn Iterator<Item = (&'s mut Session, &'s mut Vec<u8>)>)
    where
        Session: 's,
    {
        self.settled.fetch_add(1, Ordering::SeqCst);
        let spied = self.spied.lock().unwrap();
        if let Some(spied) = &*spied
            && spied.peek(&mut [0]).is_ok()
        {
            self.seen_too_early.fetch_add(1, Ordering::SeqCst);
        }
        for (session, out) in round {
            assert!(session.served > 0 || !out.is_empty());
            if out == UNSETTLED {
                *out = b"+settled\r\n".to_vec();
            }
        }
    }

    fn disconnect(&self, session: Session) {
        self.disconnected.fetch_add(1, Ordering::SeqCst);
        let mut clients = self.clients.lock().unwrap();
        clients.retain(|client| client.id != session.client.id);
    }
}

pub(crate) struct Server {
    pub(crate) service: Arc<Echo>,
    pub(crate) running: Running,
}

pub(crate) fn local() -> ListenOptions {
    ListenOptions {
        addresses: vec!["127.0.0.1:0".parse().unwrap()],
        workers: 2,
        ..ListenOptions::default()
    }
}

pub(crate) fn serve(listening: ListenOptions) -> Server {
    let service = Arc::new(Echo::default());
    let running = start(listening, Arc::clone(&service)).unwrap();
    Server { service, running }
}

impl Server {
    pub(crate) fn client(&self) -> Client<TcpStream> {
        let stream = TcpStream::connect(self.running.addresses[0]).unwrap();
        stream.set_nodelay(true).unwrap();
        Client(BufReader::new(stream))
    }

    /// Everybody who came has gone once it has stopped.
    pub(crate) fn stop(self) {
        self.running.stop().unwrap();
        let connected = self.service.connected.load(Ordering::SeqCst);
        assert_eq!(self.service.disconnected.load(Ordering::SeqCst), connected);
    }
}

pub(crate) struct Client<T>(pub(crate) BufReader<T>);

impl<T: Read + Write> Client<T> {
    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.0.get_mut().write_all(bytes).unwrap();
        self.0.get_mut().flush().unwrap();
    }

    /// A line of a reply, without its end; nothing at the end of the connection.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        // Closed one way or the other.
        let _ = self.0.read_line(&mut line);
        line.trim_end().to_owned()
    }

    pub(crate) fn ask(&mut self, line: &str) -> String {
        self.send(format!("{line}\r\n").as_bytes());
        self.line()
    }

    pub(crate) fn is_closed(&mut self) -> bool {
        !matches!(self.0.fill_buf(), Ok([_, ..]))
    }
}

pub(crate) fn request(words: &[&[u8]]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        bytes.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
        bytes.extend_from_slice(word);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes
}
