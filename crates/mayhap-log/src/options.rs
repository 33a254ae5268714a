//! What can be chosen.

/// When changes are on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Fsync {
    /// Before a commit returns: nothing that was acknowledged is lost, whatever happens.
    Always,
    /// Once a second: a kill loses nothing that was acknowledged, a loss of power at most about a second.
    #[default]
    EverySecond,
    /// When the system likes to: a kill loses nothing that was acknowledged.
    No,
}

/// How a journal is opened.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct JournalOptions {
    /// When changes are on the disk.
    pub fsync: Fsync,
    /// Goes on with what is before the damage where known-good bytes are damaged, instead of refusing. What comes after is kept in
    /// files whose names end in `.lost`, and the summary says what happened.
    pub accept_loss: bool,
    /// Whether a thread syncs once a second. Without it, somebody calls [`crate::Journal::tick`].
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
    /// The same with another mode.
    #[must_use]
    pub fn fsync(mut self, fsync: Fsync) -> Self {
        self.fsync = fsync;
        self
    }

    /// The same, going on where there is damage.
    #[must_use]
    pub fn accept_loss(mut self, accept: bool) -> Self {
        self.accept_loss = accept;
        self
    }

    /// The same, with or without a thread.
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
