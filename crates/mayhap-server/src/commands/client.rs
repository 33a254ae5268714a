//! CLIENT: lists, names, pauses and closes connections.

use crate::call::{Call, CommandError, CommandResult, SYNTAX, lossy};
use crate::clients::Client;
use crate::session::Replies;
use mayhap_command::integer;
use std::sync::Arc;

pub(super) fn client(call: &mut Call<'_>) -> CommandResult {
    let word = call.args[1].to_ascii_lowercase();
    match (word.as_slice(), call.args.len()) {
        (b"id", 2) => call.out.count(call.session.client.handle.id),
        (b"info", 2) => {
            show_itself(call);
            let line = call.session.client.line(call.now) + "\n";
            call.out.text(&line);
        }
        (b"list", _) => return list(call),
        (b"kill", 3..) => return kill(call),
        (b"getname", 2) => {
            let name = call.session.client.names.lock().name.clone();
            if name.is_empty() {
                call.out.null();
            } else {
                call.out.bulk(name);
            }
        }
        (b"setname", 3) => {
            set_name(call, call.args[2])?;
            call.out.ok();
        }
        (b"setinfo", 4) => return set_info(call),
        (b"reply", 3) => return reply(call),
        (b"no-evict" | b"no-touch", 3) if call.is(2, "on") || call.is(2, "off") => call.out.ok(),
        (b"tracking", 3) if call.is(2, "off") => call.out.ok(),
        (b"no-evict" | b"no-touch" | b"tracking", _) => return Err(SYNTAX.into()),
        (b"pause", 3..=4) => return pause(call),
        (b"unpause", 2) => {
            call.engine.pause.end();
            call.out.ok();
        }
        _ => {
            return Err(unknown_subcommand("CLIENT", &word));
        }
    }
    Ok(())
}

pub(super) fn unknown_subcommand(command: &str, word: &[u8]) -> CommandError {
    let word = lossy(word);
    format!("ERR unknown subcommand or wrong number of arguments for '{word}'. Try {command} HELP.")
        .into()
}

/// CLIENT LIST separates fields by spaces, so names must not contain any.
fn is_plain(text: &[u8]) -> bool {
    text.iter().all(|byte| (b'!'..=b'~').contains(byte))
}

pub(super) fn set_name(call: &mut Call<'_>, name: &[u8]) -> CommandResult {
    if !is_plain(name) || name.len() > 1024 {
        return Err(
            "ERR Client names cannot contain spaces, newlines or special characters.".into(),
        );
    }
    call.session.client.names.lock().name = String::from_utf8_lossy(name).into_owned();
    Ok(())
}

fn set_info(call: &mut Call<'_>) -> CommandResult {
    let value = call.args[3];
    let option = lossy(call.args[2]).to_ascii_lowercase();
    if !is_plain(value) || value.len() > 1024 {
        return Err(
            format!("ERR {option} cannot contain spaces, newlines or special characters.").into(),
        );
    }
    let value = String::from_utf8_lossy(value).into_owned();
    let mut names = call.session.client.names.lock();
    match option.as_str() {
        "lib-name" => names.library = value,
        "lib-ver" => names.library_version = value,
        _ => return Err(format!("ERR Unrecognized option '{option}'").into()),
    }
    drop(names);
    call.out.ok();
    Ok(())
}

fn pause(call: &mut Call<'_>) -> CommandResult {
    let time = integer(call.args[2]).ok_or("ERR timeout is not an integer or out of range")?;
    let time = u64::try_from(time).map_err(|_| "ERR timeout is negative")?;
    let is_for_all = match call.args.get(3) {
        None => true,
        Some(word) if word.eq_ignore_ascii_case(b"all") => true,
        Some(word) if word.eq_ignore_ascii_case(b"write") => false,
        Some(_) => return Err("ERR CLIENT PAUSE mode must be WRITE or ALL".into()),
    };
    let until = call.now.saturating_add(time);
    call.engine.pause.begin(call.now, until, is_for_all);
    call.out.ok();
    Ok(())
}

fn reply(call: &mut Call<'_>) -> CommandResult {
    if call.is(2, "on") {
        call.session.replies = Replies::All;
        call.out.ok();
    } else if call.is(2, "off") {
        call.session.replies = Replies::None;
    } else if call.is(2, "skip") {
        call.session.replies = Replies::SkipThisAndNext;
    } else {
        return Err(SYNTAX.into());
    }
    Ok(())
}

/// All clients are of type `normal`. Other types are accepted and match none.
fn is_normal(word: &[u8]) -> Result<bool, CommandError> {
    match word.to_ascii_lowercase().as_slice() {
        b"normal" => Ok(true),
        b"master" | b"replica" | b"slave" | b"pubsub" => Ok(false),
        _ => Err(format!("ERR Unknown client type '{}'", lossy(word)).into()),
    }
}

/// Lists other clients with their last command, and this one with the current command.
fn show_itself(call: &Call<'_>) {
    let session = &call.session;
    session
        .client
        .record_command(session.last_command, call.now);
}

fn list(call: &mut Call<'_>) -> CommandResult {
    show_itself(call);
    let mut clients = call.engine.clients.all();
    if call.args.len() > 2 {
        if call.is(2, "type") && call.args.len() == 4 {
            if !is_normal(call.args[3])? {
                clients.clear();
            }
        } else if call.is(2, "id") && call.args.len() > 3 {
            let ids: Vec<Option<i64>> = call.args[3..].iter().map(|word| integer(word)).collect();
            if ids.contains(&None) {
                return Err("ERR Invalid client ID".into());
            }
            clients.retain(|client| ids.contains(&i64::try_from(client.handle.id).ok()));
        } else {
            return Err(SYNTAX.into());
        }
    }
    let mut text = String::new();
    for client in clients {
        text += &client.line(call.now);
        text.push('\n');
    }
    call.out.text(&text);
    Ok(())
}

/// Its worker closes the connection soon. It is not listed any more.
fn close(call: &Call<'_>, client: &Client) {
    client.handle.kill();
    call.engine.clients.remove(client.handle.id);
}

fn kill(call: &mut Call<'_>) -> CommandResult {
    let own = call.session.client.handle.id;
    if call.args.len() == 3 {
        let peer = String::from_utf8_lossy(call.args[2]).into_owned();
        let clients = call.engine.clients.all();
        let Some(found) = clients.iter().find(|client| *client.handle.peer == *peer) else {
            return Err("ERR No such client".into());
        };
        close(call, found);
        call.out.ok();
        return Ok(());
    }
    let mut clients = call.engine.clients.all();
    let mut skips_own = true;
    for pair in call.args[2..].chunks(2) {
        let [option, value] = pair else {
            return Err(SYNTAX.into());
        };
        let text = String::from_utf8_lossy(value).into_owned();
        let mut keep = |fits: &dyn Fn(&Arc<Client>) -> bool| clients.retain(|client| fits(client));
        match option.to_ascii_lowercase().as_slice() {
            b"id" => {
                let id = integer(value).filter(|id| *id > 0);
                let id = id.ok_or("ERR client-id should be greater than 0")? as u64;
                keep(&|client| client.handle.id == id);
            }
            b"addr" => keep(&|client| *client.handle.peer == *text),
            b"laddr" => keep(&|client| *client.handle.local == *text),
            b"type" => {
                let is_normal = is_normal(value)?;
                keep(&|_| is_normal);
            }
            b"user" if text == "default" => {}
            b"user" => return Err(format!("ERR No such user '{}'", lossy(value)).into()),
            b"skipme" if value.eq_ignore_ascii_case(b"yes") => skips_own = true,
            b"skipme" if value.eq_ignore_ascii_case(b"no") => skips_own = false,
            _ => return Err(SYNTAX.into()),
        }
    }
    clients.retain(|client| !(skips_own && client.handle.id == own));
    for client in &clients {
        close(call, client);
    }
    call.out.count(clients.len() as u64);
    Ok(())
}
