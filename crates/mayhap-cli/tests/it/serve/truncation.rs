//! The log of a real run, cut off at any byte or damaged anywhere: the server starts with what came before, or says in one line what to do.

use crate::serve::model::{Draw, Model, verify};
use crate::serve::process::Home;
use crate::serve::rounds;
use mayhap_testkit::Random;
use std::fs;
use std::path::PathBuf;

/// Cut at each byte of so many at the end.
const DENSE: usize = 160;
const STEP: usize = 97;
/// Of a log, docs/formats/log.md.
const HEADER: usize = 64;
const MARK: usize = 32;

/// How the server ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    Killed,
    InOrder,
}

/// What the server held after each operation, with the number of the operation in a key.
fn run(home: &Home, end: End) -> Vec<Model> {
    let mut server = home.start("--fsync always");
    let mut client = server.client();
    let mut random = Random::new(7);
    let mut states = vec![Model::new("k")];
    for number in 1..=rounds(60, 400) {
        let mut model = states.last().expect("one at least").clone();
        let draw = Draw {
            needs_reply: true,
            flushes: false,
        };
        let op = draw.op(&model, &mut random);
        let replies = client.pipeline(&op.requests(&model)).expect("replies");
        let applied = model.apply(&op, replies.last());
        applied.unwrap_or_else(|error| panic!("{op:?}: {error}"));
        assert!(client.call_line(&format!("SET number {number}")).is_ok());
        states.push(model);
    }
    match end {
        End::Killed => server.kill(),
        End::InOrder => {
            assert!(client.call(&["SHUTDOWN"]).is_err());
            assert_eq!(server.ended().code(), Some(0));
        }
    }
    states
}

/// Whether the server holds what it held at some time; how many operations it has.
fn prefix(home: &Home, words: &str, states: &[Model]) -> Result<usize, String> {
    let mut server = home.try_start(words)?;
    let mut client = server.client();
    let number = client.call_line("GET number").text().parse().unwrap_or(0);
    let actual = verify(&states[number], &mut client).or_else(|error| {
        // The next one was done, and its number was not set.
        let next = states.get(number + 1).ok_or("there is none after it")?;
        verify(next, &mut client).map_err(|other| format!("{error}; {other}"))
    });
    actual.unwrap_or_else(|error| panic!("after {number} operations: {error}"));
    // It takes changes again.
    assert!(client.call_line("SET number x").is_ok());
    server.kill();
    Ok(number)
}

/// A log of a real run, which is put back as it was, or not quite.
struct Damaged {
    home: Home,
    states: Vec<Model>,
    files: Vec<String>,
    path: PathBuf,
    whole: Vec<u8>,
    refused: usize,
}

impl Damaged {
    fn new(end: End) -> Self {
        let home = Home::new();
        let states = run(&home, end);
        let files = home.files();
        let log = files.iter().find(|name| name.starts_with("log-"));
        let path = home.store().join(log.expect("a log"));
        let whole = fs::read(&path).expect("the log");
        Self {
            home,
            states,
            files,
            path,
            whole,
            refused: 0,
        }
    }

    /// How many operations there are with these bytes as the log, after a refusal with the loss accepted.
    fn operations(&mut self, what: &str, bytes: &[u8]) -> usize {
        // What else there is, such as a new log after a loss, is not of this run.
        for name in self.home.files() {
            if !self.files.contains(&name) {
                fs::remove_file(self.home.store().join(name)).expect("removed");
            }
        }
        fs::write(&self.path, bytes).expect("damaged");
        let stderr_text = match prefix(&self.home, "", &self.states) {
            Ok(number) => return number,
            Err(stderr_text) => stderr_text,
        };
        self.refused += 1;
        let is_line = stderr_text.lines().count() == 2 && stderr_text.starts_with("mayhap: ");
        assert!(is_line, "{what}: {stderr_text}");
        if bytes.len() < HEADER {
            // It is renamed into its place when it has a header: without one there is nothing to accept.
            assert!(
                stderr_text.contains("restore the folder"),
                "{what}: {stderr_text}"
            );
            return 0;
        }
        assert!(
            stderr_text.contains("--accept-loss"),
            "{what}: {stderr_text}"
        );
        let number = prefix(&self.home, "--accept-loss", &self.states);
        number.unwrap_or_else(|stderr_text| panic!("{what}, loss accepted: {stderr_text}"))
    }
}

#[test]
fn a_truncated_log_gives_a_clean_prefix_or_a_clear_error() {
    let mut damaged = Damaged::new(End::Killed);
    let whole = damaged.whole.clone();
    let mut lengths: Vec<usize> = (0..whole.len()).step_by(STEP).collect();
    lengths.extend([1, HEADER - 1, HEADER]);
    lengths.extend(whole.len().saturating_sub(DENSE)..=whole.len());
    lengths.sort_unstable();
    lengths.dedup();
    let (mut last, cuts) = (0, lengths.len());
    for length in lengths {
        let number = damaged.operations(&format!("{length} bytes"), &whole[..length]);
        assert!(
            number >= last,
            "{length} bytes have {number} operations, fewer have {last}"
        );
        last = number;
    }
    assert_eq!(last, damaged.states.len() - 1);
    let refused = damaged.refused;
    eprintln!(
        "{} bytes of log, {cuts} cuts, {refused} were refused",
        whole.len()
    );
}

#[test]
fn a_damaged_log_is_an_error_until_the_loss_is_accepted() {
    let mut damaged = Damaged::new(End::Killed);
    let whole = damaged.whole.clone();
    for place in (HEADER..whole.len() - DENSE).step_by(3 * STEP) {
        let mut bytes = whole.clone();
        bytes[place] ^= 0x10;
        let number = damaged.operations(&format!("byte {place}"), &bytes);
        assert!(number < damaged.states.len() - 1, "byte {place}");
    }
    assert!(damaged.refused > 5, "{}", damaged.refused);
}

/// The mark at the end says that everything before it was safe: nothing of it is taken for a write that was torn.
#[test]
fn after_a_clean_shutdown_damage_before_the_final_mark_is_an_error() {
    let mut damaged = Damaged::new(End::InOrder);
    let whole = damaged.whole.clone();
    let end = whole.len() - MARK;
    let places = (HEADER..end).step_by(5 * STEP).chain(end - DENSE..end);
    let mut count = 0;
    for place in places {
        let mut bytes = whole.clone();
        bytes[place] ^= 0x10;
        fs::write(&damaged.path, bytes).expect("damaged");
        let stderr_text = damaged.home.try_start("").err();
        let stderr_text =
            stderr_text.unwrap_or_else(|| panic!("byte {place} of {} passed", whole.len()));
        assert!(
            stderr_text.contains("--accept-loss"),
            "byte {place}: {stderr_text}"
        );
        count += 1;
    }
    assert!(count > DENSE);
    let all = damaged.states.len() - 1;
    assert_eq!(damaged.operations("all bytes", &whole), all);
    // Whoever goes on behind the mark can be killed as before.
    let mut longer = whole.clone();
    longer.extend_from_slice(&[7; 50]);
    assert_eq!(damaged.operations("bytes behind the mark", &longer), all);
    assert_eq!(damaged.refused, 0);
}
