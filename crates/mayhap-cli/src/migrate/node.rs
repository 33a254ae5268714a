//! A connection to one server, and what can go wrong with it.

use super::endpoint::Endpoint;
use super::server::is_stopped;
use redis::{Client, ConnectionLike, ErrorKind, RedisError, Value};
use std::error::Error;
use std::thread;
use std::time::Duration;

const CONNECT_SECONDS: u64 = 10;
/// Nothing that is asked takes as long, unless the server is blocked.
const REPLY_SECONDS: u64 = 120;

/// Why a command has no usable reply.
#[derive(Debug, Clone)]
pub(super) enum CommandError {
    /// The server replied with an error, which begins with a code, or with what the command does not reply.
    Server { code: String, text: String },
    /// The key is on another node: its address, and whether that is only so for this command (ASK).
    Redirected { address: String, only_once: bool },
    /// The connection is unusable.
    Connection(String),
    /// A signal asks the program to end.
    Interrupted,
}

impl CommandError {
    /// A reply that the command does not have.
    pub(super) fn broken(text: String) -> Self {
        let code = String::new();
        Self::Server { code, text }
    }

    /// What to do, where the code of the error says it.
    pub(super) fn advice(&self) -> Option<&'static str> {
        let Self::Server { code, text } = self else {
            return None;
        };
        match code.as_str() {
            "TRYAGAIN" => Some("the cluster moves this slot, repeat this when it has"),
            "OOM" => Some("free memory there or raise maxmemory, and repeat this"),
            "READONLY" if text.contains("replica") => Some("give the address of its master"),
            "NOPERM" => Some("give the user this right"),
            _ => None,
        }
    }

    /// One line.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Server { text, .. } => match self.advice() {
                Some(advice) => format!("{}: {advice}", text.trim_end_matches('.')),
                None => text.clone(),
            },
            Self::Connection(text) => text.clone(),
            Self::Redirected { address, .. } => {
                format!(
                    "the cluster redirects to {address}, and does not settle: repeat this when it is stable"
                )
            }
            Self::Interrupted => "interrupted".to_owned(),
        }
    }

    /// Whether the server does not know the command.
    pub(super) fn is_unknown_command(&self) -> bool {
        matches!(self, Self::Server { text, .. } if text.to_ascii_lowercase().contains("unknown command"))
    }

    /// Whether the cluster, or a server that starts, asks to try again.
    pub(super) fn is_temporary(&self) -> bool {
        matches!(self, Self::Server { code, .. } if ["TRYAGAIN", "CLUSTERDOWN", "LOADING", "MASTERDOWN"].contains(&code.as_str()))
    }
}

/// One line about an error of the client.
pub(super) fn describe(error: &RedisError) -> String {
    let mut text = match error.detail() {
        Some(detail) => format!("{}: {detail}", error.category()),
        None => error.to_string(),
    };
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        source = cause.source();
    }
    text
}

pub(super) struct Node {
    connection: redis::Connection,
    name: String,
    /// Whether the client's buffer has grown.
    has_large_buffer: bool,
}

/// Replies of this size make the buffer of the client large.
const LARGE_REPLY: usize = 1 << 20;

impl Node {
    pub(super) fn connect(endpoint: &Endpoint) -> Result<Self, CommandError> {
        let name = endpoint.name();
        let failed = |error: RedisError| CommandError::Connection(explain(&name, &error));
        let client = match &endpoint.certificates {
            Some(certificates) => {
                Client::build_with_tls(endpoint.info.clone(), certificates.clone())
            }
            None => Client::open(endpoint.info.clone()),
        };
        let connection = client
            .and_then(|client| {
                client.get_connection_with_timeout(Duration::from_secs(CONNECT_SECONDS))
            })
            .map_err(failed)?;
        connection
            .set_read_timeout(Some(Duration::from_secs(REPLY_SECONDS)))
            .and_then(|()| connection.set_write_timeout(Some(Duration::from_secs(REPLY_SECONDS))))
            .map_err(failed)?;
        Ok(Self {
            connection,
            name,
            has_large_buffer: false,
        })
    }

    /// Runs a command.
    pub(super) fn run(&mut self, words: &[&[u8]]) -> Result<Value, CommandError> {
        let mut command = redis::Cmd::new();
        for word in words {
            command.arg(*word);
        }
        let reply = self
            .connection
            .req_packed_command(&command.get_packed_command());
        self.checked(reply)
    }

    /// Runs commands without waiting for each reply.
    pub(super) fn run_all(
        &mut self,
        commands: &[Vec<&[u8]>],
    ) -> Result<Vec<Result<Value, CommandError>>, CommandError> {
        // The client refuses to send nothing, and SCAN may return no keys.
        if commands.is_empty() {
            return Ok(Vec::new());
        }
        let mut packed = Vec::new();
        for words in commands {
            let mut command = redis::Cmd::new();
            for word in words {
                command.arg(*word);
            }
            packed.extend(command.get_packed_command());
        }
        self.connection
            .send_packed_command(&packed)
            .map_err(|error| CommandError::Connection(explain(&self.name, &error)))?;
        let mut replies = Vec::with_capacity(commands.len());
        for _ in commands {
            let reply = self.connection.recv_response();
            match self.checked(reply) {
                Err(error @ CommandError::Connection(_)) => return Err(error),
                reply => replies.push(reply),
            }
        }
        Ok(replies)
    }

    fn checked(&mut self, reply: Result<Value, RedisError>) -> Result<Value, CommandError> {
        let error = match reply {
            Ok(Value::ServerError(error)) => RedisError::from(error),
            Ok(value) => {
                if let Value::Array(parts) = &value {
                    let is_large = |part: &Value| matches!(part, Value::BulkString(bytes) if bytes.len() >= LARGE_REPLY);
                    self.has_large_buffer |= parts.iter().any(is_large);
                }
                return Ok(value);
            }
            Err(error) => error,
        };
        Err(match error.kind() {
            ErrorKind::Server(kind) => match error.redirect_node() {
                Some((address, _)) => CommandError::Redirected {
                    address: address.to_owned(),
                    only_once: kind == redis::ServerErrorKind::Ask,
                },
                // No other command will work either.
                None if error.code() == Some("NOAUTH") => {
                    CommandError::Connection(explain(&self.name, &error))
                }
                None => self.server_error(&error),
            },
            ErrorKind::Extension if error.code() == Some("NOAUTH") => {
                CommandError::Connection(explain(&self.name, &error))
            }
            ErrorKind::Extension => self.server_error(&error),
            _ if is_stopped_soon(&error) => CommandError::Interrupted,
            _ => CommandError::Connection(explain(&self.name, &error)),
        })
    }

    /// The error line as the server sent it, behind the server's name.
    fn server_error(&self, error: &RedisError) -> CommandError {
        let line = match (error.code(), error.detail()) {
            (Some(code), Some(detail)) => format!("{code} {detail}"),
            (Some(code), None) => code.to_owned(),
            _ => describe(error),
        };
        CommandError::Server {
            code: error.code().unwrap_or_default().to_owned(),
            text: format!("{}: {line}", self.name),
        }
    }

    pub(super) fn has_large_buffer(&self) -> bool {
        self.has_large_buffer
    }
}

/// Whether a signal asks the program to end. It interrupts a call before the thread that receives signals has noted it.
fn is_stopped_soon(error: &RedisError) -> bool {
    for _ in 0..20 {
        if is_stopped() {
            return true;
        }
        if !error.is_io_error() {
            return false;
        }
        thread::sleep(Duration::from_millis(5));
    }
    false
}

fn explain(name: &str, error: &RedisError) -> String {
    if error.kind() == ErrorKind::Parse {
        return format!("{name} replied with what is not Redis's protocol: check the address");
    }
    let text = describe(error);
    let lower = text.to_ascii_lowercase();
    let advice = if lower.contains("certificate") || lower.contains("unknownissuer") {
        ": name its authority with --cacert FILE, or accept any certificate with --insecure"
    } else if lower.contains("noauth")
        || lower.contains("wrongpass")
        || lower.contains("authenticat")
    {
        ": put user and password into the URL, or the password into MAYHAP_SOURCE_PASSWORD or MAYHAP_TARGET_PASSWORD"
    } else if lower.contains("cluster mode") {
        ": a cluster has only database 0, leave the number out of the URL"
    } else if lower.contains("db index") {
        ": choose a database that it has in the URL"
    } else if error.is_connection_refusal() {
        ": check the address, and that the server runs"
    } else if error.is_timeout() {
        ": check the network, and whether the server wants TLS (rediss://)"
    } else {
        ""
    };
    format!("{name}: {text}{advice}")
}
