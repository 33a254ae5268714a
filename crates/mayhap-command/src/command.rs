//! A parsed command. Every command is a struct in the file of its family (`bf/`, `cf/`, `cbf/`, `mayhap/`); this file lists the structs
//! in two enums, one for commands that read and one for commands that write, so that no command is allocated on the heap.
//!
//! A new command needs a struct with `parse` and `apply`, a line in one of the lists below, and a row in `table.rs`.

use crate::spec::Args;
use crate::{Config, Outcome, Reply, Slot, bf, cbf, cf, mayhap, table};
use mayhap_core::{SipKey, Timestamp};
use std::borrow::Cow;

/// A command whose arguments are valid.
#[derive(Clone, PartialEq, Debug)]
pub enum Command<'a> {
    /// It reads a filter.
    Query(Query<'a>),
    /// It may change a filter, or create one.
    Write(Write<'a>),
}

/// A command that reads the filter of a key.
#[derive(Clone, PartialEq, Debug)]
pub struct Query<'a> {
    key: &'a [u8],
    op: QueryOp<'a>,
}

/// A command that changes the filter of a key, or creates one.
#[derive(Clone, PartialEq, Debug)]
pub struct Write<'a> {
    key: &'a [u8],
    op: WriteOp<'a>,
}

/// The environment in which a command is applied.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The settings.
    pub config: &'a Config,
    /// The time of the command. When a log is replayed, the time at which the command ran first.
    pub now: Timestamp,
    /// The host's secret, for the hashes of new filters.
    pub secret: SipKey,
    /// The memory that one filter may take now; the setting may be lower.
    pub max_bytes: u64,
}

impl Context<'_> {
    /// The memory that one filter may take.
    pub(crate) fn max_bytes(&self) -> u64 {
        self.max_bytes.min(self.config.max_filter_bytes)
    }
}

/// What a command that reads provides besides `parse`.
pub(crate) trait ApplyQuery {
    /// The reply for the value of the command's key.
    fn apply(&self, slot: &Slot, context: &Context<'_>) -> Reply;

    /// The same query for a filter that is not in a key, if it makes sense there.
    fn as_generic(&self) -> Option<GenericQuery<'_>>;
}

/// What a command that writes provides besides `parse`.
pub(crate) trait ApplyWrite<'a> {
    /// Applies the command to the value of its key. `sources` are the values of the keys of [`sources`](Self::sources), in that order.
    fn apply(
        &self,
        key: &[u8],
        slot: &mut Slot,
        sources: &[&Slot],
        context: &Context<'_>,
    ) -> Outcome;

    /// Whether the filter may take more memory afterwards.
    fn may_grow(&self, slot: &Slot) -> bool;

    /// Other keys that are read.
    fn sources(&self) -> &[&'a [u8]] {
        &[]
    }
}

/// A query that every filter can answer, also one from a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GenericQuery<'a> {
    /// Whether the filter may contain an item.
    Contains(&'a [u8]),
    /// Whether the filter may contain each of these items.
    ContainsEach(&'a [&'a [u8]]),
    /// How often an item may be in the filter.
    Count(&'a [u8]),
    /// How many items the filter has.
    Items,
    /// The filter's parameters and figures.
    Info,
}

/// Declares the enum of all structs of one kind, how a struct becomes a variant, and how a variant is used.
macro_rules! operations {
    ($operations:ident: $apply:path; $($variant:ident($($command:tt)+),)*) => {
        #[derive(Clone, PartialEq, Debug)]
        enum $operations<'a> {
            $($variant($($command)+),)*
        }

        $(impl<'a> From<$($command)+> for $operations<'a> {
            fn from(command: $($command)+) -> Self {
                Self::$variant(command)
            }
        })*

        impl<'a> $operations<'a> {
            fn command(&self) -> &(dyn $apply + 'a) {
                match self {
                    $(Self::$variant(command) => command,)*
                }
            }
        }
    };
}

operations! {
    QueryOp: ApplyQuery;
    BfExists(bf::Exists<'a>),
    BfMexists(bf::Mexists<'a>),
    BfCard(bf::Card),
    BfInfo(bf::Info<'a>),
    BfDebug(bf::Debug),
    BfScandump(bf::Scandump<'a>),
    BfEstimate(bf::Estimate),
    CfExists(cf::Exists<'a>),
    CfMexists(cf::Mexists<'a>),
    CfCount(cf::Count<'a>),
    CfInfo(cf::Info),
    CfDebug(cf::Debug),
    CfScandump(cf::Scandump<'a>),
    CbfExists(cbf::Exists<'a>),
    CbfMexists(cbf::Mexists<'a>),
    CbfCount(cbf::Count<'a>),
    CbfInfo(cbf::Info),
    MayhapFile(mayhap::File),
}

operations! {
    WriteOp: ApplyWrite<'a>;
    BfReserve(bf::Reserve),
    BfAdd(bf::Add<'a>),
    BfInsert(bf::Insert<'a>),
    BfLoadchunk(bf::Loadchunk<'a>),
    BfMerge(bf::Merge<'a>),
    CfReserve(cf::Reserve),
    CfAdd(cf::Add<'a>),
    CfInsert(cf::Insert<'a>),
    CfDel(cf::Del<'a>),
    CfCompact(cf::Compact),
    CfLoadchunk(cf::Loadchunk<'a>),
    CbfReserve(cbf::Reserve),
    CbfAdd(cbf::Add<'a>),
    CbfMadd(cbf::Madd<'a>),
    CbfDel(cbf::Del<'a>),
    MayhapLoad(mayhap::Load<'a>),
    MayhapAt(mayhap::At<'a>),
}

impl<'a> Args<'_, 'a> {
    /// The command that reads the key of these arguments.
    #[expect(private_bounds, reason = "only this file names the variants")]
    pub(crate) fn query(&self, op: impl Into<QueryOp<'a>>) -> Command<'a> {
        let (key, op) = (self.key(), op.into());
        Command::Query(Query { key, op })
    }

    /// The command that writes the key of these arguments.
    #[expect(private_bounds, reason = "only this file names the variants")]
    pub(crate) fn write(&self, op: impl Into<WriteOp<'a>>) -> Command<'a> {
        let (key, op) = (self.key(), op.into());
        Command::Write(Write { key, op })
    }
}

impl<'a> Command<'a> {
    /// Finds a command by its name, the first argument, and parses it. Hosts that have found the row already call [`crate::FilterCommand::parse`].
    ///
    /// # Errors
    /// The error reply.
    pub fn parse(argv: &[&'a [u8]], config: &Config) -> Result<Self, Reply> {
        let name = argv.first().copied().unwrap_or_default();
        if let Some(command) = table::find(name) {
            return command.parse(argv, config);
        }
        let name = String::from_utf8_lossy(&name[..name.len().min(128)]);
        Err(Reply::Error(Cow::Owned(format!(
            "ERR unknown command '{}'",
            name.replace(['\r', '\n'], " ")
        ))))
    }
}

impl<'a> Query<'a> {
    /// The key that is read.
    pub fn key(&self) -> &'a [u8] {
        self.key
    }

    /// The reply for the value of the key.
    pub fn apply(&self, slot: &Slot, context: &Context<'_>) -> Reply {
        self.op.command().apply(slot, context)
    }

    /// The same query for a filter that is not in a key, if every filter can answer it.
    pub fn as_generic(&self) -> Option<GenericQuery<'_>> {
        self.op.command().as_generic()
    }
}

impl<'a> Write<'a> {
    /// The same command, to be run as it ran at another time.
    pub(crate) fn at(self, time: Timestamp) -> Self {
        Self {
            key: self.key,
            op: mayhap::At::new(time, self).into(),
        }
    }

    /// The key that is written.
    pub fn key(&self) -> &'a [u8] {
        self.key
    }

    /// Other keys that are read: the sources of `BF.MERGE`.
    pub fn sources(&self) -> &[&'a [u8]] {
        self.op.command().sources()
    }

    /// Whether the filter may take more memory afterwards. A host with a memory limit runs such commands one at a time.
    pub fn may_grow(&self, slot: &Slot) -> bool {
        self.op.command().may_grow(slot)
    }

    /// Applies the command to the value of its key. `sources` are the values of the keys of [`sources`](Self::sources), in that order.
    pub fn apply(&self, slot: &mut Slot, sources: &[&Slot], context: &Context<'_>) -> Outcome {
        self.op.command().apply(self.key, slot, sources, context)
    }

    /// Whether the result does not depend on the time of the host: the command carries its own, or uses none.
    pub(crate) fn is_independent_of_time(&self) -> bool {
        matches!(self.op, WriteOp::MayhapAt(_) | WriteOp::BfMerge(_))
    }
}
