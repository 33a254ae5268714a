//! A client that costs next to nothing: the same bytes over and over, replies only counted. redis-benchmark makes every request anew, and
//! on two cores it, not the server, is what a second thread of the server waits for.

use super::Host;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Instant;

/// Requests in flight on a connection.
const DEPTH: usize = 64;

/// Sends `rounds` times so many requests on each of so many connections; requests a second.
///
/// `request` numbers the requests; all replies must have this length.
pub fn flood(
    host: &Host,
    connections: usize,
    rounds: usize,
    request: impl Fn(usize) -> Vec<u8>,
    reply_length: usize,
) -> f64 {
    let streams: Vec<(TcpStream, Vec<u8>)> = (0..connections)
        .map(|number| {
            let first = number * DEPTH;
            let requests = (first..first + DEPTH).flat_map(&request).collect();
            let stream =
                TcpStream::connect(("127.0.0.1", host.port())).expect("the server listens");
            (stream, requests)
        })
        .collect();
    let start = Instant::now();
    std::thread::scope(|scope| {
        for (mut stream, requests) in streams {
            scope.spawn(move || {
                let mut writer = stream.try_clone().expect("a socket");
                let mut replies = vec![0; DEPTH * reply_length];
                // One batch is always on its way.
                writer.write_all(&requests).expect("sent");
                for round in 0..rounds {
                    if round + 1 < rounds {
                        writer.write_all(&requests).expect("sent");
                    }
                    stream.read_exact(&mut replies).expect("replies");
                    assert!(replies.starts_with(b"*"), "{}", replies.escape_ascii());
                }
            });
        }
    });
    (connections * rounds * DEPTH) as f64 / start.elapsed().as_secs_f64()
}
