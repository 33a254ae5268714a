//! Options.

/// When changes become durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Fsync {
    /// Before a commit returns: no acknowledged change is ever lost.
    Always,
    /// Once a second: a kill loses no acknowledged change, a power failure about one second of them.
    #[default]
    EverySecond,
    /// When the system decides to: a kill loses no acknowledged change.
    No,
}

/// Options for opening a journal.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct JournalOptions {
    /// When changes become durable.
    pub fsync: Fsync,
    /// If durable bytes are damaged, continue with what precedes the damage instead of returning an error. The rest is kept in
    /// files whose names end in `.lost`, and the summary reports it.
    pub accept_loss: bool,
    /// Whether a background thread syncs once a second. Without it, the caller calls [`crate::Journal::tick`].
    pub background: bool,
}

impl Default for JournalOptions {
    fn default() -> Self {
        Self {
            fsync: Fsync::default(),
            accept_loss: false,
            background: true,
        }
    }
}

impl JournalOptions {
    /// Sets the sync mode.
    #[must_use]
    pub fn fsync(mut self, fsync: Fsync) -> Self {
        self.fsync = fsync;
        self
    }

    /// Sets whether to continue after damage and lose what follows it.
    #[must_use]
    pub fn accept_loss(mut self, accept: bool) -> Self {
        self.accept_loss = accept;
        self
    }

    /// Sets whether a background thread calls [`crate::Journal::tick`].
    #[must_use]
    pub fn background(mut self, background: bool) -> Self {
        self.background = background;
        self
    }
}

impl Fsync {
    pub(crate) fn to_byte(self) -> u8 {
        match self {
            Self::Always => 0,
            Self::EverySecond => 1,
            Self::No => 2,
        }
    }

    pub(crate) fn from_byte(byte: u8) -> Self {
        match byte {
            0 => Self::Always,
            1 => Self::EverySecond,
            _ => Self::No,
        }
    }
}
