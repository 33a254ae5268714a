//! Moves one filter: loads it under a temporary name at the target, repeats until nothing changed at the source, and renames it.
//!
//! A reader of SCANDUMP sees a filter that may change between two chunks. A pass is only trusted if the header is the same before and
//! after it, and the next pass reads the same chunks. Item counts alone would miss LOADCHUNK, BF.MERGE and a key that was replaced.

use super::chunks::{self, BitCounter, Fingerprint};
use super::filter_type::{Family, FilterLayout, FilterType};
use super::info::FilterInfo;
use super::node::CommandError;
use super::report::Verdict;
use super::server::{Server, accepted, bytes_of, is_stopped, unexpected};
use super::slot;
use mayhap_codec::Limits;
use mayhap_codec::redis::dump;
use mayhap_command::Slot;
use redis::Value;
use std::time::{SystemTime, UNIX_EPOCH};

/// A Bloom filter that still changes after so many passes is not going to stop.
const MAX_PASSES: u32 = 8;
/// Temporary keys expire by themselves if a run is killed and never repeated.
const LEASE_MS: &[u8] = b"3600000";
/// What DUMP returns is held in memory twice.
pub(super) const MAX_DUMP_BYTES: u64 = 16 << 20;
/// The version of RDB that Redis 7.0 writes, which all later engines read.
const RDB_VERSION: u16 = 10;

/// Why a filter was not moved.
pub(super) enum MoveError {
    Command(CommandError),
    /// A verdict with its reason.
    Verdict(Verdict, String),
}

impl From<CommandError> for MoveError {
    fn from(error: CommandError) -> Self {
        Self::Command(error)
    }
}

pub(super) fn refused(reason: impl Into<String>) -> MoveError {
    MoveError::Verdict(Verdict::Refused, reason.into())
}

pub(super) fn failed(reason: impl Into<String>) -> MoveError {
    MoveError::Verdict(Verdict::Failed, reason.into())
}

fn expired() -> MoveError {
    MoveError::Verdict(Verdict::Expired, "it expired meanwhile".to_owned())
}

/// What was done.
pub(super) struct Moved {
    pub(super) passes: u32,
    /// From the bits themselves, where they are understood.
    pub(super) current_rate: Option<f64>,
}

/// The filter under its temporary name; removed unless it is renamed.
pub(super) struct Temporary<'t> {
    pub(super) target: &'t mut Server,
    name: Vec<u8>,
    /// Where an old value goes when it is replaced.
    old_name: Vec<u8>,
    is_there: bool,
}

impl<'t> Temporary<'t> {
    pub(super) fn new(target: &'t mut Server, key: &[u8], run: &str) -> Self {
        Self {
            target,
            name: slot::temporary_name(key, run),
            old_name: slot::temporary_name(key, &format!("{run}0")),
            is_there: false,
        }
    }

    /// Whether the target has the commands of this family. An engine replies to an unknown command with its arguments, and the client cannot
    /// read replies that are no text, as chunks and some keys are: so a command without any of these is tried first.
    pub(super) fn check_commands(&mut self, family: Family) -> Result<(), MoveError> {
        let name = slot::unused_name(&self.name);
        match self.target.run(&name, &[family.info_command(), &name]) {
            Err(error) if error.is_unknown_command() => Err(refused(format!(
                "the target has no such command ({}): load the module of mayhap or RedisBloom there",
                error.text()
            ))),
            Err(error @ (CommandError::Connection(_) | CommandError::Interrupted)) => {
                Err(error.into())
            }
            _ => Ok(()),
        }
    }

    /// Runs a command that creates the temporary key.
    pub(super) fn create(
        &mut self,
        command: &[u8],
        arguments: &[&[u8]],
    ) -> Result<(), CommandError> {
        // Whatever the reply is, something may be there.
        self.is_there = true;
        let mut words = vec![command, &self.name];
        words.extend(arguments);
        let reply = self.target.run(&self.name, &words)?;
        accepted(&String::from_utf8_lossy(command), &reply)?;
        self.renew()
    }

    pub(super) fn load(
        &mut self,
        family: Family,
        iterator: i64,
        chunk: &[u8],
    ) -> Result<(), CommandError> {
        chunks::load(self.target, family, &self.name, iterator, chunk)?;
        self.renew()
    }

    fn renew(&mut self) -> Result<(), CommandError> {
        match self.target.run(&self.name, &[b"PEXPIRE", &self.name, LEASE_MS])? {
            Value::Int(1) => Ok(()),
            _ => Err(CommandError::broken(
                "the temporary key at the target was removed: let only one migration of a key run at a time, and repeat it".to_owned(),
            )),
        }
    }

    pub(super) fn remove(&mut self) -> Result<(), CommandError> {
        if self.is_there {
            self.target.run(&self.name, &[b"UNLINK", &self.name])?;
            self.is_there = false;
        }
        Ok(())
    }

    /// Gives the filter its time to live and its name, atomically.
    pub(super) fn rename(
        &mut self,
        key: &[u8],
        expires: Option<i64>,
        replaces: bool,
    ) -> Result<(), MoveError> {
        if is_stopped() {
            return Err(CommandError::Interrupted.into());
        }
        if expires.is_some_and(|time| time <= now_ms()) {
            return Err(expired());
        }
        let time = expires.unwrap_or_default().to_string();
        let lifetime: Vec<&[u8]> = match expires {
            Some(_) => vec![b"PEXPIREAT", &self.name, time.as_bytes()],
            None => vec![b"PERSIST", &self.name],
        };
        // The old value gets a temporary name, because RENAME would free it at once, which takes long for a large one.
        let old = &self.old_name;
        let is_taken =
            replaces && matches!(self.target.run(key, &[b"EXISTS", key])?, Value::Int(1));
        let mut commands: Vec<Vec<&[u8]>> = vec![lifetime];
        if is_taken {
            commands.push(vec![b"RENAME", key, old]);
        }
        commands.push(vec![
            if replaces { b"RENAME" } else { b"RENAMENX" },
            &self.name,
            key,
        ]);
        let replies = self.target.run_atomically(key, &commands)?;
        let is_renamed = matches!(replies.last(), Some(Value::Okay | Value::Int(1)));
        if is_taken && is_renamed {
            self.target.run(old, &[b"UNLINK", old])?;
        } else if is_taken {
            // A transaction does not undo what succeeded. Nothing may be there to be undone.
            let _ = self.target.run(key, &[b"RENAMENX", old, key]);
        }
        let is_expired = expires.is_some_and(|time| time <= now_ms());
        match replies.last() {
            _ if is_renamed => {
                self.is_there = false;
                Ok(())
            }
            Some(Value::Int(_)) => Err(refused(
                "the key appeared at the target meanwhile: repeat this, or replace it with --replace",
            )),
            _ if is_expired => Err(expired()),
            Some(Value::ServerError(error)) => Err(failed(format!(
                "the target does not rename the temporary key: {} {}",
                error.code(),
                error.details().unwrap_or_default()
            ))),
            _ => Err(failed(
                "the target did not rename the temporary key: repeat this",
            )),
        }
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        // Without a connection, the lease removes it.
        let _ = self.remove();
    }
}

pub(super) fn now_ms() -> i64 {
    let elapsed = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX)
}

/// When the key expires, in milliseconds since 1970; `None` if it does not. A key that is gone is an error.
pub(super) fn expiry(server: &mut Server, key: &[u8]) -> Result<Option<i64>, CommandError> {
    let time = match server.run(key, &[b"PEXPIRETIME", key]) {
        // Before Redis 7.0.
        Err(error) if error.is_unknown_command() => match server.run(key, &[b"PTTL", key])? {
            Value::Int(left) if left >= 0 => Value::Int(now_ms().saturating_add(left)),
            other => other,
        },
        reply => reply?,
    };
    match time {
        Value::Int(-1) => Ok(None),
        Value::Int(-2) => Err(CommandError::broken(
            "the key was removed meanwhile: repeat this".to_owned(),
        )),
        Value::Int(time) if time >= 0 => Ok(Some(time)),
        other => Err(unexpected("PEXPIRETIME", &other)),
    }
}

fn dump_of(server: &mut Server, key: &[u8]) -> Result<Option<Vec<u8>>, CommandError> {
    Ok(bytes_of(server.run(key, &[b"DUMP", key])?))
}

/// Whether both servers have the same value, apart from the version of RDB that they write.
pub(super) fn is_equal_dump(
    source: &mut Server,
    target: &mut Server,
    key: &[u8],
) -> Result<bool, CommandError> {
    let payload =
        |dump: Option<Vec<u8>>| dump.map(|dump| dump::with_rdb_version(dump, RDB_VERSION));
    Ok(payload(dump_of(source, key)?) == payload(dump_of(target, key)?))
}

/// Whether the server has this filter.
pub(super) fn is_dump_of(
    server: &mut Server,
    key: &[u8],
    slot: &Slot,
) -> Result<bool, CommandError> {
    let there = dump_of(server, key)?;
    let there = there.and_then(|dump| Slot::restore(&dump, Limits::default()).ok());
    Ok(there.as_ref() == Some(slot))
}

/// The filter that is moved.
pub(super) struct LiveFilter<'a> {
    pub(super) source: &'a mut Server,
    pub(super) kind: FilterType,
    pub(super) key: &'a [u8],
    pub(super) info: &'a FilterInfo,
}

impl LiveFilter<'_> {
    /// Moves the filter.
    pub(super) fn move_to(
        &mut self,
        mut temporary: Temporary<'_>,
        replaces: bool,
    ) -> Result<Moved, MoveError> {
        temporary.check_commands(self.kind.family)?;
        let moved = match self.copy_chunks(&mut temporary)? {
            Some(moved) => moved,
            None => self.copy_whole(&mut temporary)?,
        };
        let expires = expiry(self.source, self.key)?;
        temporary.rename(self.key, expires, replaces)?;
        Ok(moved)
    }

    fn header(&mut self) -> Result<Option<Vec<u8>>, CommandError> {
        let header = chunks::scan(self.source, self.kind.family, self.key, 0)?;
        Ok(header.map(|(_, header)| header))
    }

    /// Copies chunks in passes until one changes nothing; `None` if the filter has no chunks.
    fn copy_chunks(&mut self, temporary: &mut Temporary<'_>) -> Result<Option<Moved>, MoveError> {
        let mut loaded: Option<Fingerprint> = None;
        for pass in 1..=MAX_PASSES {
            let Some(header) = self.header()? else {
                // The last item may have been removed between two passes.
                return match loaded {
                    Some(_) => Err(self.must_pause()),
                    None if self.kind.is_classic_cuckoo() => {
                        self.copy_empty_cuckoo(temporary).map(Some)
                    }
                    None => Ok(None),
                };
            };
            let mut is_unchanged = true;
            if loaded.as_ref().is_none_or(|loaded| loaded.header != header) {
                if loaded.is_some() && self.kind.family == Family::Cuckoo {
                    return Err(self.must_pause());
                }
                temporary.remove()?;
                match self.load_header(temporary, &header) {
                    Ok(()) => {}
                    Err(error @ CommandError::Server { .. }) => {
                        return Err(self.not_accepted(error));
                    }
                    Err(error) => return Err(error.into()),
                }
                loaded = Some(Fingerprint {
                    header: header.clone(),
                    chunks: Vec::new(),
                });
                is_unchanged = false;
            }
            let known = loaded.get_or_insert_default();
            let mut bits = BitCounter::new(self.kind, &header);
            let is_native = self.kind.layout == FilterLayout::Native;
            let mut restarts = false;
            let mut count = 0;
            let read = chunks::read_all(
                self.source,
                self.kind.family,
                self.key,
                |number, chunk, bytes| {
                    bits.count(chunk.0, bytes);
                    count = number + 1;
                    if known.chunks.get(number) == Some(&chunk) || restarts {
                        return Ok(());
                    }
                    is_unchanged = false;
                    // A native filter may be complete after its last chunk, and accepts no others then.
                    if is_native && known.chunks.len() > number {
                        restarts = true;
                        return Ok(());
                    }
                    temporary.load(self.kind.family, chunk.0, bytes)?;
                    match known.chunks.get_mut(number) {
                        Some(place) => *place = chunk,
                        None => known.chunks.push(chunk),
                    }
                    Ok(())
                },
            );
            let is_same_header = self.header()?.as_ref() == Some(&header);
            match read {
                // The chunks of a filter that changed meanwhile may not fit each other.
                Err(CommandError::Server { .. }) if !is_same_header => restarts = true,
                read => read?,
            }
            if is_unchanged && is_same_header && count == known.chunks.len() {
                return Ok(Some(Moved {
                    passes: pass,
                    current_rate: bits.rate(),
                }));
            }
            let is_first = pass == 1;
            if self.kind.family == Family::Cuckoo && !(is_first && is_same_header && !restarts) {
                return Err(self.must_pause());
            }
            if restarts || count != known.chunks.len() {
                loaded = None;
            }
        }
        Err(self.must_pause())
    }

    fn load_header(
        &self,
        temporary: &mut Temporary<'_>,
        header: &[u8],
    ) -> Result<(), CommandError> {
        match self.kind.family.chunk_commands() {
            Some((_, command)) => temporary.create(command, &[b"1", header]),
            None => Ok(()),
        }
    }

    fn must_pause(&self) -> MoveError {
        failed(match self.kind.family {
            Family::Bloom => {
                "the source changed during every pass: writes must pause while it is moved"
            }
            Family::Cuckoo | Family::Counting => {
                "the source changed while it was read: writes to this filter must pause while it is moved"
            }
        })
    }

    /// Why the target does not accept the header, or the dump.
    fn not_accepted(&self, error: CommandError) -> MoveError {
        if error.advice().is_some() {
            return error.into();
        }
        let needs = match self.kind.layout {
            FilterLayout::Native => {
                "it needs mayhap, since a filter cannot be converted without its keys"
            }
            FilterLayout::RedisBloom => "it needs mayhap or RedisBloom",
        };
        refused(format!(
            "the target does not accept the filter ({}): {needs}, and memory for {} bytes",
            error.text(),
            self.info.size_bytes()
        ))
    }

    /// The filter has tables without items: its header is all that is needed.
    fn copy_empty_cuckoo(&mut self, temporary: &mut Temporary<'_>) -> Result<Moved, MoveError> {
        let before = FilterInfo::read(self.source, Family::Cuckoo, self.key)?;
        let header = before
            .empty_cuckoo_header()
            .filter(|_| before.items() == Some(0));
        let header = header.ok_or_else(|| self.must_pause())?;
        self.load_header(temporary, &header)?;
        if FilterInfo::read(self.source, Family::Cuckoo, self.key)? != before {
            return Err(self.must_pause());
        }
        Ok(Moved {
            passes: 1,
            current_rate: Some(0.0),
        })
    }

    fn fits_dump(&self) -> bool {
        self.info.size_bytes() <= MAX_DUMP_BYTES
    }

    /// Copies a filter without chunks by DUMP and RESTORE, until two dumps are equal.
    fn copy_whole(&mut self, temporary: &mut Temporary<'_>) -> Result<Moved, MoveError> {
        if !self.fits_dump() {
            let what = match self.kind.family {
                Family::Counting => "counting filters have no chunks",
                Family::Bloom | Family::Cuckoo => {
                    "this filter has no chunks: it is empty, or still being loaded"
                }
            };
            return Err(refused(format!(
                "{what}, and it is larger than 16 MiB, which DUMP and RESTORE would block for long: move it by replication, or by an RDB file"
            )));
        }
        let mut loaded = Vec::new();
        for pass in 1..=MAX_PASSES {
            let payload = dump_of(self.source, self.key)?;
            let payload = payload.ok_or_else(|| failed("the key was removed meanwhile"))?;
            if payload == loaded {
                return Ok(Moved {
                    passes: pass,
                    current_rate: None,
                });
            }
            if pass > 1 && self.kind.family == Family::Cuckoo {
                return Err(self.must_pause());
            }
            temporary.remove()?;
            loaded.clone_from(&payload);
            let payload = dump::with_rdb_version(payload, RDB_VERSION);
            match temporary.create(b"RESTORE", &[b"0", &payload]) {
                Err(error @ CommandError::Server { .. }) => return Err(self.not_accepted(error)),
                restored => restored?,
            }
        }
        Err(self.must_pause())
    }
}
