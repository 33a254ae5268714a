//! The filters to query: read into memory, or mapped.

use super::CheckArgs;
use crate::error::CliError;
use crate::filter_files::{KeyBatch, invalid_key, key_type, keys};
use crate::input::{Block, open_file};
use mayhap_codec::native::{self, FileError, LoadError, Mapped};
use mayhap_codec::{Format, KeyReader, OpenedFilter, StoredFilter};
use std::io::Read;

/// A filter in memory, or a mapped file.
enum LookupFilter {
    Read(StoredFilter),
    Mapped(Mapped),
}

impl LookupFilter {
    fn contains_each(&self, keys: &KeyBatch<'_>, found: &mut [bool]) {
        match (self, keys) {
            (Self::Read(filter), keys) => keys.ask(filter, found),
            (Self::Mapped(filter), KeyBatch::Verbatim(keys)) => filter.contains_each(keys, found),
            (Self::Mapped(filter), KeyBatch::Read(keys)) => filter.contains_each(keys, found),
        }
    }
}

/// Below this size, reading a file is as fast as mapping it.
const LARGE: u64 = 32 << 20;

/// A large native file is mapped if there is less to query than to read.
fn map(args: &CheckArgs) -> Result<Option<Mapped>, CliError> {
    let size = std::fs::metadata(&args.filter).map_or(0, |metadata| metadata.len());
    let is_native = args.open.from.is_none_or(|format| format == Format::Mayhap);
    if size < LARGE || !is_native || args.input.size().is_some_and(|asked| asked > size) {
        return Ok(None);
    }
    let mut first = [0; native::MAGIC.len()];
    let read = open_file(&args.filter)?.read_exact(&mut first);
    if read.is_err() || first != native::MAGIC {
        return Ok(None);
    }
    let mapped = native::map(&args.filter, native::Verify::Lazy, args.open.key()?);
    match mapped {
        Ok(mapped) => Ok(Some(mapped)),
        Err(FileError {
            error: LoadError::Decode(error),
            ..
        }) => Err(args.open.explain_open_error(&args.filter, &error.into())),
        Err(error) => Err(CliError::message(error.to_string())),
    }
}

/// The filters, each with its key parser.
pub(super) struct Lookup {
    readers: Vec<KeyReader>,
    filters: Vec<(usize, LookupFilter)>,
}

impl Lookup {
    pub(super) fn open(args: &CheckArgs) -> Result<Self, CliError> {
        if let Some(mapped) = map(args)? {
            if !mapped.accepts_key_bytes() {
                // Opening it the ordinary way reports why.
                let found = args.open.open(&args.filter)?;
                return Self::new(args.choose.select(&args.filter, found)?, args);
            }
            let key_type = key_type(&args.filter, mapped.key_type(), args.key_type)?;
            return Ok(Self {
                readers: vec![KeyReader::new(Format::Mayhap, key_type)],
                filters: vec![(0, LookupFilter::Mapped(mapped))],
            });
        }
        let found = args.open.open(&args.filter)?;
        Self::new(args.choose.select(&args.filter, found)?, args)
    }

    fn new(found: Vec<OpenedFilter>, args: &CheckArgs) -> Result<Self, CliError> {
        let mut asked = Self {
            readers: Vec::new(),
            filters: Vec::new(),
        };
        for found in found {
            found.filter.check_keys().map_err(|error| {
                CliError::message(format!("{}: {error}", args.filter.display()))
            })?;
            let reader = args.open.key_reader(&args.filter, &found, args.key_type)?;
            let known = asked.readers.iter().position(|known| *known == reader);
            let reader = known.unwrap_or_else(|| {
                asked.readers.push(reader);
                asked.readers.len() - 1
            });
            asked
                .filters
                .push((reader, LookupFilter::Read(found.filter)));
        }
        Ok(asked)
    }

    /// Damage of a mapped file is detected when a query touches it; the answer is yes then.
    pub(super) fn check_touched(&self, args: &CheckArgs) -> Result<(), CliError> {
        for (_, filter) in &self.filters {
            if let LookupFilter::Mapped(mapped) = filter {
                mapped
                    .check_touched()
                    .map_err(|error| args.open.explain_open_error(&args.filter, &error.into()))?;
            }
        }
        Ok(())
    }

    /// Whether the keys are the lines themselves.
    pub(super) fn is_verbatim(&self) -> bool {
        self.readers.iter().all(KeyReader::is_verbatim)
    }

    /// Which lines may be in one of the filters.
    pub(super) fn answer(&self, block: &Block, answers: &mut Vec<bool>) -> Result<(), CliError> {
        let [reader] = &self.readers[..] else {
            return self.answer_by_type(block, answers);
        };
        let mut lines = KeyBatch::Verbatim(Vec::new());
        let nulls = keys(block, reader, &mut lines)?;
        answers.clear();
        answers.resize(lines.len(), false);
        self.answer_keys(&lines, answers);
        // A null is in no filter. The places are ascending.
        for place in nulls {
            answers.insert(place, false);
        }
        Ok(())
    }

    fn answer_keys(&self, lines: &KeyBatch<'_>, answers: &mut [bool]) {
        if let [(_, filter)] = &self.filters[..] {
            filter.contains_each(lines, answers);
            return;
        }
        let mut found = vec![false; lines.len()];
        for (_, filter) in &self.filters {
            filter.contains_each(lines, &mut found);
            for (answer, found) in answers.iter_mut().zip(&found) {
                *answer |= found;
            }
        }
    }

    /// With columns of several types, a line may be a valid key for only some of them. A line that is valid for none is an
    /// error.
    fn answer_by_type(&self, block: &Block, answers: &mut Vec<bool>) -> Result<(), CliError> {
        let mut lines: Vec<Option<&[u8]>> = Vec::new();
        block.for_each_key(|key| lines.push(key));
        answers.clear();
        answers.resize(lines.len(), false);
        // A null is in no filter, and not an error.
        let mut is_key: Vec<bool> = lines.iter().map(Option::is_none).collect();
        for (number, reader) in self.readers.iter().enumerate() {
            let (mut places, mut keys) = (Vec::new(), Vec::new());
            for (place, line) in lines.iter().enumerate() {
                if let Some(Ok(key)) = line.map(|line| reader.read(line)) {
                    is_key[place] = true;
                    places.push(place);
                    keys.push(key);
                }
            }
            let keys = KeyBatch::Read(keys);
            let mut found = vec![false; places.len()];
            for (_, filter) in self.filters.iter().filter(|(reader, _)| *reader == number) {
                filter.contains_each(&keys, &mut found);
                for (&place, found) in places.iter().zip(&found) {
                    answers[place] |= found;
                }
            }
        }
        let nobodys = is_key.iter().position(|is_key| !is_key);
        let (Some(place), Some(reader)) = (nobodys, self.readers.first()) else {
            return Ok(());
        };
        let number = block.first_line + place as u64;
        let read = reader.read(lines[place].unwrap_or_default());
        read.map_or_else(|error| Err(invalid_key(number, &error)), |_| Ok(()))
    }
}
