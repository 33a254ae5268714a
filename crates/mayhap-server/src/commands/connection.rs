//! HELLO, AUTH, PING, QUIT and other commands about the connection.

use crate::call::{Call, CommandError, CommandResult, lossy};
use mayhap_command::{Protocol, integer};

pub(super) fn ping(call: &mut Call<'_>) -> CommandResult {
    match call.args {
        [_] => call.out.simple("PONG"),
        [_, text] => call.out.bulk(text),
        _ => return Err("ERR wrong number of arguments for 'ping' command".into()),
    }
    Ok(())
}

pub(super) fn echo(call: &mut Call<'_>) -> CommandResult {
    call.out.bulk(call.args[1]);
    Ok(())
}

pub(super) fn quit(call: &mut Call<'_>) -> CommandResult {
    call.out.ok();
    Ok(())
}

pub(super) fn select(call: &mut Call<'_>) -> CommandResult {
    match integer(call.args[1]) {
        Some(0) => call.out.ok(),
        Some(_) => return Err("ERR DB index is out of range".into()),
        None => return Err("ERR value is not an integer or out of range".into()),
    }
    Ok(())
}

pub(super) fn reset(call: &mut Call<'_>) -> CommandResult {
    let is_known = call.engine.settings.load().password.is_empty();
    call.session.reset(is_known);
    let id = call.session.client.handle.id;
    call.engine.clients.set_authenticated(id, is_known);
    call.session.client.names.lock().name.clear();
    call.session.client.set_protocol(Protocol::Resp2);
    call.out.protocol = Protocol::Resp2;
    call.out.simple("RESET");
    Ok(())
}

/// Compares passwords in constant time.
fn admit(call: &mut Call<'_>, user: &[u8], password: &[u8]) -> CommandResult {
    let settings = call.engine.settings.load();
    let is_right = settings.password.is_empty() || settings.is_password(password);
    if user != b"default" || !is_right {
        call.engine.counters.refuse_password();
        return Err("WRONGPASS invalid username-password pair or user is disabled.".into());
    }
    call.session.is_authenticated = true;
    let id = call.session.client.handle.id;
    call.engine.clients.set_authenticated(id, true);
    Ok(())
}

pub(super) fn auth(call: &mut Call<'_>) -> CommandResult {
    match *call.args {
        [_, password] => {
            if call.engine.settings.load().password.is_empty() {
                return Err("ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?".into());
            }
            admit(call, b"default", password)?;
        }
        [_, user, password] => admit(call, user, password)?,
        _ => return Err(crate::call::SYNTAX.into()),
    }
    call.out.ok();
    Ok(())
}

pub(super) fn hello(call: &mut Call<'_>) -> CommandResult {
    let mut protocol = call.session.protocol;
    let mut at = 1;
    if let Some(word) = call.args.get(1) {
        protocol = match integer(word) {
            Some(2) => Protocol::Resp2,
            Some(3) => Protocol::Resp3,
            Some(_) => return Err("NOPROTO unsupported protocol version".into()),
            None => return Err("ERR Protocol version is not an integer or out of range".into()),
        };
        at = 2;
    }
    // Parse all options before changing anything.
    let (mut credentials, mut name) = (None, None);
    while at < call.args.len() {
        let rest = call.args.len() - at;
        if call.is(at, "auth") && rest > 2 {
            credentials = Some((call.args[at + 1], call.args[at + 2]));
            at += 3;
        } else if call.is(at, "setname") && rest > 1 {
            name = Some(call.args[at + 1]);
            at += 2;
        } else {
            let option = lossy(call.args[at]);
            return Err(format!("ERR Syntax error in HELLO option '{option}'").into());
        }
    }
    if let Some((user, password)) = credentials {
        admit(call, user, password)?;
    }
    if !call.session.is_authenticated {
        let text = "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto> AUTH <user> <pass> option can be used to authenticate the client and select the RESP protocol version at the same time";
        return Err(CommandError::from(text));
    }
    if let Some(name) = name {
        super::client::set_name(call, name)?;
    }
    call.session.protocol = protocol;
    call.session.client.set_protocol(protocol);
    let out = &mut call.out;
    out.protocol = protocol;
    out.map(7);
    out.bulk("server");
    out.bulk("redis");
    out.bulk("version");
    out.bulk(crate::REDIS_VERSION);
    out.bulk("proto");
    out.integer(if protocol == Protocol::Resp3 { 3 } else { 2 });
    out.bulk("id");
    out.count(call.session.client.handle.id);
    out.bulk("mode");
    out.bulk("standalone");
    out.bulk("role");
    out.bulk("master");
    out.bulk("modules");
    super::introspection::modules(out);
    Ok(())
}
