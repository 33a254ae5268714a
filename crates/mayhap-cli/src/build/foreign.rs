//! Filters of other systems: sized by their rules and filled key by key.

use super::BuildArgs;
use super::source::cannot_spool;
use crate::codec_errors;
use crate::error::CliError;
use crate::filter_files::{KeyBatch, keys};
use crate::input::{Block, Blocks};
use crate::progress::Progress;
use mayhap_codec::{
    BuildOptions, FilterBuilder, FilterError, KeyReader, Parameters, RequiredCount, StoredFilter,
};
use mayhap_core::HashScheme;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};

pub(super) fn build(args: &BuildArgs, parameters: Parameters) -> Result<StoredFilter, CliError> {
    let reader = parameters
        .key_reader(args.key_type)
        .map_err(|error| codec_errors::parameter(&error))?;
    let options = BuildOptions {
        parameters,
        capacity: args.capacity,
        rate: args.fpr,
        bits: args.bits,
        probes: args.probes,
    };
    let required = options.required_count();
    let blocks = args.input.blocks().keys_only().counted();
    let _progress = Progress::for_input(blocks.bytes_read(), args.input.size());
    let mut builder;
    if required == RequiredCount::Nothing {
        builder = options
            .start(0)
            .map_err(|error| codec_errors::build(&error))?;
        each_key(blocks, &reader, |key| insert(&mut builder, key))?;
    } else {
        let mut spool = Spool::new()?;
        let mut hashes = Vec::new();
        each_key(blocks, &reader, |key| {
            if required == RequiredCount::DistinctKeys {
                hashes.push(HashScheme::Xxh3.hash(key).to_u64());
            }
            spool.push(key)
        })?;
        hashes.sort_unstable();
        hashes.dedup();
        let count = match required {
            RequiredCount::DistinctKeys => hashes.len() as u64,
            RequiredCount::Keys | RequiredCount::Nothing => spool.count,
        };
        drop(hashes);
        builder = options
            .start(count)
            .map_err(|error| codec_errors::build(&error))?;
        spool.for_each(|key| insert(&mut builder, key))?;
    }
    if let Some(path) = options.parameters.false_positives() {
        let lines = args.input.for_list(&path).all_lines()?;
        let read = lines.iter().map(|line| reader.read(line));
        let list: Vec<Vec<u8>> = read
            .collect::<Result<_, _>>()
            .map_err(|error| CliError::message(error.to_string()))?;
        builder
            .retouch(&list, &options.parameters)
            .map_err(|error| codec_errors::build(&error))?;
    }
    builder
        .finish()
        .map_err(|error| codec_errors::build(&error))
}

fn insert(builder: &mut FilterBuilder, key: &[u8]) -> Result<(), CliError> {
    builder.insert(key).map_err(|error| {
        CliError::message(match error {
            FilterError::Full(_) => "the filter is full, and repeated keys count every time: remove repeated lines with `sort -u`, or use a larger --capacity".to_owned(),
            other => other.to_string(),
        })
    })
}

fn each_key(
    mut blocks: Blocks,
    reader: &KeyReader,
    mut each: impl FnMut(&[u8]) -> Result<(), CliError>,
) -> Result<(), CliError> {
    let mut block = Block::default();
    while blocks.fill(&mut block)? {
        let mut lines = KeyBatch::Verbatim(Vec::new());
        keys(&block, reader, &mut lines)?;
        lines.for_each(&mut each)?;
    }
    Ok(())
}

/// Keys in an unlinked temporary file, until their number is known.
struct Spool {
    file: BufWriter<std::fs::File>,
    count: u64,
}

impl Spool {
    fn new() -> Result<Self, CliError> {
        let file = tempfile::tempfile().map_err(|error| cannot_spool(&error))?;
        Ok(Self {
            file: BufWriter::new(file),
            count: 0,
        })
    }

    fn push(&mut self, key: &[u8]) -> Result<(), CliError> {
        self.count += 1;
        let length = (key.len() as u64).to_le_bytes();
        self.file
            .write_all(&length)
            .and_then(|()| self.file.write_all(key))
            .map_err(|error| cannot_spool(&error))
    }

    fn for_each(self, mut each: impl FnMut(&[u8]) -> Result<(), CliError>) -> Result<(), CliError> {
        let cannot = |error: io::Error| cannot_spool(&error);
        let mut file = self
            .file
            .into_inner()
            .map_err(|error| cannot(error.into_error()))?;
        file.rewind().map_err(cannot)?;
        let mut file = BufReader::new(file);
        let mut key = Vec::new();
        for _ in 0..self.count {
            let mut length = [0; 8];
            file.read_exact(&mut length).map_err(cannot)?;
            key.resize(u64::from_le_bytes(length) as usize, 0);
            file.read_exact(&mut key).map_err(cannot)?;
            each(&key)?;
        }
        Ok(())
    }
}
