//! The moments at which the server is killed, and how it is known that one was met.

use crate::serve::process::{Home, Server};
use mayhap_testkit::client::{Client, ParsedReply};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Phase {
    /// Nobody writes.
    Idle,
    /// A snapshot is half written: its file is still a temporary one.
    Snapshot,
    /// A snapshot has just got its name: it is read back, and the log behind it.
    Saved,
    /// A filter has just got another layer, and is being filled.
    Growth,
    /// A window has just turned to its next generation.
    Rotation,
    /// There is a new log, whole or not, and no snapshot of its number yet.
    LogSwitch,
}

/// Those that need no filter which others must not remove.
pub(super) const PHASES_ALONE: [Phase; 3] = [Phase::Saved, Phase::Snapshot, Phase::LogSwitch];

pub(super) const PHASES: [Phase; 6] = [
    Phase::Idle,
    Phase::Snapshot,
    Phase::Saved,
    Phase::Growth,
    Phase::Rotation,
    Phase::LogSwitch,
];

/// Looks at the server or its folder before it is given up.
const MAX_LOOKS: u64 = 100_000;

/// So much that a snapshot takes a moment; the log has next to nothing of it.
pub(super) const BALLAST: [&str; 4] = [
    "BF.RESERVE ballast0 0.01 4000000 NONSCALING",
    "BF.RESERVE ballast1 0.01 4000000 NONSCALING",
    "BF.RESERVE ballast2 0.01 4000000 NONSCALING",
    "BF.RESERVE ballast3 0.01 4000000 NONSCALING",
];

pub(super) fn ballast(client: &mut Client) {
    for line in BALLAST {
        let reply = client.call_line(line);
        assert!(reply.is_ok(), "{reply:?}");
    }
}

/// Kills the server in a phase, and says whether it was that phase.
pub(super) fn hit(phase: Phase, server: &mut Server<'_>, home: &Home, aimed: &str) -> bool {
    let mut client = server.client();
    match phase {
        Phase::Idle => server.kill(),
        Phase::Snapshot => {
            client.call_line("BGSAVE");
            let is_begun = wait(|| home.files().iter().any(|name| is_half_snapshot(name)));
            server.kill();
            // It is dead: what is there now is how it was then.
            return is_begun && home.files().iter().any(|name| is_half_snapshot(name));
        }
        Phase::Saved => {
            let before = newest(&home.files(), "snapshot-");
            client.call_line("BGSAVE");
            wait(|| newest(&home.files(), "snapshot-") > before);
            server.kill();
            return newest(&home.files(), "snapshot-") > before;
        }
        Phase::LogSwitch => {
            let before = newest(&home.files(), "log-");
            client.call_line("BGSAVE");
            wait(|| {
                let files = home.files();
                newest(&files, "log-") > before || files.iter().any(|name| is_half_log(name))
            });
            server.kill();
            return is_between(&home.files(), before.as_ref());
        }
        Phase::Growth => {
            let layers = |client: &mut Client| {
                let actual = client.call_line(&format!("BF.INFO {aimed} FILTERS"));
                actual
                    .elements()
                    .first()
                    .and_then(ParsedReply::number)
                    .unwrap_or(0)
            };
            let before = layers(&mut client);
            let has_grown = wait(|| layers(&mut client) > before);
            server.kill();
            return has_grown;
        }
        Phase::Rotation => {
            let mut before = 0;
            let has_turned = wait(|| {
                let now = in_newest(&mut client, aimed);
                now < std::mem::replace(&mut before, now)
            });
            server.kill();
            return has_turned;
        }
    }
    true
}

pub(super) fn wait(mut is_so: impl FnMut() -> bool) -> bool {
    (0..MAX_LOOKS).any(|_| is_so())
}

/// Items in the newest generation of a window: fewer than before when another one has begun.
fn in_newest(client: &mut Client, window: &str) -> u64 {
    let actual = client.call_line(&format!("BF.DEBUG {window}"));
    let line = actual
        .elements()
        .last()
        .map(ParsedReply::text)
        .unwrap_or_default();
    let size = line.split(' ').find_map(|word| word.strip_prefix("size:"));
    size.and_then(|size| size.parse().ok()).unwrap_or(0)
}

pub(super) fn is_half_snapshot(name: &str) -> bool {
    name.starts_with("snapshot-") && is_half(name)
}

fn is_half_log(name: &str) -> bool {
    name.starts_with("log-") && is_half(name)
}

fn is_half(name: &str) -> bool {
    name.strip_suffix(".tmp").is_some()
}

/// The whole file of a kind with the highest number.
pub(super) fn newest(files: &[String], kind: &str) -> Option<String> {
    let whole = files
        .iter()
        .filter(|name| name.starts_with(kind) && !is_half(name));
    whole.max().cloned()
}

/// Whether the log was being switched.
fn is_between(files: &[String], before: Option<&String>) -> bool {
    if files.iter().any(|name| is_half_log(name)) {
        return true;
    }
    let newest = newest(files, "log-");
    let number = newest.as_ref().and_then(|name| name.strip_prefix("log-"));
    let has_snapshot = number.is_some_and(|number| {
        let name = format!("snapshot-{number}");
        files.iter().any(|file| file.starts_with(&name))
    });
    newest.as_ref() > before && !has_snapshot
}
