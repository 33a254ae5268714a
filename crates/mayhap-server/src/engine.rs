//! The server without its sockets: requests in, replies out, changes into the log.

use crate::call::{Call, Done, Failure, log_is_broken};
use crate::clients::{Client, Clients, Names};
use crate::clock::Clock;
use crate::commands::{self, Gate, long};
use crate::counters::Counters;
use crate::files::Files;
use crate::keyspace::Keyspace;
use crate::leases::Leases;
use crate::net::{ClientHandle, Next, Service, Timeouts};
use crate::out::Out;
use crate::pause::Pause;
use crate::record::Changes;
use crate::resp::{ProtocolError, RequestLimits};
use crate::session::Session;
use crate::settings::Settings;
use crate::slow::Slow;
use crate::snapshot::Snapshots;
use crate::stats_cache::StatsCache;
use arc_swap::ArcSwap;
use crossbeam_utils::sync::ShardedLock;
use mayhap_core::SipKey;
use mayhap_log::{Folder, Journal};
use parking_lot::Mutex;
use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Instant;

/// Everything that connections share.
pub(crate) struct Engine {
    pub(crate) keys: Keyspace,
    pub(crate) leases: Leases,
    pub(crate) journal: Journal<Folder>,
    /// Commands on one key share it; transactions, commands on several keys and the switch to a new log have it for themselves.
    pub(crate) gate: ShardedLock<()>,
    pub(crate) settings: ArcSwap<Settings>,
    /// One command at a time looks at the memory that is left and takes of it. Taken behind the gate and before a shard.
    pub(crate) growing: Mutex<()>,
    /// One change of the settings at a time.
    pub(crate) setting: Mutex<()>,
    pub(crate) clock: Clock,
    /// New native filters hash under it.
    pub(crate) secret: SipKey,
    pub(crate) clients: Clients,
    pub(crate) counters: Counters,
    pub(crate) slow: Slow,
    pub(crate) pause: Pause,
    /// What the sockets follow.
    pub(crate) timeouts: Arc<Timeouts>,
    pub(crate) snapshots: Snapshots,
    pub(crate) stats: StatsCache,
    pub(crate) files: Files,
    /// What all connections have between MULTI and EXEC.
    pub(crate) queued_bytes: Arc<AtomicUsize>,
    /// Set when the server is to end.
    pub(crate) is_ending: AtomicBool,
    pub(crate) run_id: String,
}

/// What everybody hears when the keys in memory are not to be trusted any more.
const SUSPECT: &[u8] =
    b"-ERR internal error: the server ends; everything that was acknowledged is in its log\r\n";

thread_local! {
    /// A worker's changes on their way into the log.
    static CHANGES: RefCell<Changes> = RefCell::default();
}

/// What came of a command besides its reply.
enum Ran {
    GoesOn(Next),
    Refused(Failure),
}

impl Engine {
    fn run(
        &self,
        (session, is_long): (&mut Session, bool),
        words: &[&[u8]],
        now: u64,
        out: &mut Vec<u8>,
    ) -> Ran {
        let command = match commands::find(words) {
            Ok(command) => command,
            Err(failure) => {
                if let Some(transaction) = &mut session.transaction {
                    transaction.is_spoilt = true;
                }
                return Ran::Refused(failure);
            }
        };
        if !session.is_known && !command.is_for_strangers() {
            return Ran::Refused("NOAUTH Authentication required.".into());
        }
        // What is queued changes nothing before EXEC.
        let is_queued = session.transaction.is_some() && !command.ends_queueing();
        let is_change = || !is_queued && command.is_change();
        if self.pause.holds(now, is_change) && !command.ends_pause(words) {
            return Ran::Refused(Failure::Busy);
        }
        session.last_command = command.full_name(words);
        let protocol = session.protocol;
        CHANGES.with_borrow_mut(|changes| {
            let mut call = Call {
                engine: self,
                session,
                words,
                now,
                out: Out {
                    bytes: out,
                    protocol,
                },
                changes,
                is_in_transaction: false,
                is_long,
                moved: Vec::new(),
            };
            let result = if call.session.transaction.is_some() && !command.ends_queueing() {
                commands::transaction::queue(&mut call, command)
            } else {
                self.run_behind_gate(&mut call, command)
            };
            match result {
                Ok(()) => Ran::GoesOn(command.next()),
                Err(failure) => Ran::Refused(failure),
            }
        })
    }

    fn run_behind_gate(&self, call: &mut Call<'_>, command: commands::Found) -> Done {
        if call.is_long {
            return self.run_long(call, command);
        }
        match command.gate(call.words) {
            Gate::Open => run_if_short(call, command),
            Gate::Shared => {
                let _shared = self.shared();
                run_if_short(call, command)
            }
            Gate::Exclusive => {
                let _alone = self.alone();
                run_if_short(call, command)
            }
        }
    }

    /// Without the gate: only who wants the same keys waits.
    fn run_long(&self, call: &mut Call<'_>, command: commands::Found) -> Done {
        let _lease = {
            let _alone = self.alone();
            long::check_free(call, command)?;
            self.leases.take(long::changed_keys(call, command))
        };
        command.run(call)
    }

    fn serve_on(
        &self,
        is_long: bool,
        session: &mut Session,
        words: &[&[u8]],
        out: &mut Vec<u8>,
    ) -> Next {
        let began = session.ended.unwrap_or_else(Instant::now);
        let now = self.clock.at(began);
        let start = out.len();
        let ran = catch_unwind(AssertUnwindSafe(|| {
            self.run((&mut *session, is_long), words, now, out)
        }));
        let next = match ran.unwrap_or_else(|panic| self.after_panic(session, &*panic)) {
            Ran::GoesOn(_) if self.keys.is_suspect() => Next::ShutDown,
            Ran::GoesOn(next) => next,
            Ran::Refused(failure @ (Failure::Busy | Failure::Long)) => {
                // Nothing was done, and nothing is acknowledged.
                session.is_unsettled = false;
                out.truncate(start);
                return match failure {
                    Failure::Long => Next::Offload,
                    _ => Next::Retry,
                };
            }
            Ran::Refused(Failure::Error(text)) => {
                out.truncate(start);
                let protocol = session.protocol;
                Out {
                    bytes: out,
                    protocol,
                }
                .error(&text);
                self.counters.errors.fetch_add(1, Ordering::Relaxed);
                if self.keys.is_suspect() {
                    Next::ShutDown
                } else {
                    Next::GoOn
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
        self.slow
            .note(&self.settings, session, words, now, ended - began);
        next
    }

    /// A command panicked, by a bug of ours. One that only read has done no harm; after one that changed something the server ends, and
    /// the log, which has whole changes only, is read again.
    fn after_panic(&self, session: &mut Session, panic: &(dyn Any + Send)) -> Ran {
        CHANGES.with_borrow_mut(crate::record::Changes::clear);
        let text = panic.downcast_ref::<&str>().copied().map(str::to_owned);
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        let text = text.unwrap_or_else(|| "no message".to_owned());
        let name = session.last_command;
        let what = if self.keys.is_suspect() {
            "what it changed may be damaged in memory: the server ends, and everything that was acknowledged is in the log"
        } else {
            "nothing was changed"
        };
        crate::report(&format!(
            "{name} panicked: {text}; {what}. Please report it"
        ));
        Ran::Refused(format!("ERR internal error in {name}: {text}; {what}").into())
    }

    /// What keys and served files take.
    pub(crate) fn used_bytes(&self) -> u64 {
        self.keys
            .used_bytes()
            .saturating_add(self.files.used_bytes())
    }

    /// Names of served files that no key of the same name hides.
    pub(crate) fn served_files(&self, now: u64) -> Vec<Box<[u8]>> {
        let mut names = self.files.names();
        names.retain(|name| !self.keys.look(name, now, |body| body.is_some()));
        names
    }

    /// What they may still take.
    pub(crate) fn room(&self) -> u64 {
        match self.settings.load().max_memory {
            0 => u64::MAX,
            most => most.saturating_sub(self.used_bytes()),
        }
    }

    /// Nobody panics while holding it but by a bug, and then the keys are still whole.
    pub(crate) fn shared(&self) -> crossbeam_utils::sync::ShardedLockReadGuard<'_, ()> {
        self.gate.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn alone(&self) -> crossbeam_utils::sync::ShardedLockWriteGuard<'_, ()> {
        self.gate.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the settings as a whole.
    pub(crate) fn set<E>(
        &self,
        change: impl FnOnce(&mut Settings) -> Result<(), E>,
    ) -> Result<(), E> {
        let _one_at_a_time = self.setting.lock();
        let mut settings = Settings::clone(&self.settings.load());
        change(&mut settings)?;
        self.slow.follow(&settings);
        settings.tell(&self.timeouts);
        self.files.set_most_bytes(settings.filters.max_filter_bytes);
        self.settings.store(Arc::new(settings));
        Ok(())
    }
}

fn run_if_short(call: &mut Call<'_>, command: commands::Found) -> Done {
    long::check_free(call, command)?;
    if long::is_long(call, command) {
        return Err(Failure::Long);
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
            .closed_strangers
            .fetch_add(closed, Ordering::Relaxed);
        Ok(Session::new(client, is_known))
    }

    fn limits(&self, session: &Session) -> &RequestLimits {
        // Before a client has given the password it cannot make us hold much.
        if session.is_known {
            &RequestLimits::AFTER_AUTH
        } else {
            &RequestLimits::BEFORE_AUTH
        }
    }

    fn serve(&self, session: &mut Session, words: &[&[u8]], out: &mut Vec<u8>) -> Next {
        self.serve_on(false, session, words, out)
    }

    fn serve_offloaded(&self, session: &mut Session, words: &[&[u8]], out: &mut Vec<u8>) -> Next {
        self.serve_on(true, session, words, out)
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
        if self.keys.is_suspect() {
            for (_, out) in round {
                out.clear();
                out.extend_from_slice(SUSPECT);
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
                    .saw(session.last_command, self.clock.at(ended));
            }
            if !session.unsettled_replies.is_empty() {
                waiting.push((std::mem::take(&mut session.unsettled_replies), out));
            }
        }
        self.counters.commands.fetch_add(served, Ordering::Relaxed);
        self.counters.add_lookups();
        // Any of these replies may show a change, its own or another's, whose record is still in memory: nobody is told of what a crash
        // would undo. When all records are as safe as the mode promises, this takes no lock and no system call.
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

/// Puts an error in the place of each of these replies: what they acknowledge is not safe.
fn refuse(out: &mut Vec<u8>, replies: &[std::ops::Range<usize>], text: &str) {
    let old = std::mem::take(out);
    let mut kept = 0;
    for reply in replies {
        out.extend_from_slice(&old[kept..reply.start]);
        if !reply.is_empty() {
            out.extend_from_slice(format!("-{text}\r\n").as_bytes());
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
