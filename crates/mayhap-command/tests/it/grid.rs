//! Every command with every kind of argument on every kind of key: no panics, bounded memory, and errors change nothing.

use crate::host::Host;
use mayhap_command::{COMMANDS, Config, Layout, Replication, Reply, Slot};
use mayhap_command::{Command, Context};
use mayhap_testkit::random_commands::for_each_argument;

/// The memory limit of a filter in this test.
const MAX_BYTES: u64 = 1 << 20;

/// Slots of every kind in interesting states: empty, filled, grown, full, half loaded.
fn kinds() -> Vec<Slot> {
    let mut host = Host::new(Config::default());
    for layout in [Layout::Native, Layout::RedisBloom] {
        host.config.layout = layout;
        let name = format!("{layout:?}");
        host.run_line(&format!("BF.RESERVE {name}-empty 0.01 10"));
        host.run_line(&format!("BF.RESERVE {name}-full 0.01 2 NONSCALING"));
        host.run_line(&format!("CF.RESERVE {name}-fixed 4 EXPANSION 0"));
        host.run_line(&format!("CF.RESERVE {name}-cf 4 EXPANSION 2"));
        for number in 0..60 {
            host.run_line(&format!("BF.ADD {name}-full {number}"));
            host.run_line(&format!("CF.ADD {name}-fixed {number}"));
            host.run_line(&format!("CF.ADD {name}-cf {number}"));
            host.run_line(&format!("BF.ADD {name}-grown {number}"));
        }
    }
    host.run_line("BF.WINDOW window 0.01 10 1");
    host.run_line("BF.MADD window a b c d e f g");
    host.run_line("CBF.RESERVE counting 0.01 10");
    host.run_line("CBF.MADD counting 1 2 100");
    let Reply::Array(parts) = host.run_line("CF.SCANDUMP Native-cf 0") else {
        panic!("a header");
    };
    let Reply::Bulk(header) = &parts[1] else {
        panic!("a header");
    };
    assert_eq!(
        host.run(&[b"CF.LOADCHUNK", b"loading", b"1", header]),
        Reply::OK
    );
    host.run_line("SET other x");
    let mut slots: Vec<Slot> = host.keys.into_values().collect();
    slots.push(Slot::Missing);
    slots
}

#[test]
fn every_command_survives_every_argument_on_every_kind_of_key() {
    let slots = kinds();
    let mut images: Vec<Vec<u8>> = Vec::new();
    for slot in &slots {
        images.push(slot.encode());
    }
    let names = mayhap_command::COMMANDS
        .each_ref()
        .map(|command| command.spec.name);
    let (mut said, mut refused) = (0, 0);
    for layout in [Layout::Native, Layout::RedisBloom] {
        let config = Config {
            layout,
            ..Config::default()
        };
        let context = Context {
            config: &config,
            now: mayhap_core::Timestamp(1_000_500),
            secret: mayhap_core::SipKey::new([7; 16]),
            max_bytes: MAX_BYTES,
        };
        for_each_argument(&names, |words| {
            let command = match Command::parse(words, &config) {
                Ok(command) => command,
                Err(reply) => {
                    assert!(matches!(reply, Reply::Error(_)), "{words:?}");
                    refused += 1;
                    return;
                }
            };
            for (slot, image) in slots.iter().zip(&images) {
                said += 1;
                let write = match &command {
                    Command::Query(query) => {
                        query.apply(slot, &context);
                        continue;
                    }
                    Command::Write(write) => write,
                };
                let mut changed = slot.clone();
                let sources = vec![slot; write.sources().len()];
                let outcome = write.apply(&mut changed, &sources, &context);
                assert!(changed.size_bytes() <= 2 * MAX_BYTES, "{words:?}");
                if matches!(
                    outcome.replication,
                    Replication::None | Replication::Unchanged
                ) {
                    let same = changed == *slot;
                    assert!(same, "{words:?} changed something without replicating it");
                } else if matches!(outcome.reply, Reply::Error(_)) {
                    assert_eq!(
                        changed.encode(),
                        *image,
                        "{words:?} failed and changed something"
                    );
                }
            }
        });
    }
    assert!(said > 500_000 && refused > 10_000, "{said} {refused}");
}

#[test]
fn commands_reject_a_wrong_number_of_arguments() {
    let config = Config::default();
    for command in COMMANDS.iter().map(|command| &command.spec) {
        for count in 1..10 {
            let mut words: Vec<&[u8]> = vec![b"1"; count];
            words[0] = command.name.as_bytes();
            let is_refused = match Command::parse(&words, &config) {
                Err(Reply::Error(text)) => text.starts_with("ERR wrong number of arguments for '"),
                _ => false,
            };
            let is_outside = !command.arity.accepts(count);
            assert!(is_refused || !is_outside, "{} with {count}", command.name);
        }
    }
}
