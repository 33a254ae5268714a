//! MULTI, EXEC, DISCARD and WATCH: transactions, each of which is one record of the log.

use super::{ResolvedCommand, resolve};
use crate::call::{Call, CommandError, CommandResult};
use crate::keyspace::KeyEntry;
use crate::session::Transaction;
use mayhap_command::RespWriter;

/// The number of keys that a connection may watch.
const MAX_WATCHED: usize = 10_000;
/// The total length of their names.
const MAX_NAMES: usize = 1 << 20;
/// The size of the reply of a transaction: more is not buffered for a client that does not read.
const MAX_REPLY: usize = 256 << 20;

pub(super) fn multi(call: &mut Call<'_>) -> CommandResult {
    if call.session.transaction.is_some() {
        return Err("ERR MULTI calls can not be nested".into());
    }
    call.session.transaction = Some(Transaction::new(&call.engine.queued_bytes));
    call.out.ok();
    Ok(())
}

pub(super) fn discard(call: &mut Call<'_>) -> CommandResult {
    if call.session.transaction.take().is_none() {
        return Err("ERR DISCARD without MULTI".into());
    }
    call.session.watched.clear();
    call.out.ok();
    Ok(())
}

/// Queues a command for EXEC.
pub(crate) fn queue(call: &mut Call<'_>, command: ResolvedCommand) -> CommandResult {
    let Some(transaction) = &mut call.session.transaction else {
        return Ok(());
    };
    if !command.allowed_in_transaction() {
        transaction.has_error = true;
        return Err("ERR Command not allowed inside a transaction".into());
    }
    if !transaction.keep(call.args) {
        transaction.has_error = true;
        return Err("ERR the transaction is too large".into());
    }
    call.out.simple("QUEUED");
    Ok(())
}

pub(super) fn watch(call: &mut Call<'_>) -> CommandResult {
    if call.session.transaction.is_some() {
        return Err("ERR WATCH inside MULTI is not allowed".into());
    }
    let new = call.args.iter().map(|key| key.len()).sum::<usize>();
    let known = call
        .session
        .watched
        .keys()
        .map(|key| key.len())
        .sum::<usize>();
    let keys = call.session.watched.len() + call.args.len();
    if keys > MAX_WATCHED || new + known > MAX_NAMES {
        return Err("ERR too many keys are watched".into());
    }
    for &key in &call.args[1..] {
        if !call.session.watched.contains_key(key) {
            let look = |body: Option<&KeyEntry>| body.map(KeyEntry::version);
            let version = call.engine.keys.read(key, call.now, look);
            call.session.watched.insert(key.into(), version);
        }
    }
    call.out.ok();
    Ok(())
}

pub(super) fn unwatch(call: &mut Call<'_>) -> CommandResult {
    call.session.watched.clear();
    call.out.ok();
    Ok(())
}

/// Runs under the exclusive keyspace lock.
pub(super) fn exec(call: &mut Call<'_>) -> CommandResult {
    let transaction = call
        .session
        .transaction
        .take()
        .ok_or("ERR EXEC without MULTI")?;
    let watched = std::mem::take(&mut call.session.watched);
    if transaction.has_error {
        return Err("EXECABORT Transaction discarded because of previous errors.".into());
    }
    for (key, version) in watched {
        let look = |body: Option<&KeyEntry>| body.map(KeyEntry::version);
        if call.engine.keys.read(&key, call.now, look) != version {
            call.out.null_array();
            return Ok(());
        }
    }
    call.out.array(transaction.commands.len());
    for args in &transaction.commands {
        let args: Vec<&[u8]> = args.iter().map(|argument| &**argument).collect();
        run_queued(call, &args);
    }
    // All changes as one record.
    let _guard = call.keyspace_guard();
    call.log_whole()
}

fn run_queued(call: &mut Call<'_>, args: &[&[u8]]) {
    let start = call.out.bytes.len();
    let mut inner = Call {
        engine: call.engine,
        session: call.session,
        args,
        now: call.now,
        out: RespWriter {
            protocol: call.out.protocol,
            bytes: call.out.bytes,
        },
        changes: call.changes,
        is_in_transaction: true,
        is_long: call.is_long,
        moved: Vec::new(),
    };
    let args_bytes = args.iter().map(|argument| argument.len() as u64).sum();
    let result = inner
        .may_log(args_bytes)
        .and_then(|()| resolve(args)?.run(&mut inner));
    let protocol = inner.session.protocol;
    let mut moved = std::mem::take(&mut inner.moved);
    call.moved.append(&mut moved);
    if let Err(failure) = result {
        let text = match failure {
            CommandError::Error(text) => text,
            // All keys were free, and no other command has run since.
            CommandError::Busy | CommandError::Long => "ERR the key is in use: try again".into(),
        };
        call.out.bytes.truncate(start);
        call.out.error(&text);
    } else if call.out.bytes.len() > MAX_REPLY {
        call.out.bytes.truncate(start);
        call.out
            .error("ERR the reply of the transaction is too large: request less at once");
    }
    call.out.protocol = protocol;
}
