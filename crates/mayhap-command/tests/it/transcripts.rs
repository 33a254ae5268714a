//! 27,579 valid and invalid commands with the replies of RedisBloom. In its layout our replies are identical, byte for byte. In the native
//! layout replies have the same types and errors are the same, except where listed.

use crate::host::Host;
use mayhap_command::{Config, Layout, Protocol};
use mayhap_testkit::transcripts::sequences;

/// A step of a sequence: its number, the arguments, our reply, RedisBloom's. `false` ends the sequence.
type Step<'a> = (usize, &'a [&'a [u8]], &'a [u8], &'a [u8]);

/// Runs every sequence in a new host, and returns the number of commands.
fn each_step(layout: Layout, mut look: impl FnMut(&str, Step<'_>) -> bool) -> usize {
    let mut commands = 0;
    for sequence in sequences() {
        let protocol = match sequence.protocol {
            3 => Protocol::Resp3,
            _ => Protocol::Resp2,
        };
        let mut host = Host::new(Config {
            layout,
            ..Config::default()
        });
        host.max_bytes = 4 << 30;
        for (number, step) in sequence.steps.iter().enumerate() {
            let words: Vec<&[u8]> = step.words.iter().map(Vec::as_slice).collect();
            let mut ours = Vec::new();
            host.run(&words).write(protocol, &mut ours);
            commands += 1;
            if !look(&sequence.id, (number, &words, &ours, &step.reply)) {
                break;
            }
        }
    }
    commands
}

fn shown(words: &[&[u8]]) -> String {
    let words = words.iter().map(|word| word.escape_ascii().to_string());
    words
        .collect::<Vec<_>>()
        .join(" ")
        .chars()
        .take(300)
        .collect()
}

/// Intended differences: the sequence, the step, and why. None so far.
const DIFFERENT: [(&str, usize, &str); 0] = [];

#[test]
fn every_reply_is_identical_to_redisbloom() {
    let mut wrong = Vec::new();
    let commands = each_step(Layout::RedisBloom, |id, (number, words, ours, theirs)| {
        let is_known = DIFFERENT
            .iter()
            .any(|&(known, at, _)| known == id && at == number);
        if ours == theirs || is_known {
            return true;
        }
        wrong.push(format!(
            "{id} step {number}: {}\n  ours   {}\n  theirs {}",
            shown(words),
            ours.escape_ascii(),
            theirs.escape_ascii()
        ));
        // The following steps may differ because of this one.
        false
    });
    assert!(
        wrong.is_empty(),
        "{} sequences differ:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(12)].join("\n")
    );
    assert_eq!(commands, 27_579);
}

/// The types of a reply: errors and names in full, only the types of other values.
fn types(reply: &[u8]) -> String {
    let mut out = String::new();
    let rest = read_types(reply, &mut out);
    assert!(rest.is_empty(), "a whole reply");
    out
}

fn read_types<'a>(reply: &'a [u8], out: &mut String) -> &'a [u8] {
    let end = reply
        .windows(2)
        .position(|pair| pair == b"\r\n")
        .expect("a line");
    let (line, rest) = (&reply[1..end], &reply[end + 2..]);
    let count = || -> i64 {
        let line = std::str::from_utf8(line).expect("digits");
        line.parse().expect("a count")
    };
    match reply[0] {
        kind @ (b'+' | b'-') => {
            out.push(char::from(kind));
            out.push_str(&String::from_utf8_lossy(line));
            rest
        }
        b'$' if line == b"-1" => {
            out.push('_');
            rest
        }
        b'$' => {
            out.push('$');
            &rest[count() as usize + 2..]
        }
        kind @ (b'*' | b'%') => {
            let each = if kind == b'*' { 1 } else { 2 };
            out.push(char::from(kind));
            out.push('[');
            let mut rest = rest;
            for _ in 0..each * count() {
                rest = read_types(rest, out);
                out.push(' ');
            }
            out.push(']');
            rest
        }
        kind => {
            out.push(char::from(kind));
            rest
        }
    }
}

/// The commands whose replies may be of other types in the native layout, and why.
const DIFFERENT_IN_NATIVE: [(&str, &str); 4] = [
    (
        "BF.DEBUG",
        "there is a line a layer, and layers grow by another rule",
    ),
    (
        "BF.MADD",
        "which items look new is another hash's luck, and so is where a full filter is met",
    ),
    (
        "CF.SCANDUMP",
        "a position that is past the end of one dump is inside of another",
    ),
    ("TYPE", "the types have names of their own"),
];

#[test]
fn native_replies_are_of_the_same_types_and_errors_are_the_same() {
    let (mut equal, mut wrong) = (0, Vec::new());
    let commands = each_step(Layout::Native, |id, (number, words, ours, theirs)| {
        let (ours, theirs) = (types(ours), types(theirs));
        let name = String::from_utf8_lossy(words[0]).to_uppercase();
        let may_differ = DIFFERENT_IN_NATIVE.iter().any(|&(known, _)| known == name);
        if ours == theirs {
            equal += 1;
        } else if !may_differ || ours.starts_with('-') || theirs.starts_with('-') {
            let words = shown(words);
            wrong.push(format!("{id} step {number}: {words}\n  {ours}\n  {theirs}"));
        }
        true
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(commands, 27_579);
    // The hash key of these tests is fixed.
    assert_eq!(equal, 27_251);
}
