//! RedisBloom's words, `BF.*` and `CF.*`: arguments become a [`Command`], a command is applied to the [`Slot`] of its key, and there
//! is a [`Reply`] and what has to be passed on to replicas and logs. Nothing here knows sockets, disks or clocks.
//!
//! ```
//! use mayhap_command::{Command, Config, Protocol, Slot};
//! let config = Config::default();
//! let mut slot = Slot::Missing;
//! let add = Command::parse(&[b"BF.ADD", b"seen", b"apple"], &config).expect("a command");
//! let outcome = add.apply(&mut slot, &config);
//! let mut bytes = Vec::new();
//! outcome.reply.write(Protocol::Resp3, &mut bytes);
//! assert_eq!(bytes, b"#t\r\n");
//! assert!(outcome.is_passed_on);
//! ```

mod bloom;
mod config;
mod cuckoo;
mod reply;
mod words;

pub use config::{Config, NAMES};
pub use reply::{Protocol, Reply};

use mayhap::PlanError;
use mayhap_codec::redis;
use std::borrow::Cow;

/// What a key holds.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum Slot {
    /// There is no such key.
    #[default]
    Missing,
    /// A Bloom filter.
    Bloom(Box<redis::Bloom>),
    /// A cuckoo filter.
    Cuckoo(Box<redis::Cuckoo>),
    /// Something that is the host's, and no filter.
    Other,
}

/// What a command did.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// The answer.
    pub reply: Reply,
    /// Whether replicas and logs have to see the command, as it came: it touched the filter.
    pub is_passed_on: bool,
}

impl Outcome {
    fn told(reply: Reply) -> Self {
        Self {
            reply,
            is_passed_on: false,
        }
    }

    fn done(reply: Reply) -> Self {
        Self {
            reply,
            is_passed_on: true,
        }
    }
}

pub(crate) const NOT_FOUND: Reply = Reply::error("ERR not found");
pub(crate) const EXISTS: Reply = Reply::error("ERR item exists");
pub(crate) const WRONG_TYPE: Reply =
    Reply::error("WRONGTYPE Operation against a key holding the wrong kind of value");

/// A command whose words are right. It has one key.
#[derive(Clone, PartialEq, Debug)]
pub struct Command<'a> {
    /// The name of the key.
    pub key: &'a [u8],
    verb: Verb<'a>,
}

#[derive(Clone, PartialEq, Debug)]
enum Verb<'a> {
    Bloom(bloom::Verb<'a>),
    Cuckoo(cuckoo::Verb<'a>),
}

/// A command of ours, its name in lower case, and how many words it may have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Specification {
    /// In lower case.
    pub name: &'static str,
    /// Fewest words, the name included.
    pub fewest: usize,
    /// Most words.
    pub most: usize,
    /// Whether it changes filters.
    pub writes: bool,
}

const MANY: usize = usize::MAX;

const fn specification(
    name: &'static str,
    fewest: usize,
    most: usize,
    writes: bool,
) -> Specification {
    Specification {
        name,
        fewest,
        most,
        writes,
    }
}

/// All commands.
pub const COMMANDS: [Specification; 25] = [
    specification("bf.reserve", 4, 7, true),
    specification("bf.add", 3, 3, true),
    specification("bf.madd", 3, MANY, true),
    specification("bf.insert", 4, MANY, true),
    specification("bf.exists", 3, 3, false),
    specification("bf.mexists", 3, MANY, false),
    specification("bf.card", 2, 2, false),
    specification("bf.info", 2, 3, false),
    specification("bf.debug", 2, 2, false),
    specification("bf.scandump", 3, 3, false),
    specification("bf.loadchunk", 4, 4, true),
    specification("cf.reserve", 3, MANY, true),
    specification("cf.add", 3, 3, true),
    specification("cf.addnx", 3, 3, true),
    specification("cf.insert", 4, MANY, true),
    specification("cf.insertnx", 4, MANY, true),
    specification("cf.exists", 3, 3, false),
    specification("cf.mexists", 3, MANY, false),
    specification("cf.count", 3, 3, false),
    specification("cf.del", 3, 3, true),
    specification("cf.compact", 2, 2, true),
    specification("cf.info", 2, 2, false),
    specification("cf.debug", 2, 2, false),
    specification("cf.scandump", 3, 3, false),
    specification("cf.loadchunk", 4, 4, true),
];

/// The command of that name, in whatever case.
pub fn find(name: &[u8]) -> Option<&'static Specification> {
    COMMANDS
        .iter()
        .find(|command| name.eq_ignore_ascii_case(command.name.as_bytes()))
}

/// That a filter could not be made, in the words of its family.
fn not_made(other: &'static str) -> impl FnOnce(PlanError) -> Reply {
    move |error| match error {
        PlanError::OutOfMemory { .. } => Reply::error("ERR Insufficient memory to create filter"),
        _ => Reply::error(other),
    }
}

/// A filter that is made for a key that has none: `filled` tells what the key has then.
fn reserve<F>(
    slot: &mut Slot,
    is_of_family: bool,
    make: impl FnOnce() -> Result<F, Reply>,
    filled: impl FnOnce(Box<F>) -> Slot,
) -> Outcome {
    match slot {
        Slot::Missing => match make() {
            Ok(filter) => {
                *slot = filled(Box::new(filter));
                Outcome::done(Reply::OK)
            }
            Err(reply) => Outcome::told(reply),
        },
        _ if is_of_family => Outcome::told(EXISTS),
        _ => Outcome::told(WRONG_TYPE),
    }
}

/// An answer for each item.
fn each(items: &[&[u8]], ask: impl Fn(&[u8]) -> bool) -> Outcome {
    let answers = items.iter().map(|item| Reply::Boolean(ask(item)));
    Outcome::told(Reply::Array(answers.collect()))
}

/// A count, as far as a reply can hold one.
fn count(number: u64) -> Reply {
    Reply::Integer(i64::try_from(number).unwrap_or(i64::MAX))
}

/// That a command has too many words or too few.
fn wrong_arity(name: &str) -> Reply {
    Reply::Error(Cow::Owned(format!(
        "ERR wrong number of arguments for '{name}' command"
    )))
}

impl<'a> Command<'a> {
    /// Reads a command, its name first. What is wrong with its words whatever the key holds is told now.
    ///
    /// # Errors
    /// The reply that says so.
    pub fn parse(words: &[&'a [u8]], config: &Config) -> Result<Self, Reply> {
        let name = words.first().copied().unwrap_or_default();
        let Some(command) = find(name) else {
            let name = String::from_utf8_lossy(&name[..name.len().min(128)]);
            return Err(Reply::Error(Cow::Owned(format!(
                "ERR unknown command '{name}'"
            ))));
        };
        if !(command.fewest..=command.most).contains(&words.len()) {
            return Err(wrong_arity(command.name));
        }
        let (family, verb) = command.name.split_once('.').unwrap_or_default();
        let verb = if family == "bf" {
            Verb::Bloom(bloom::Verb::parse(verb, &words[1..], config)?)
        } else {
            Verb::Cuckoo(cuckoo::Verb::parse(verb, &words[1..], config)?)
        };
        Ok(Self {
            key: words[1],
            verb,
        })
    }

    /// Applies the command to what its key holds.
    pub fn apply(&self, slot: &mut Slot, config: &Config) -> Outcome {
        match &self.verb {
            Verb::Bloom(verb) => verb.apply(slot, config),
            Verb::Cuckoo(verb) => verb.apply(slot, config),
        }
    }
}
