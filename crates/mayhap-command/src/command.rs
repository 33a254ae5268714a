//! A command: what it is asked of or done to, and what comes of it.

use crate::table::{self, Specification, Verb};
use crate::{Config, Reply, Slot, at, bf, cbf, cf, file, load, merge, wrong_arity};
use mayhap_core::{SipKey, Timestamp};
use std::borrow::Cow;
use std::collections::HashSet;

/// The words of a command.
pub(crate) type Words = Vec<Vec<u8>>;

/// A command whose words are right.
#[derive(Clone, PartialEq, Debug)]
pub enum Command<'a> {
    /// It looks at a filter.
    Ask(Ask<'a>),
    /// It may change one.
    Change(Change<'a>),
}

/// A command that changes nothing.
#[derive(Clone, PartialEq, Debug)]
pub struct Ask<'a> {
    key: &'a [u8],
    question: Question<'a>,
}

#[derive(Clone, PartialEq, Debug)]
enum Question<'a> {
    Bloom(bf::Question<'a>),
    Cuckoo(cf::Question<'a>),
    Counting(cbf::Question<'a>),
    File,
}

/// A command that changes a filter, or makes one.
#[derive(Clone, PartialEq, Debug)]
pub struct Change<'a> {
    key: &'a [u8],
    deed: Deed<'a>,
    /// When it came first, where that is told.
    at: Option<Timestamp>,
}

#[derive(Clone, PartialEq, Debug)]
enum Deed<'a> {
    Bloom(bf::Deed<'a>),
    Cuckoo(cf::Deed<'a>),
    Counting(cbf::Deed<'a>),
    Merge(Vec<&'a [u8]>),
    Load(load::Load<'a>),
}

/// What a command is applied with, besides what its key holds.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The settings.
    pub config: &'a Config,
    /// The time of the command. When it is applied again from a log, the time at which it came first.
    pub now: Timestamp,
    /// The host's, for the hashes of new filters.
    pub secret: SipKey,
    /// What one filter may take, as memory is now; the setting may be lower.
    pub max_bytes: u64,
}

impl Context<'_> {
    /// What one filter may take.
    pub(crate) fn max_bytes(&self) -> u64 {
        self.max_bytes.min(self.config.max_filter_bytes)
    }
}

/// What a command did.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// The answer.
    pub reply: Reply,
    /// What logs and replicas have to see.
    pub passed_on: PassedOn,
}

/// What logs and replicas have to see of a command, so that the filter there becomes the same to the bit, whatever the settings.
#[derive(Clone, PartialEq, Debug)]
pub enum PassedOn {
    /// It changed nothing.
    Nothing,
    /// It changed nothing, but its answer relies on what was changed before: whoever waits for that waits for this.
    Unchanged,
    /// The command.
    AsItCame,
    /// Others in its place, in this order.
    Instead(Vec<Vec<Vec<u8>>>),
}

impl Outcome {
    /// Nothing was touched.
    pub(crate) fn told(reply: Reply) -> Self {
        Self {
            reply,
            passed_on: PassedOn::Nothing,
        }
    }

    /// What was to be done has been done before.
    pub(crate) fn unchanged(reply: Reply) -> Self {
        Self {
            reply,
            passed_on: PassedOn::Unchanged,
        }
    }

    /// The answer is whether it changed anything.
    pub(crate) fn changed(is_changed: bool) -> Self {
        let reply = Reply::Boolean(is_changed);
        if is_changed {
            Self::done(reply)
        } else {
            Self::unchanged(reply)
        }
    }

    pub(crate) fn done(reply: Reply) -> Self {
        Self {
            reply,
            passed_on: PassedOn::AsItCame,
        }
    }

    pub(crate) fn instead(reply: Reply, commands: Vec<Words>) -> Self {
        let passed_on = if commands.is_empty() {
            PassedOn::Nothing
        } else {
            PassedOn::Instead(commands)
        };
        Self { reply, passed_on }
    }
}

/// A command of some words.
pub(crate) fn words(name: &str, key: &[u8], rest: &[&[u8]]) -> Words {
    let mut words = Vec::with_capacity(2 + rest.len());
    words.push(name.as_bytes().to_vec());
    words.push(key.to_vec());
    words.extend(rest.iter().map(|word| word.to_vec()));
    words
}

impl<'a> Command<'a> {
    /// Reads a command, its name first. What is wrong with its words whatever the key holds is told now.
    ///
    /// # Errors
    /// The reply that says so.
    pub fn parse(words: &[&'a [u8]], config: &Config) -> Result<Self, Reply> {
        let name = words.first().copied().unwrap_or_default();
        let Some(command) = table::find(name) else {
            let name = String::from_utf8_lossy(&name[..name.len().min(128)]);
            return Err(Reply::Error(Cow::Owned(format!(
                "ERR unknown command '{}'",
                name.replace(['\r', '\n'], " ")
            ))));
        };
        if !(command.fewest..=command.most).contains(&words.len()) {
            return Err(wrong_arity(command.name));
        }
        let (key, rest) = (words[1], &words[2..]);
        let ask = |question| Ok(Self::Ask(Ask { key, question }));
        let change = |deed| {
            let at = None;
            Ok(Self::Change(Change { key, deed, at }))
        };
        let verb = command.verb;
        match verb {
            Verb::BfExists
            | Verb::BfMexists
            | Verb::BfCard
            | Verb::BfInfo
            | Verb::BfDebug
            | Verb::BfScandump
            | Verb::BfEstimate => ask(Question::Bloom(bf::Question::of(verb, rest))),
            Verb::CfExists
            | Verb::CfMexists
            | Verb::CfCount
            | Verb::CfInfo
            | Verb::CfDebug
            | Verb::CfScandump => ask(Question::Cuckoo(cf::Question::of(verb, rest))),
            Verb::CbfCount | Verb::CbfExists | Verb::CbfMexists | Verb::CbfInfo => {
                ask(Question::Counting(cbf::Question::of(verb, rest)))
            }
            Verb::BfReserve
            | Verb::BfAdd
            | Verb::BfMadd
            | Verb::BfInsert
            | Verb::BfLoadchunk
            | Verb::BfWindow => change(Deed::Bloom(bf::Deed::parse(verb, &words[1..], config)?)),
            Verb::CfReserve
            | Verb::CfAdd
            | Verb::CfAddnx
            | Verb::CfInsert
            | Verb::CfInsertnx
            | Verb::CfDel
            | Verb::CfCompact
            | Verb::CfLoadchunk => {
                change(Deed::Cuckoo(cf::Deed::parse(verb, &words[1..], config)?))
            }
            Verb::CbfReserve | Verb::CbfAdd | Verb::CbfMadd | Verb::CbfDel => {
                change(Deed::Counting(cbf::Deed::parse(verb, rest)?))
            }
            Verb::BfMerge => {
                // A filter has all that it has already, and a source is merged once.
                let mut seen = HashSet::from([key]);
                let sources = rest.iter().copied().filter(|source| seen.insert(source));
                change(Deed::Merge(sources.collect()))
            }
            Verb::MayhapFile => ask(Question::File),
            Verb::MayhapLoad => change(Deed::Load(load::Load::parse(rest)?)),
            Verb::MayhapAt => at::parse(words, config),
        }
    }

    /// The key that is asked or changed.
    pub fn key(&self) -> &'a [u8] {
        match self {
            Self::Ask(ask) => ask.key,
            Self::Change(change) => change.key,
        }
    }
}

impl Specification {
    /// Whether its time grows with the size of the filter, and not only with the number of its words.
    pub fn works_on_all_bits(&self) -> bool {
        match self.verb {
            Verb::BfMerge
            | Verb::BfEstimate
            | Verb::CfCompact
            | Verb::CbfInfo
            | Verb::MayhapFile
            // The command that it carries may be one of those.
            | Verb::MayhapAt => true,
            Verb::BfReserve
            | Verb::BfCard
            | Verb::BfInfo
            | Verb::BfDebug
            | Verb::CfInfo
            | Verb::BfAdd
            | Verb::BfMadd
            | Verb::BfInsert
            | Verb::BfExists
            | Verb::BfMexists
            | Verb::BfScandump
            | Verb::BfLoadchunk
            | Verb::BfWindow
            | Verb::CfReserve
            | Verb::CfAdd
            | Verb::CfAddnx
            | Verb::CfInsert
            | Verb::CfInsertnx
            | Verb::CfExists
            | Verb::CfMexists
            | Verb::CfCount
            | Verb::CfDel
            | Verb::CfDebug
            | Verb::CfScandump
            | Verb::CfLoadchunk
            | Verb::CbfReserve
            | Verb::CbfAdd
            | Verb::CbfMadd
            | Verb::CbfDel
            | Verb::CbfCount
            | Verb::CbfExists
            | Verb::CbfMexists
            | Verb::MayhapLoad => false,
        }
    }

    /// Whether one of its words may be a whole filter, or a large part of one.
    pub fn takes_filters(&self) -> bool {
        matches!(
            self.verb,
            Verb::BfLoadchunk | Verb::CfLoadchunk | Verb::MayhapLoad | Verb::MayhapAt
        )
    }
}

impl<'a> Ask<'a> {
    /// The key that is asked.
    pub fn key(&self) -> &'a [u8] {
        self.key
    }

    /// The answer for what the key holds.
    pub fn ask(&self, slot: &Slot, context: &Context<'_>) -> Reply {
        match &self.question {
            Question::Bloom(question) => question.ask(slot, context),
            Question::Cuckoo(question) => question.ask(slot),
            Question::Counting(question) => question.ask(slot),
            Question::File => file::tell(slot),
        }
    }
}

impl<'a> Change<'a> {
    /// The key that is changed.
    pub fn key(&self) -> &'a [u8] {
        self.key
    }

    /// Keys that are read: those that `BF.MERGE` merges.
    pub fn sources(&self) -> &[&'a [u8]] {
        match &self.deed {
            Deed::Merge(sources) => sources,
            _ => &[],
        }
    }

    /// Whether the filter may take more memory afterwards than before; a host with a limit lets one such command at a time look at
    /// what is left.
    pub fn may_grow(&self, slot: &Slot) -> bool {
        match (&self.deed, slot) {
            (Deed::Bloom(deed), Slot::Bloom(filter)) => match deed {
                bf::Deed::Add(_) => !filter.has_room_for(1),
                bf::Deed::AddAll { items, .. } => !filter.has_room_for(items.len() as u64),
                bf::Deed::Reserve(_) | bf::Deed::Load { .. } => true,
            },
            (Deed::Cuckoo(deed), Slot::Cuckoo(filter)) => match deed {
                cf::Deed::Remove(_) | cf::Deed::Compact => false,
                cf::Deed::Add { .. } | cf::Deed::AddAll { .. } => filter.grows(),
                cf::Deed::Reserve(_) | cf::Deed::Load { .. } => true,
            },
            (Deed::Counting(_), Slot::Counting(_)) => false,
            _ => true,
        }
    }

    /// The same command, having come at that time.
    pub(crate) fn at(self, time: Timestamp) -> Self {
        Self {
            at: Some(time),
            ..self
        }
    }

    /// Applies the command to what its key holds, and for a merge what [`sources`](Self::sources) hold, in that order.
    pub fn apply(&self, slot: &mut Slot, sources: &[&Slot], context: &Context<'_>) -> Outcome {
        let now = self.at.unwrap_or(context.now);
        let outcome = self.apply_at(slot, sources, &Context { now, ..*context });
        match self.at {
            None => outcome,
            Some(time) => outcome.replaced_at(slot, time),
        }
    }

    fn apply_at(&self, slot: &mut Slot, sources: &[&Slot], context: &Context<'_>) -> Outcome {
        match &self.deed {
            Deed::Bloom(deed) => deed.apply(self.key, slot, context),
            Deed::Cuckoo(deed) => deed.apply(self.key, slot, context),
            Deed::Counting(deed) => deed.apply(self.key, slot, context),
            Deed::Merge(_) => merge::merge(slot, sources, context),
            Deed::Load(load) => load.apply(self.key, slot, context),
        }
    }
}
