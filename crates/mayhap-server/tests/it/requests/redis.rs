//! The same bytes to a real Redis, which says what words it sees.

use super::random::{damaged_array, line};
use super::{array, read};
use mayhap_server::resp::RequestLimits;
use mayhap_testkit::Random;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

/// It answers with the words after it.
const TELL: [&[u8]; 3] = [b"EVAL", b"return ARGV", b"0"];

struct Redis {
    process: Child,
    port: u16,
}

impl Redis {
    fn start() -> Option<Self> {
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let mut command = Command::new("redis-server");
        command.args(["--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]);
        command.args(["--port", &port.to_string(), "--daemonize", "no"]);
        command
            .stdout(Stdio::null())
            .current_dir(std::env::temp_dir());
        let process = match command.spawn() {
            Err(error) if error.kind() == ErrorKind::NotFound => return None,
            other => other.unwrap(),
        };
        let mut redis = Self { process, port };
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert_eq!(
                redis.process.try_wait().unwrap(),
                None,
                "redis-server has ended"
            );
            std::thread::yield_now();
        }
        Some(redis)
    }

    fn ask(&self, bytes: &[u8]) -> Vec<u8> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.write_all(bytes).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let mut reply = Vec::new();
        // After a protocol error it closes with bytes unread, and what it said is there before the error.
        let _ = stream.read_to_end(&mut reply);
        reply
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// What Redis has to answer if it reads the bytes as we do; none when we do not know what it answers to these words.
fn expected(bytes: &[u8]) -> Option<Vec<u8>> {
    let (all, error) = read(bytes, &RequestLimits::default());
    let mut replies = Vec::new();
    for words in all.iter().filter(|words| !words.is_empty()) {
        let told = words.strip_prefix(&TELL.map(<[u8]>::to_vec)[..])?;
        let told: Vec<&[u8]> = told.iter().map(Vec::as_slice).collect();
        replies.extend(array(&told));
    }
    if let Some(error) = error {
        error.write(&mut replies);
    }
    Some(replies)
}

#[test]
fn redis_reads_the_same_words() {
    let Some(redis) = Redis::start() else {
        eprintln!("skipped: there is no redis-server (apt install redis-server)");
        return;
    };
    let rounds = if std::env::var_os("MAYHAP_SOAK").is_some() {
        100_000
    } else {
        3_000
    };
    let mut random = Random::new(7);
    let (mut compared, mut refused) = (0, 0);
    for _ in 0..rounds {
        let mut bytes = Vec::new();
        for _ in 0..=random.below(2) {
            if random.below(2) == 0 {
                bytes.extend_from_slice(b"EVAL \"return ARGV\" 0 ");
                bytes.extend(line(&mut random));
                bytes.extend_from_slice(b"\r\n");
            } else {
                bytes.extend(damaged_array(&mut random, &TELL));
            }
        }
        let Some(expected) = expected(&bytes) else {
            continue;
        };
        let reply = redis.ask(&bytes);
        let shown = bytes.escape_ascii();
        assert_eq!(
            reply.escape_ascii().to_string(),
            expected.escape_ascii().to_string(),
            "{shown}"
        );
        compared += 1;
        refused += u32::from(expected.windows(10).any(|text| text == b"-ERR Proto"));
    }
    eprintln!("{compared} inputs are read as Redis reads them, {refused} of them refused");
    assert!(compared > rounds / 3 && refused > rounds / 10);
}
