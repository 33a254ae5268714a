//! The server without its sockets: it runs requests, writes replies, and logs changes.

use crate::call::{Call, CommandError, CommandResult, log_is_broken};
use crate::clients::{Client, Clients, Names};
use crate::clock::Clock;
use crate::command_times::{self, CommandNumber, CommandTimes};
use crate::commands::{self, KeyspaceAccess, long};
use crate::counters::Counters;
use crate::files::ServedFiles;
use crate::filter_table::FilterTable;
use crate::keyspace::Keyspace;
use crate::leases::Leases;
use crate::net::{AfterReply, ClientHandle, Service, Timeouts};
use crate::pause::Pause;
use crate::record::Changes;
use crate::resp::{ProtocolError, RequestLimits};
use crate::session::Session;
use crate::settings::Settings;
use crate::slowlog::Slowlog;
use crate::snapshot::Snapshots;
use crate::stats_cache::StatsCache;
use arc_swap::ArcSwap;
use crossbeam_utils::sync::ShardedLock;
use mayhap_command::{Protocol, RespWriter};
use mayhap_core::SipKey;
use mayhap_log::{Folder, Journal};
use parking_lot::Mutex;
use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Instant;

/// The state that all connections share.
pub(crate) struct Engine {
    pub(crate) keys: Keyspace,
    pub(crate) leases: Leases,
    pub(crate) journal: Journal<Folder>,
    /// Commands on one key hold it shared; transactions, commands on several keys and the switch to a new log hold it exclusively.
    pub(crate) keyspace_lock: ShardedLock<()>,
    pub(crate) settings: ArcSwap<Settings>,
    /// Serialises commands that check the remaining memory and allocate. Taken after the keyspace lock and before the lock of a shard.
    pub(crate) memory_lock: Mutex<()>,
    /// Serialises changes of the settings.
    pub(crate) settings_lock: Mutex<()>,
    pub(crate) clock: Clock,
    /// The hash key of new native filters.
    pub(crate) secret: SipKey,
    pub(crate) clients: Clients,
    pub(crate) counters: Counters,
    pub(crate) times: CommandTimes,
    pub(crate) slowlog: Slowlog,
    pub(crate) pause: Pause,
    /// The time limits of connections.
    pub(crate) timeouts: Arc<Timeouts>,
    pub(crate) snapshots: Snapshots,
    pub(crate) stats: StatsCache,
    pub(crate) filter_table: FilterTable,
    pub(crate) files: ServedFiles,
    /// The size of all queued commands, between MULTI and EXEC.
    pub(crate) queued_bytes: Arc<AtomicUsize>,
    /// Set when the server shuts down.
    pub(crate) is_ending: AtomicBool,
    pub(crate) run_id: String,
}

/// The reply to every client once the keys in memory may be damaged.
const MEMORY_DAMAGED: &[u8] =
    b"-ERR internal error: the server shuts down; everything that was acknowledged is in its log\r\n";

thread_local! {
    /// A worker's changes that are not yet in the log.
    static CHANGES: RefCell<Changes> = RefCell::default();
}

/// The result of a command besides its reply.
enum Executed {
    Done(AfterReply),
    Failed(CommandError),
}

impl Engine {
    fn run(
        &self,
        (session, is_long): (&mut Session, bool),
        args: &[&[u8]],
        now: u64,
        out: &mut Vec<u8>,
    ) -> Executed {
        let command = match commands::resolve(args) {
            Ok(command) => command,
            Err(failure) => {
                if let Some(transaction) = &mut session.transaction {
                    transaction.has_error = true;
                }
                return Executed::Failed(failure);
            }
        };
        if !session.is_authenticated && !command.allowed_before_auth() {
            return Executed::Failed("NOAUTH Authentication required.".into());
        }
        // Queued commands change nothing before EXEC.
        let is_queued = session.transaction.is_some() && !command.is_never_queued();
        let is_change = || !is_queued && command.is_change();
        if self.pause.is_paused(now, is_change) && !command.ignores_pause(args) {
            return Executed::Failed(CommandError::Busy);
        }
        session.last_command = command.full_name(args);
        session.command_number = Some(CommandNumber::new(command));
        let protocol = session.protocol;
        CHANGES.with_borrow_mut(|changes| {
            let mut call = Call {
                engine: self,
                session,
                args,
                now,
                out: RespWriter {
                    bytes: out,
                    protocol,
                },
                changes,
                is_in_transaction: false,
                is_long,
                moved: Vec::new(),
            };
            let result = if call.session.transaction.is_some() && !command.is_never_queued() {
                commands::transaction::queue(&mut call, command)
            } else {
                self.run_locked(&mut call, command)
            };
            match result {
                Ok(()) => Executed::Done(command.after_reply()),
                Err(failure) => Executed::Failed(failure),
            }
        })
    }

    fn run_locked(&self, call: &mut Call<'_>, command: commands::ResolvedCommand) -> CommandResult {
        if call.is_long {
            return self.run_long(call, command);
        }
        match command.keyspace_access() {
            KeyspaceAccess::Open => run_if_short(call, command),
            KeyspaceAccess::Shared => {
                let _guard = self.shared();
                run_if_short(call, command)
            }
            KeyspaceAccess::Exclusive => {
                let _guard = self.exclusive();
                run_if_short(call, command)
            }
        }
    }

    /// Runs without the keyspace lock: only commands on the same keys wait.
    fn run_long(&self, call: &mut Call<'_>, command: commands::ResolvedCommand) -> CommandResult {
        let _lease = {
            let _guard = self.exclusive();
            long::check_free(call, command)?;
            self.leases.lease(long::changed_keys(call, command))
        };
        command.run(call)
    }

    fn serve_on(
        &self,
        is_long: bool,
        session: &mut Session,
        args: &[&[u8]],
        out: &mut Vec<u8>,
    ) -> AfterReply {
        let began = session.ended.unwrap_or_else(Instant::now);
        let now = self.clock.at(began);
        let start = out.len();
        let ran = catch_unwind(AssertUnwindSafe(|| {
            self.run((&mut *session, is_long), args, now, out)
        }));
        let next = match ran.unwrap_or_else(|panic| self.after_panic(session, &*panic)) {
            Executed::Done(_) if self.keys.is_memory_damaged() => AfterReply::ShutDown,
            Executed::Done(next) => next,
            Executed::Failed(failure @ (CommandError::Busy | CommandError::Long)) => {
                // Nothing was changed, and nothing is acknowledged.
                session.is_unsettled = false;
                out.truncate(start);
                return match failure {
                    CommandError::Long => AfterReply::Offload,
                    _ => AfterReply::Retry,
                };
            }
            Executed::Failed(CommandError::Error(text)) => {
                out.truncate(start);
                let protocol = session.protocol;
                RespWriter {
                    bytes: out,
                    protocol,
                }
                .error(&text);
                self.counters.errors.fetch_add(1, Ordering::Relaxed);
                if self.keys.is_memory_damaged() {
                    AfterReply::ShutDown
                } else {
                    AfterReply::GoOn
                }
            }
        };
        if !session.sends_reply() {
            out.truncate(start);
        }
        if std::mem::take(&mut session.is_unsettled) {
            session.unsettled_replies.push(start..out.len());
        }
        session.served += 1;
        let ended = Instant::now();
        session.ended = Some(ended);
        if let Some(number) = session.command_number.take() {
            command_times::record(number, ended - began);
        }
        self.slowlog
            .record(&self.settings, session, args, now, ended - began);
        next
    }

    /// A command panicked because of a bug. If it only read, nothing is damaged. If it changed something, the server shuts down, and the
    /// next start replays the log, which contains only complete changes.
    fn after_panic(&self, session: &mut Session, panic: &(dyn Any + Send)) -> Executed {
        CHANGES.with_borrow_mut(crate::record::Changes::clear);
        let text = panic.downcast_ref::<&str>().copied().map(str::to_owned);
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        let text = text.unwrap_or_else(|| "no message".to_owned());
        let name = session.last_command;
        let what = if self.keys.is_memory_damaged() {
            "the changed data may be damaged in memory: the server shuts down, and everything that was acknowledged is in the log"
        } else {
            "nothing was changed"
        };
        crate::report(&format!(
            "{name} panicked: {text}; {what}. Please report it"
        ));
        Executed::Failed(format!("ERR internal error in {name}: {text}; {what}").into())
    }

    /// The memory of keys and served files.
    pub(crate) fn used_bytes(&self) -> u64 {
        self.keys
            .used_bytes()
            .saturating_add(self.files.used_bytes())
    }

    /// The names of served files, except those that a key of the same name hides.
    pub(crate) fn served_files(&self, now: u64) -> Vec<Box<[u8]>> {
        let mut names = self.files.names();
        names.retain(|name| !self.keys.read(name, now, |body| body.is_some()));
        names
    }

    /// The memory that they may still take.
    pub(crate) fn available_bytes(&self) -> u64 {
        match self.settings.load().max_memory {
            0 => u64::MAX,
            max_memory => max_memory.saturating_sub(self.used_bytes()),
        }
    }

    /// Ignores poisoning: a panic under this lock is a bug that is handled elsewhere.
    pub(crate) fn shared(&self) -> crossbeam_utils::sync::ShardedLockReadGuard<'_, ()> {
        self.keyspace_lock
            .read()
            .unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn exclusive(&self) -> crossbeam_utils::sync::ShardedLockWriteGuard<'_, ()> {
        self.keyspace_lock
            .write()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the settings atomically.
    pub(crate) fn set<E>(
        &self,
        change: impl FnOnce(&mut Settings) -> Result<(), E>,
    ) -> Result<(), E> {
        let _one_at_a_time = self.settings_lock.lock();
        let mut settings = Settings::clone(&self.settings.load());
        change(&mut settings)?;
        self.slowlog.apply_settings(&settings);
        settings.apply_timeouts(&self.timeouts);
        self.files.set_max_bytes(settings.filters.max_filter_bytes);
        self.settings.store(Arc::new(settings));
        Ok(())
    }
}

fn run_if_short(call: &mut Call<'_>, command: commands::ResolvedCommand) -> CommandResult {
    long::check_free(call, command)?;
    if long::is_long(call, command) {
        return Err(CommandError::Long);
    }
    command.run(call)
}

impl Service for Engine {
    type Session = Session;

    fn connect(&self, handle: ClientHandle) -> Result<Session, Vec<u8>> {
        let settings = self.settings.load();
        let now = self.clock.now();
        let client = Arc::new(Client {
            handle,
            since: now,
            seen: AtomicU64::new(now),
            is_new_protocol: AtomicBool::new(false),
            names: Mutex::new(Names::default()),
        });
        let is_known = settings.password.is_empty();
        let Some(closed) = self.clients.admit(&client, is_known, settings.max_clients) else {
            self.counters
                .refused_clients
                .fetch_add(1, Ordering::Relaxed);
            return Err(b"-ERR max number of clients reached\r\n".to_vec());
        };
        self.counters.clients.fetch_add(1, Ordering::Relaxed);
        self.counters
            .closed_unauthenticated
            .fetch_add(closed, Ordering::Relaxed);
        Ok(Session::new(client, is_known))
    }

    fn limits(&self, session: &Session) -> &RequestLimits {
        // Before a client has authenticated, it may use little memory.
        if session.is_authenticated {
            &RequestLimits::AFTER_AUTH
        } else {
            &RequestLimits::BEFORE_AUTH
        }
    }

    fn serve(&self, session: &mut Session, args: &[&[u8]], out: &mut Vec<u8>) -> AfterReply {
        self.serve_on(false, session, args, out)
    }

    fn serve_offloaded(
        &self,
        session: &mut Session,
        args: &[&[u8]],
        out: &mut Vec<u8>,
    ) -> AfterReply {
        self.serve_on(true, session, args, out)
    }

    fn refuse(&self, session: &Session, error: ProtocolError) {
        self.counters.errors.fetch_add(1, Ordering::Relaxed);
        if error == ProtocolError::Http {
            self.counters.refuse_http(&session.client.handle.peer);
        }
    }

    fn settle<'s>(&self, round: &mut dyn Iterator<Item = (&'s mut Session, &'s mut Vec<u8>)>)
    where
        Session: 's,
    {
        if self.keys.is_memory_damaged() {
            for (_, out) in round {
                out.clear();
                out.extend_from_slice(MEMORY_DAMAGED);
            }
            return;
        }
        let mut waiting = Vec::new();
        let mut served = 0;
        for (session, out) in round {
            served += std::mem::take(&mut session.served);
            if let Some(ended) = session.ended.take() {
                session
                    .client
                    .record_command(session.last_command, self.clock.at(ended));
            }
            if !session.unsettled_replies.is_empty() {
                waiting.push((std::mem::take(&mut session.unsettled_replies), out));
            }
        }
        self.counters.commands.fetch_add(served, Ordering::Relaxed);
        self.counters.add_lookups();
        self.times.add_round();
        // Each of these replies may reveal a change whose record is still in memory. No reply is sent for a change that a crash would undo.
        // If all records are as durable as the mode promises, this takes no lock and makes no system call.
        if let Err(broken) = self.journal.commit(self.journal.last_lsn()) {
            let text = log_is_broken(&broken);
            for (replies, out) in waiting {
                refuse(out, &replies, &text);
            }
        }
    }

    fn disconnect(&self, session: Session) {
        self.clients.remove(session.client.handle.id);
    }
}

/// Replaces each of these replies by an error, because what they acknowledge is not durable.
fn refuse(out: &mut Vec<u8>, replies: &[std::ops::Range<usize>], text: &str) {
    let old = std::mem::take(out);
    let mut kept = 0;
    for reply in replies {
        out.extend_from_slice(&old[kept..reply.start]);
        if !reply.is_empty() {
            let protocol = Protocol::Resp2;
            RespWriter {
                bytes: out,
                protocol,
            }
            .error(text);
        }
        kept = reply.end;
    }
    out.extend_from_slice(&old[kept..]);
}

#[cfg(test)]
mod tests {
    use super::refuse;

    #[test]
    fn only_what_is_not_safe_is_taken_back() {
        let mut out = b"+PONG\r\n:1\r\n$1\r\nx\r\n:0\r\n".to_vec();
        refuse(&mut out, &[7..11, 18..22], "ERR no");
        assert_eq!(out, b"+PONG\r\n-ERR no\r\n$1\r\nx\r\n-ERR no\r\n");
    }
}
