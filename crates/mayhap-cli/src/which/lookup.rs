//! Queries all filters for a batch of keys, on several threads.

use super::Standing;
use crate::error::CliError;
use crate::index::{Places, cassandra_filter, cassandra_reader};
use mayhap_codec::index::{FilterEntry, FilterKind, Index, IndexError, KeyForm, SCHEME};
use mayhap_codec::{Format, KeyReader, KeyType};
use mayhap_core::KeyHash;
use std::collections::HashMap;
use std::thread;

/// How the text of a key becomes the bytes that a filter has.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Encoding {
    key_form: KeyForm,
    key_type: KeyType,
    is_cassandra: bool,
}

impl Encoding {
    fn of_filter(filter: &FilterEntry) -> Self {
        Self {
            key_form: filter.key_form,
            key_type: filter.key_type,
            is_cassandra: filter.kind == FilterKind::Cassandra,
        }
    }

    /// The bytes to look up; `None` if the text is not a value of this type.
    fn bytes(self, text: &[u8]) -> Option<Vec<Vec<u8>>> {
        let mut spellings = self.key_form.spellings(text)?;
        if let (KeyForm::Text, Some(stripped)) = (self.key_form, text.strip_suffix(b"\r")) {
            // Lines of text files are indexed without it.
            spellings.push(stripped.to_vec());
        }
        let reader = if self.is_cassandra {
            cassandra_reader(self.key_type)
        } else {
            KeyReader::new(Format::Mayhap, self.key_type)
        };
        if reader.is_verbatim() {
            return Some(spellings);
        }
        let read: Vec<Vec<u8>> = spellings
            .iter()
            .filter_map(|text| reader.read(text).ok())
            .collect();
        (!read.is_empty()).then_some(read)
    }

    fn expected(self) -> String {
        match (self.key_form, self.key_type) {
            (KeyForm::Text, key_type) => format!("a key of type {key_type}"),
            (form, _) => form.expected().to_owned(),
        }
    }
}

pub(super) struct Lookup<'i> {
    index: &'i Index,
    places: &'i Places,
    states: &'i [Standing],
    threads: usize,
    encodings: Vec<Encoding>,
    numbers: HashMap<Encoding, usize>,
}

/// The keys of a batch, in every encoding.
pub(super) struct KeyBatch {
    /// For each encoding: which key it is, and its bytes and hash.
    encoded: Vec<EncodedKeys>,
}

#[derive(Default)]
struct EncodedKeys {
    keys: Vec<u32>,
    hashes: Vec<KeyHash>,
    /// Only for Cassandra, which has its own hash.
    bytes: Vec<Vec<u8>>,
}

/// A filter that may contain a key.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Match {
    pub(super) key: u32,
    pub(super) file: u32,
    pub(super) row_group: Option<u32>,
}

pub(super) struct Found {
    /// By key, and then in the order of the files.
    pub(super) matches: Vec<Match>,
    /// Files whose filters are damaged.
    pub(super) damaged: Vec<(usize, IndexError)>,
}

impl KeyBatch {
    pub(super) fn new(
        lookup: &Lookup<'_>,
        keys: &[Vec<u8>],
        first_line: u64,
    ) -> Result<Self, CliError> {
        let mut encoded = Vec::new();
        let mut is_valid = vec![lookup.encodings.is_empty(); keys.len()];
        for encoding in &lookup.encodings {
            let mut these = EncodedKeys::default();
            for (number, (text, is_valid)) in keys.iter().zip(&mut is_valid).enumerate() {
                for bytes in encoding.bytes(text).into_iter().flatten() {
                    *is_valid = true;
                    these.keys.push(number as u32);
                    if encoding.is_cassandra {
                        these.bytes.push(bytes);
                    } else {
                        these.hashes.push(SCHEME.hash(bytes.as_slice()));
                    }
                }
            }
            encoded.push(these);
        }
        // A key that no column can hold is a mistake.
        let invalid = is_valid.iter().position(|is_valid| !is_valid);
        match (invalid, lookup.encodings.first()) {
            (Some(number), Some(encoding)) => Err(CliError::message(format!(
                "key {}: {:?} is not {}: give keys as the indexed column has them",
                first_line + number as u64,
                keys.get(number)
                    .map(|key| String::from_utf8_lossy(key))
                    .unwrap_or_default(),
                encoding.expected()
            ))),
            _ => Ok(Self { encoded }),
        }
    }
}

impl<'i> Lookup<'i> {
    pub(super) fn new(
        index: &'i Index,
        places: &'i Places,
        states: &'i [Standing],
        threads: usize,
    ) -> Self {
        let mut lookup = Self {
            index,
            places,
            states,
            threads,
            encodings: Vec::new(),
            numbers: HashMap::new(),
        };
        for filter in index.directory().filters() {
            let encoding = Encoding::of_filter(filter);
            if lookup.encodings.last() != Some(&encoding) && !lookup.numbers.contains_key(&encoding)
            {
                lookup.numbers.insert(encoding, lookup.encodings.len());
                lookup.encodings.push(encoding);
            }
        }
        lookup
    }

    /// Which files may hold which keys, by their filters. Files that may hold any key are not among them.
    pub(super) fn find(&self, batch: &KeyBatch) -> Found {
        let files = self.states.len();
        // A lookup of few keys takes less than a thread to start.
        let per_thread = files.div_ceil(self.threads).max(64);
        let mut found = Found {
            matches: Vec::new(),
            damaged: Vec::new(),
        };
        thread::scope(|scope| {
            let starts = (0..files).step_by(per_thread);
            let threads: Vec<_> = starts
                .map(|begin| {
                    let end = (begin + per_thread).min(files);
                    scope.spawn(move || self.find_in(begin..end, batch))
                })
                .collect();
            for thread in threads {
                match thread.join() {
                    Ok(part) => {
                        found.matches.extend(part.matches);
                        found.damaged.extend(part.damaged);
                    }
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
        });
        found.matches.sort_unstable();
        found.matches.dedup();
        found
    }

    fn find_in(&self, numbers: std::ops::Range<usize>, batch: &KeyBatch) -> Found {
        let mut found = Found {
            matches: Vec::new(),
            damaged: Vec::new(),
        };
        let mut answers = Vec::new();
        for number in numbers {
            let file = self.index.directory().files.get(number);
            let (Some(file), Some(Standing::Unchanged)) = (file, self.states.get(number)) else {
                continue;
            };
            for filter in &file.filters {
                let encoding = self.numbers.get(&Encoding::of_filter(filter));
                let Some(keys) = encoding.and_then(|&number| batch.encoded.get(number)) else {
                    continue;
                };
                answers.clear();
                answers.resize(keys.keys.len(), false);
                let asked = match filter.kind {
                    FilterKind::Ribbon | FilterKind::Fuse => {
                        self.index
                            .contains_hashes(filter, &keys.hashes, &mut answers)
                    }
                    FilterKind::Cassandra => self.ask_cassandra(file, filter, keys, &mut answers),
                };
                if let Err(error) = asked {
                    found.damaged.push((number, error));
                    answers.fill(true);
                }
                let yes = keys.keys.iter().zip(&answers).filter(|(_, yes)| **yes);
                found.matches.extend(yes.map(|(&key, _)| Match {
                    key,
                    file: number as u32,
                    row_group: filter.row_group,
                }));
            }
        }
        found
    }

    fn ask_cassandra(
        &self,
        file: &mayhap_codec::index::IndexedFile,
        filter: &FilterEntry,
        keys: &EncodedKeys,
        answers: &mut [bool],
    ) -> Result<(), IndexError> {
        let body = self.index.body(filter)?;
        // It was decoded when it was indexed, so this cannot fail; if it does, the file may hold any key.
        let Ok(filter) = cassandra_filter(&self.places.path(&file.path), body) else {
            answers.fill(true);
            return Ok(());
        };
        for (key, answer) in keys.bytes.iter().zip(answers) {
            *answer = filter.contains(key);
        }
        Ok(())
    }
}
