//! A server or a cluster: sends each command to the node that has its key, and follows redirections.

use super::endpoint::Endpoint;
use super::node::{CommandError, Node};
use super::slot;
use crate::error::CliError;
use crate::progress::Progress;
use redis::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// Set by a signal: no further command is sent, except to clean up.
static STOP: AtomicBool = AtomicBool::new(false);

pub(super) fn stop() {
    STOP.store(true, Ordering::Relaxed);
}

pub(super) fn is_stopped() -> bool {
    STOP.load(Ordering::Relaxed)
}

/// How often a command is sent again while a cluster moves slots or elects a master.
const ATTEMPTS: u32 = 50;
const WAIT: Duration = Duration::from_millis(100);

/// The slots of a master, both inclusive, and its address.
struct SlotRange {
    first: u16,
    last: u16,
    address: String,
}

pub(super) struct Server {
    endpoint: Endpoint,
    /// By address. Connections are made when they are needed.
    nodes: BTreeMap<String, Node>,
    /// Empty if this is no cluster.
    slots: Vec<SlotRange>,
    /// The bytes of chunks that were read from it or loaded into it, for the progress bar.
    moved_bytes: Arc<AtomicU64>,
}

impl Server {
    pub(super) fn connect(endpoint: &Endpoint) -> Result<Self, CliError> {
        let mut server = Self {
            endpoint: endpoint.clone(),
            nodes: BTreeMap::new(),
            slots: Vec::new(),
            moved_bytes: Arc::default(),
        };
        let message = |error: CommandError| CliError::message(error.text());
        server.node(&endpoint.name()).map_err(message)?;
        server.read_slots().map_err(message)?;
        if server.is_cluster() && endpoint.database() != 0 {
            return Err(CliError::message(format!(
                "{} is a cluster, which has only database 0: leave the number out of the URL",
                endpoint.name()
            )));
        }
        Ok(server)
    }

    pub(super) fn is_cluster(&self) -> bool {
        !self.slots.is_empty()
    }

    pub(super) fn name(&self) -> String {
        self.endpoint.name()
    }

    /// The number of the database.
    pub(super) fn database(&self) -> i64 {
        self.endpoint.database()
    }

    /// The addresses of all masters.
    pub(super) fn masters(&self) -> Vec<String> {
        if self.slots.is_empty() {
            return vec![self.endpoint.name()];
        }
        let addresses: BTreeSet<_> = self.slots.iter().map(|range| &range.address).collect();
        addresses.into_iter().cloned().collect()
    }

    /// Runs a command on one node.
    pub(super) fn run_at(&mut self, address: &str, words: &[&[u8]]) -> Result<Value, CommandError> {
        let reply = self.node(address)?.run(words);
        self.forget_if_broken(address, reply)
    }

    /// Runs commands on one node, without waiting for each reply.
    pub(super) fn run_all_at(
        &mut self,
        address: &str,
        commands: &[Vec<&[u8]>],
    ) -> Result<Vec<Result<Value, CommandError>>, CommandError> {
        let replies = self.node(address)?.run_all(commands);
        self.forget_if_broken(address, replies)
    }

    /// Runs a command about a key.
    pub(super) fn run(&mut self, key: &[u8], words: &[&[u8]]) -> Result<Value, CommandError> {
        self.routed(key, |node, asking| {
            if asking {
                node.run(&[b"ASKING"])?;
            }
            node.run(words)
        })
    }

    /// Runs commands about keys in the slot of `key` as one transaction, and returns their replies.
    pub(super) fn run_atomically(
        &mut self,
        key: &[u8],
        commands: &[Vec<&[u8]>],
    ) -> Result<Vec<Value>, CommandError> {
        let reply = self.routed(key, |node, asking| {
            if asking {
                node.run(&[b"ASKING"])?;
            }
            node.run(&[b"MULTI"])?;
            for words in commands {
                if asking {
                    node.run(&[b"ASKING"])?;
                }
                let queued = node.run(words).and_then(|reply| match reply {
                    Value::SimpleString(text) if text == "QUEUED" => Ok(()),
                    other => Err(unexpected("MULTI", &other)),
                });
                if let Err(error) = queued {
                    let _ = node.run(&[b"DISCARD"]);
                    return Err(error);
                }
            }
            let reply = node.run(&[b"EXEC"]);
            if matches!(reply, Err(CommandError::Server { .. })) {
                // It has ended the transaction already, unless a proxy replied.
                let _ = node.run(&[b"DISCARD"]);
            }
            reply
        })?;
        match reply {
            Value::Array(replies) if replies.len() == commands.len() => Ok(replies),
            other => Err(unexpected("EXEC", &other)),
        }
    }

    /// Counts the bytes of a chunk.
    pub(super) fn count_bytes(&self, bytes: usize) {
        self.moved_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// A bar for one filter, whose bytes are counted from now on.
    pub(super) fn progress(&self, label: &str, total_bytes: u64) -> Progress {
        self.moved_bytes.store(0, Ordering::Relaxed);
        // The bar needs the rest of the line.
        let label = label.chars().take(40).collect();
        Progress::labelled(label, Arc::clone(&self.moved_bytes), total_bytes)
    }

    /// Closes connections whose buffers have grown. They are opened again when they are needed.
    pub(super) fn release_buffers(&mut self) {
        self.nodes.retain(|_, node| !node.has_large_buffer());
    }

    fn routed(
        &mut self,
        key: &[u8],
        mut run: impl FnMut(&mut Node, bool) -> Result<Value, CommandError>,
    ) -> Result<Value, CommandError> {
        let mut redirected: Option<String> = None;
        let mut attempt = 0;
        loop {
            attempt += 1;
            let (address, asking) = match redirected.take() {
                Some(address) => (address, true),
                None => (self.address_of(key), false),
            };
            let reply = match self.node(&address) {
                Ok(node) => run(node, asking),
                Err(error) => Err(error),
            };
            match self.forget_if_broken(&address, reply) {
                Err(CommandError::Redirected { address, only_once }) if attempt < ATTEMPTS => {
                    if only_once {
                        redirected = Some(self.complete(&address));
                    } else {
                        self.read_slots()?;
                        // A node that redirects before it reports the new slots is asked again.
                        if self.address_of(key) != self.complete(&address) {
                            thread::sleep(WAIT);
                        }
                    }
                }
                Err(error) if error.is_temporary() && attempt < ATTEMPTS => {
                    thread::sleep(WAIT);
                    if self.is_cluster() {
                        // The slots stay known if the cluster does not answer now.
                        let _ = self.read_slots();
                    }
                }
                // A master that is gone has been replaced, or will be.
                Err(CommandError::Connection(text)) if self.is_cluster() && attempt < ATTEMPTS => {
                    thread::sleep(WAIT);
                    if self.read_slots().is_err() && attempt > 5 {
                        return Err(CommandError::Connection(text));
                    }
                }
                reply => return reply,
            }
        }
    }

    fn address_of(&self, key: &[u8]) -> String {
        let slot = slot::of_key(key);
        let range = self
            .slots
            .iter()
            .find(|range| (range.first..=range.last).contains(&slot));
        range.map_or_else(|| self.endpoint.name(), |range| range.address.clone())
    }

    fn node(&mut self, address: &str) -> Result<&mut Node, CommandError> {
        if !self.nodes.contains_key(address) {
            let endpoint = if address == self.endpoint.name() {
                self.endpoint.clone()
            } else {
                let (host, port) = split_address(address);
                self.endpoint.at(host, port)
            };
            let node = Node::connect(&endpoint)?;
            self.nodes.insert(address.to_owned(), node);
        }
        match self.nodes.get_mut(address) {
            Some(node) => Ok(node),
            None => Err(CommandError::Connection(format!(
                "{address}: not connected"
            ))),
        }
    }

    fn forget_if_broken<T>(
        &mut self,
        address: &str,
        reply: Result<T, CommandError>,
    ) -> Result<T, CommandError> {
        if matches!(
            reply,
            Err(CommandError::Connection(_) | CommandError::Interrupted)
        ) {
            self.nodes.remove(address);
        }
        reply
    }

    /// An address with a host: nodes that do not know theirs leave it empty.
    fn complete(&self, address: &str) -> String {
        let (host, port) = split_address(address);
        let host = if host.is_empty() || host == "?" {
            self.endpoint.host()
        } else {
            host
        };
        self.endpoint.at(host, port).name()
    }

    /// Asks any known node which masters have which slots.
    fn read_slots(&mut self) -> Result<(), CommandError> {
        let mut addresses = self.masters();
        addresses.push(self.endpoint.name());
        let mut failure = None;
        for address in addresses {
            match self.run_at(&address, &[b"CLUSTER", b"SLOTS"]) {
                Ok(Value::Array(ranges)) => {
                    let ranges = ranges.iter().filter_map(|range| self.slot_range(range));
                    self.slots = ranges.collect();
                    return Ok(());
                }
                // Not a cluster, or a server without that command, or a user without access to it.
                Ok(_) | Err(CommandError::Server { .. }) if self.slots.is_empty() => return Ok(()),
                Ok(other) => failure = Some(unexpected("CLUSTER SLOTS", &other)),
                Err(error) => failure = Some(error),
            }
        }
        failure.map_or(Ok(()), Err)
    }

    fn slot_range(&self, range: &Value) -> Option<SlotRange> {
        let Value::Array(parts) = range else {
            return None;
        };
        let number = |value: &Value| match value {
            Value::Int(number) => u16::try_from(*number).ok(),
            _ => None,
        };
        let Value::Array(master) = parts.get(2)? else {
            return None;
        };
        let host = match master.first()? {
            Value::BulkString(host) => String::from_utf8(host.clone()).ok()?,
            Value::SimpleString(host) => host.clone(),
            _ => String::new(),
        };
        let port = number(master.get(1)?)?;
        Some(SlotRange {
            first: number(parts.first()?)?,
            last: number(parts.get(1)?)?,
            address: self.complete(&format!("{host}:{port}")),
        })
    }
}

/// Host and port; the host may be an IPv6 address, with brackets or without.
fn split_address(address: &str) -> (&str, u16) {
    let (host, port) = address.rsplit_once(':').unwrap_or((address, ""));
    let host = host.strip_prefix('[').unwrap_or(host);
    let host = host.strip_suffix(']').unwrap_or(host);
    (host, port.parse().unwrap_or(6379))
}

/// A reply that the command does not have.
pub(super) fn unexpected(command: &str, reply: &Value) -> CommandError {
    let kind = match reply {
        Value::Nil => "null",
        Value::Int(_) => "an integer",
        Value::BulkString(_) | Value::SimpleString(_) | Value::Okay => "a string",
        Value::Array(_) => "an array",
        _ => "a value",
    };
    CommandError::broken(format!(
        "the server replied to {command} with {kind}, which it should not: is a proxy in between?"
    ))
}

/// The reply to a command that changes something: anything but OK means that it may not have.
pub(super) fn accepted(command: &str, reply: &Value) -> Result<(), CommandError> {
    match reply {
        Value::Okay => Ok(()),
        other => Err(unexpected(command, other)),
    }
}

/// The bytes of the reply to a command that replies with a string.
pub(super) fn text_of(command: &str, reply: Value) -> Result<Vec<u8>, CommandError> {
    let other = unexpected(command, &reply);
    bytes_of(reply).ok_or(other)
}

/// The bytes of a reply that is a string.
pub(super) fn bytes_of(reply: Value) -> Option<Vec<u8>> {
    match reply {
        Value::BulkString(bytes) => Some(bytes),
        Value::SimpleString(text) => Some(text.into_bytes()),
        Value::Okay => Some(b"OK".to_vec()),
        _ => None,
    }
}
