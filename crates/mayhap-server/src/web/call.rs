//! Runs a command for a browser, on the way of all commands: locks, log, memory limit.

use super::Web;
use super::error::ApiError;
use crate::clients::{Client, Names};
use crate::net::http::RequestHead;
use crate::net::{AfterReply, ClientHandle, Service};
use crate::session::Session;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::thread;
use std::time::{Duration, Instant};

/// How long a command waits for a key that is in use.
const PATIENCE: Duration = Duration::from_secs(10);
/// The interval between two attempts.
const WAIT: Duration = Duration::from_millis(5);

/// The reply to a command.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum CommandReply {
    Integer(i64),
    Text(String),
    Error(String),
    Array(Vec<CommandReply>),
    Null,
}

impl Web {
    /// Runs a command.
    ///
    /// # Errors
    /// Its error reply, or that its key is in use for too long.
    pub(super) fn call(
        &self,
        head: &RequestHead,
        words: &[&[u8]],
    ) -> Result<CommandReply, ApiError> {
        let mut session = self.session(head);
        let mut out = Vec::new();
        let deadline = Instant::now() + PATIENCE;
        let mut is_long = false;
        loop {
            let next = if is_long {
                self.engine.serve_offloaded(&mut session, words, &mut out)
            } else {
                self.engine.serve(&mut session, words, &mut out)
            };
            match next {
                AfterReply::GoOn | AfterReply::CloseAfterReply => break,
                AfterReply::ShutDown => {
                    (self.shut_down)();
                    break;
                }
                AfterReply::Offload => is_long = true,
                AfterReply::Retry if Instant::now() < deadline => thread::sleep(WAIT),
                AfterReply::Retry => {
                    let text = "the filter is in use by a long command: try again later";
                    return Err(ApiError::new(503, text).retry_after(Duration::from_secs(1)));
                }
            }
        }
        let served = (&mut session, &mut out);
        self.engine.settle(&mut std::iter::once(served));
        match parse(&out) {
            Some((CommandReply::Error(text), _)) => Err(ApiError::from_reply(&text)),
            Some((reply, _)) => Ok(reply),
            None => Err(ApiError::new(
                500,
                "the reply cannot be read: please report it",
            )),
        }
    }

    fn session(&self, head: &RequestHead) -> Session {
        let now = self.engine.clock.now();
        let peer = format!("http:{}", head.peer);
        let client = Client {
            handle: ClientHandle::without_worker(&peer, "", self.options.uses_tls),
            since: now,
            seen: AtomicU64::new(now),
            is_new_protocol: AtomicBool::new(false),
            names: Mutex::new(Names::default()),
        };
        Session::new(Arc::new(client), true)
    }
}

/// Parses the reply of one of our own commands; `None` if it is incomplete.
fn parse(bytes: &[u8]) -> Option<(CommandReply, &[u8])> {
    let end = bytes.windows(2).position(|pair| pair == b"\r\n")?;
    let (line, rest) = (bytes.get(1..end)?, bytes.get(end + 2..)?);
    let text = || String::from_utf8_lossy(line).into_owned();
    let number = || text().parse::<i64>().ok();
    Some(match bytes.first()? {
        b'+' => (CommandReply::Text(text()), rest),
        b'-' => (CommandReply::Error(text()), rest),
        b':' => (CommandReply::Integer(number()?), rest),
        b'$' => match usize::try_from(number()?) {
            Err(_) => (CommandReply::Null, rest),
            Ok(length) => {
                let text = String::from_utf8_lossy(rest.get(..length)?).into_owned();
                (CommandReply::Text(text), rest.get(length + 2..)?)
            }
        },
        b'*' => match usize::try_from(number()?) {
            Err(_) => (CommandReply::Null, rest),
            Ok(length) => {
                let (mut elements, mut rest) = (Vec::new(), rest);
                for _ in 0..length {
                    let (element, next) = parse(rest)?;
                    elements.push(element);
                    rest = next;
                }
                (CommandReply::Array(elements), rest)
            }
        },
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::{CommandReply, parse};

    #[test]
    fn replies_are_parsed() {
        let text = |text: &str| CommandReply::Text(text.to_owned());
        for (bytes, expected) in [
            ("+OK\r\n", text("OK")),
            ("-ERR no\r\n", CommandReply::Error("ERR no".to_owned())),
            (":-7\r\n", CommandReply::Integer(-7)),
            ("$3\r\na\r\n\r\n", text("a\r\n")),
            ("$-1\r\n", CommandReply::Null),
            ("*-1\r\n", CommandReply::Null),
            (
                "*2\r\n:1\r\n*1\r\n+x\r\n",
                CommandReply::Array(vec![
                    CommandReply::Integer(1),
                    CommandReply::Array(vec![text("x")]),
                ]),
            ),
        ] {
            assert_eq!(
                parse(bytes.as_bytes()),
                Some((expected, &b""[..])),
                "{bytes}"
            );
            for end in 0..bytes.len() {
                assert_eq!(parse(&bytes.as_bytes()[..end]), None, "{bytes} {end}");
            }
        }
    }
}
