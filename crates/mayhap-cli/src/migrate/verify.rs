//! `--verify N`: asks both sides for the same keys, and compares the answers and INFO.

use super::chunks;
use super::filter_type::Family;
use super::node::CommandError;
use super::server::{Server, unexpected};
use crate::error::CliError;
use crate::input;
use mayhap_command::{Reply, Slot};
use redis::Value;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// All of them are in memory.
const MAX_KEYS: u64 = 1_000_000;
/// Keys per query, and their bytes if there are several: servers bound the size of a request.
const BATCH: usize = 1000;
const BATCH_BYTES: usize = 1 << 20;

/// The keys that are asked for.
pub(super) struct Sample {
    keys: Vec<Vec<u8>>,
}

/// What both sides answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Agreement {
    pub(super) queried: u64,
    pub(super) found_at_source: u64,
    pub(super) found_at_target: u64,
    /// The source has it and the target has not.
    pub(super) lost: u64,
    /// The target has it and the source has not.
    pub(super) added: u64,
}

/// Numbers that are well distributed and the same in every run with the same seed: splitmix64.
struct Random(u64);

impl Random {
    fn new() -> Result<Self, CliError> {
        let seed = getrandom::u64().map_err(|error| {
            CliError::message(format!(
                "the system has no random numbers ({error}): name keys with --keys FILE"
            ))
        })?;
        Ok(Self(seed))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }
}

impl Sample {
    /// Samples lines of a file, each with the same probability, or makes up keys.
    pub(super) fn new(count: u64, file: Option<&Path>) -> Result<Self, CliError> {
        if count > MAX_KEYS {
            return Err(CliError::message(format!(
                "--verify {count} is too many: give at most {MAX_KEYS} keys"
            )));
        }
        let mut random = Random::new()?;
        let wanted = usize::try_from(count).unwrap_or(usize::MAX);
        let Some(path) = file else {
            let key = |_| format!("mayhap-migrate-{:016x}", random.next()).into_bytes();
            return Ok(Self {
                keys: (0..wanted).map(key).collect(),
            });
        };
        let mut lines = BufReader::new(input::open(path)?);
        let (mut keys, mut read, mut line) = (Vec::new(), 0_u64, Vec::new());
        loop {
            line.clear();
            let length = lines.read_until(b'\n', &mut line);
            if length.map_err(|error| input::cannot_read(path, &error))? == 0 {
                break;
            }
            if line.last() == Some(&b'\n') {
                line.pop();
            }
            read += 1;
            if keys.len() < wanted {
                keys.push(line.clone());
            } else if let Some(place) = usize::try_from(random.next() % read)
                .ok()
                .filter(|&at| at < wanted)
            {
                keys[place].clone_from(&line);
            }
        }
        if keys.is_empty() {
            return Err(CliError::message(format!(
                "{} has no keys: give a file with one key per line",
                path.display()
            )));
        }
        Ok(Self { keys })
    }

    /// Compares two sides.
    pub(super) fn compare(
        &self,
        mut source: impl FnMut(&[&[u8]]) -> Result<Vec<bool>, CommandError>,
        mut target: impl FnMut(&[&[u8]]) -> Result<Vec<bool>, CommandError>,
    ) -> Result<Agreement, CommandError> {
        let mut agreement = Agreement::default();
        let mut rest = self.keys.as_slice();
        while !rest.is_empty() {
            let (batch, behind) = rest.split_at(batch_len(rest));
            rest = behind;
            let keys: Vec<&[u8]> = batch.iter().map(Vec::as_slice).collect();
            for (here, there) in source(&keys)?.into_iter().zip(target(&keys)?) {
                agreement.queried += 1;
                agreement.found_at_source += u64::from(here);
                agreement.found_at_target += u64::from(there);
                agreement.lost += u64::from(here && !there);
                agreement.added += u64::from(there && !here);
            }
        }
        Ok(agreement)
    }
}

/// How many of the keys are in the next query.
fn batch_len(keys: &[Vec<u8>]) -> usize {
    let mut bytes = 0;
    let fits = |key: &&Vec<u8>| {
        bytes += key.len();
        bytes <= BATCH_BYTES
    };
    keys.iter().take(BATCH).take_while(fits).count().max(1)
}

/// Queries a filter of a server.
pub(super) fn query(
    server: &mut Server,
    family: Family,
    key: &[u8],
    items: &[&[u8]],
) -> Result<Vec<bool>, CommandError> {
    let command = family.query_command();
    let mut words = vec![command, key];
    words.extend(items);
    let reply = server.run(key, &words)?;
    let answer = |value: &Value| match value {
        Value::Int(number) => Some(*number == 1),
        Value::Boolean(answer) => Some(*answer),
        _ => None,
    };
    let Value::Array(answers) = &reply else {
        return Err(unexpected(&String::from_utf8_lossy(command), &reply));
    };
    let answers: Option<Vec<bool>> = answers.iter().map(answer).collect();
    answers
        .filter(|answers| answers.len() == items.len())
        .ok_or_else(|| unexpected(&String::from_utf8_lossy(command), &reply))
}

/// Queries a filter of a file.
pub(super) fn query_slot(
    slot: &Slot,
    family: Family,
    items: &[&[u8]],
) -> Result<Vec<bool>, CommandError> {
    let mut words: Vec<&[u8]> = vec![family.query_command(), b"key"];
    words.extend(items);
    let reply = chunks::apply(slot, &words);
    let answer = |reply: &Reply| match reply {
        Reply::Boolean(answer) => *answer,
        Reply::Integer(number) => *number == 1,
        _ => false,
    };
    match reply {
        Reply::Booleans(answers) if answers.len() == items.len() => Ok(answers),
        Reply::Array(answers) if answers.len() == items.len() => {
            Ok(answers.iter().map(answer).collect())
        }
        _ => Err(CommandError::broken(
            "the filter of the file cannot be queried".to_owned(),
        )),
    }
}
