//! mayhap's own filters, by kind.

use super::{BuildArgs, RATE};
use crate::args::threads;
use crate::failure::Failure;
use crate::filters::{Keys, keys};
use crate::input::{Block, InputArgs, in_order};
use crate::progress::Progress;
use mayhap::plan::classic::ClassicPlan;
use mayhap::plan::{BloomPlan, CuckooPlan, GrowingPlan, WindowPlan};
use mayhap::{
    AnyFilter, Bloom, ClassicBloom, Clearing, CountingBloom, Cuckoo, Excepting, Full, Fuse,
    GrowingBloom, HashScheme, KeyHash, Kind, OnConflict, Refused, Retouched, Ribbon, Scheme,
    SharedBloom, Timestamp, WindowBloom,
};
use mayhap_codec::{Filter, KeyReader, Parameters, hadoop};
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::ops::ControlFlow;
use std::time::SystemTime;

/// How many hashes are taken from the spool at a time.
const BATCH: usize = 1 << 16;

pub(super) fn build(
    args: &BuildArgs,
    parameters: &Parameters,
    scheme: HashScheme,
) -> Result<Filter, Failure> {
    let kind = args.kind.unwrap_or_else(|| default_kind(args));
    refuse_other_kinds(args, kind)?;
    let reader = parameters
        .key_reader(args.key_type)
        .map_err(|error| Failure::message(error.to_string()))?;
    let source = Source {
        args,
        reader,
        scheme,
    };
    let rate = args.fpr.unwrap_or(RATE);
    if args.except.is_some() {
        return with_exceptions(&source, kind, rate);
    }
    let filter = match kind {
        Kind::Fuse => Fuse::build_with(&source.all()?, rate, scheme)?.into(),
        Kind::Ribbon => Ribbon::build_with(&source.all()?, rate, scheme)?.into(),
        Kind::Bloom => bloom(&source, rate)?.into(),
        Kind::Growing if args.capacity.is_none() && !args.input.are_regular_files() => {
            // It needs no number.
            let mut filter = empty(args, kind, FIRST_GUESS, rate, scheme)?;
            source.each(|hashes| insert(&mut filter, hashes).map_err(no_room))?;
            filter
        }
        Kind::Retouched => {
            let (count, hashes) = source.counted()?;
            let mut filter = empty(args, kind, count, rate, scheme)?;
            hashes.each(&source, |hashes| {
                insert(&mut filter, hashes).map_err(no_room)
            })?;
            retouch(filter, args, parameters, &source)?
        }
        kind => {
            let (count, hashes) = source.counted()?;
            let mut filter = empty(args, kind, count, rate, scheme)?;
            hashes.each(&source, |hashes| {
                insert(&mut filter, hashes).map_err(no_room)
            })?;
            filter
        }
    };
    Ok(Filter::Native(filter))
}

/// Where a growing filter begins when nobody knows.
const FIRST_GUESS: u64 = 100_000;

/// What the other flags ask for.
fn default_kind(args: &BuildArgs) -> Kind {
    match (args.window, args.bits, args.probes) {
        (Some(_), _, _) => Kind::Window,
        (_, Some(_), _) | (_, _, Some(_)) => Kind::Classic,
        _ => Kind::Bloom,
    }
}

fn refuse_other_kinds(args: &BuildArgs, kind: Kind) -> Result<(), Failure> {
    let has_measures = args.bits.is_some() || args.probes.is_some();
    if has_measures && !matches!(kind, Kind::Classic | Kind::Counting) {
        return Err(Failure::message(format!(
            "--bits and --probes are for classic and counting filters: a {kind} filter is sized by --capacity and --fpr"
        )));
    }
    if args.bits.is_some() != args.probes.is_some() {
        return Err(Failure::message(
            "--bits and --probes belong together: give both, or --capacity and --fpr",
        ));
    }
    if (kind == Kind::Window) != args.window.is_some() {
        return Err(Failure::message(
            "--kind window and --window belong together: give both, such as --kind window --window 24h",
        ));
    }
    Ok(())
}

/// An empty filter of a kind that takes keys one by one.
fn empty(
    args: &BuildArgs,
    kind: Kind,
    count: u64,
    rate: f64,
    scheme: HashScheme,
) -> Result<AnyFilter, Failure> {
    let capacity = args.capacity.unwrap_or(count).max(1);
    let classic = match (args.bits, args.probes) {
        (Some(bits), Some(probes)) => ClassicPlan::with_bits_and_probes(bits, probes),
        _ => ClassicPlan::new(capacity, rate),
    };
    let walk = Scheme::EnhancedDoubleHashing;
    Ok(match kind {
        Kind::Classic => ClassicBloom::from_plan(classic?, walk, scheme)?.into(),
        Kind::Counting => {
            let plan = mayhap::plan::counting::CountingPlan::from_classic(classic?, 4)?;
            CountingBloom::from_plan(plan, walk, scheme)?.into()
        }
        Kind::Growing => GrowingBloom::from_plan(GrowingPlan::new(capacity, rate)?, scheme)?.into(),
        Kind::Cuckoo => Cuckoo::from_plan(CuckooPlan::new(capacity, rate)?, scheme)?.into(),
        Kind::Window => {
            let window = args.window.unwrap_or_default();
            let plan = WindowPlan::new(capacity, rate, window)?;
            WindowBloom::from_plan(plan, scheme, now())?.into()
        }
        Kind::Retouched => match scheme {
            HashScheme::Sip13(key) => Retouched::keyed(capacity, rate, key)?.into(),
            _ => Retouched::new(capacity, rate)?.into(),
        },
        _ => Bloom::from_plan(BloomPlan::new(capacity, rate)?, scheme)?.into(),
    })
}

/// The moment of keys that come in now.
pub(crate) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let ms = since.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(0));
    Timestamp(ms)
}

/// Puts hashes into a filter of any kind that takes them.
pub(crate) fn insert(filter: &mut AnyFilter, hashes: &[KeyHash]) -> Result<(), Refused> {
    match filter {
        AnyFilter::Bloom(filter) => filter.insert_hashes(hashes),
        AnyFilter::Growing(filter) => filter.insert_hashes(hashes),
        AnyFilter::Window(filter) => filter.insert_hashes(hashes, now()),
        filter => {
            for &hash in hashes {
                filter.try_insert_hash(hash)?;
            }
        }
    }
    Ok(())
}

/// Why a filter that is being built takes no more.
fn no_room(error: Refused) -> Failure {
    Failure::message(match error {
        Refused::Full(Full::Table { capacity, .. }) => {
            format!("there is room for {capacity} keys, and more came: give a larger --capacity")
        }
        Refused::Full(Full::Copies { copies }) => format!(
            "a line comes more than {copies} times, and no more copies fit: take the repeated ones out with `mayhap uniq`"
        ),
        other => other.to_string(),
    })
}

/// The default kind, on all cores.
fn bloom(source: &Source<'_>, rate: f64) -> Result<Bloom, Failure> {
    let args = source.args;
    let count = match args.capacity {
        Some(capacity) => capacity,
        None if args.input.are_regular_files() => args.input.count_lines()?,
        None => {
            let (count, hashes) = source.counted()?;
            let mut filter = Bloom::from_plan(BloomPlan::new(count.max(1), rate)?, source.scheme)?;
            hashes.each(source, |hashes| {
                filter.insert_hashes(hashes);
                Ok(())
            })?;
            return Ok(filter);
        }
    };
    let plan = BloomPlan::new(count.max(1), rate)?;
    let shared = SharedBloom::from_plan(plan, source.scheme)?;
    let blocks = source.blocks();
    let _progress = Progress::of(blocks.bytes_read(), args.input.size());
    in_order(
        blocks,
        source.threads(),
        |block| -> Result<(), Failure> {
            shared.insert_hashes(&source.hashes(&block)?);
            Ok(())
        },
        |done| done.map(|()| ControlFlow::Continue(())),
    )?;
    Ok(shared.freeze())
}

fn with_exceptions(source: &Source<'_>, kind: Kind, rate: f64) -> Result<Filter, Failure> {
    let args = source.args;
    let list = InputArgs {
        inputs: args.except.iter().cloned().collect(),
        ..args.input.clone()
    };
    let exceptions = read_keys(&list, &source.reader)?;
    let on_conflict = args.on_conflict.unwrap_or(OnConflict::Refuse);
    let scheme = source.scheme;
    let mut hashes = source.all()?;
    if on_conflict == OnConflict::Allow {
        // What is allowed is not put in: the base would have to be denied.
        let mut allowed: Vec<KeyHash> = exceptions.iter().map(|key| scheme.hash(key)).collect();
        allowed.sort_unstable_by_key(|hash| hash.to_u64());
        hashes.retain(|hash| {
            let number = hash.to_u64();
            allowed
                .binary_search_by_key(&number, |hash| hash.to_u64())
                .is_err()
        });
    }
    let base: AnyFilter = match kind {
        Kind::Fuse => Fuse::build_with(&hashes, rate, scheme)?.into(),
        Kind::Ribbon => Ribbon::build_with(&hashes, rate, scheme)?.into(),
        kind => {
            let mut filter = empty(args, kind, hashes.len() as u64, rate, scheme)?;
            insert(&mut filter, &hashes).map_err(no_room)?;
            filter
        }
    };
    let made = Excepting::build_with(base, &hashes, &exceptions, on_conflict);
    let filter = made.map_err(|error| {
        // Of the keys that were put in only hashes are left, and the exceptions have the words.
        let in_both = || -> Option<String> {
            let mut sorted: Vec<u64> = hashes.iter().map(|hash| hash.to_u64()).collect();
            sorted.sort_unstable();
            let both = exceptions
                .iter()
                .find(|key| sorted.binary_search(&scheme.hash(key).to_u64()).is_ok())?;
            Some(String::from_utf8_lossy(both).into_owned())
        };
        match error {
            mayhap::ExceptError::Conflict { count, .. }
            | mayhap::ExceptError::Collision { count, .. } => Failure::message(format!(
                "{:?}{} both to be found and to be excepted: take it from a list, or say --on-conflict block or allow",
                in_both().unwrap_or_default(),
                match count {
                    1 => " is".to_owned(),
                    more => format!(" and {} more are", more - 1),
                }
            )),
            other => Failure::message(other.to_string()),
        }
    })?;
    Ok(Filter::Native(filter.into()))
}

/// Takes out the false positives that the user lists.
fn retouch(
    filter: AnyFilter,
    args: &BuildArgs,
    parameters: &Parameters,
    source: &Source<'_>,
) -> Result<AnyFilter, Failure> {
    let (AnyFilter::Retouched(mut filter), Some(path)) = (filter, parameters.false_positives())
    else {
        return Err(Failure::message(
            "a retouched filter has false positives taken out: list them, -P false_positives=FILE",
        ));
    };
    let list = InputArgs {
        inputs: vec![path],
        ..args.input.clone()
    };
    filter.add_false_positives(&read_keys(&list, &source.reader)?)?;
    let clearing = parameters
        .clearing()
        .map_err(|error| Failure::message(error.to_string()))?;
    let cleared = filter.clear_all(match clearing {
        Some(hadoop::Clearing::Random { number }) => Clearing::Random { seed: number },
        Some(hadoop::Clearing::MinimumFalseNegatives) => Clearing::MinimumFalseNegatives,
        Some(hadoop::Clearing::MaximumFalsePositives) => Clearing::MaximumFalsePositives,
        Some(hadoop::Clearing::Ratio) | None => Clearing::Ratio,
    })?;
    if cleared.keys_lost > 0 {
        let _ = writeln!(
            io::stderr(),
            "mayhap: {} false positives are out, and {} keys with them",
            cleared.false_positives_gone,
            cleared.keys_lost
        );
    }
    Ok(filter.into())
}

fn read_keys(list: &InputArgs, reader: &KeyReader) -> Result<Vec<Vec<u8>>, Failure> {
    let lines = list.all_lines()?;
    if reader.is_verbatim() {
        return Ok(lines);
    }
    let read = (1..).zip(&lines).map(|(number, line)| {
        let key = reader.read(line);
        key.map_err(|error| crate::filters::not_a_key(number, &error))
    });
    read.collect()
}

/// Where the hashes of keys come from.
struct Source<'a> {
    args: &'a BuildArgs,
    reader: KeyReader,
    scheme: HashScheme,
}

impl Source<'_> {
    fn blocks(&self) -> crate::input::Blocks {
        let blocks = self.args.input.blocks();
        if self.reader.is_verbatim() {
            blocks
        } else {
            blocks.counted()
        }
    }

    fn threads(&self) -> usize {
        threads(self.args.threads)
    }

    fn hashes(&self, block: &Block) -> Result<Vec<KeyHash>, Failure> {
        if self.reader.is_verbatim() {
            let lines = block.lines().map(|line| self.scheme.hash(block.key(line)));
            return Ok(lines.collect());
        }
        let mut lines = Keys::Verbatim(Vec::new());
        keys(block, &self.reader, &mut lines)?;
        let mut hashes = Vec::with_capacity(lines.len());
        lines.each(|key| {
            hashes.push(self.scheme.hash(key));
            Ok(())
        })?;
        Ok(hashes)
    }

    /// Block by block.
    fn each(&self, mut take: impl FnMut(&[KeyHash]) -> Result<(), Failure>) -> Result<(), Failure> {
        let blocks = self.blocks();
        let _progress = Progress::of(blocks.bytes_read(), self.args.input.size());
        let threads = if self.args.input.are_regular_files() {
            self.threads()
        } else {
            1
        };
        in_order(
            blocks,
            threads,
            |block| self.hashes(&block),
            |hashes| take(&hashes?).map(|()| ControlFlow::Continue(())),
        )
    }

    fn all(&self) -> Result<Vec<KeyHash>, Failure> {
        let mut all = Vec::new();
        self.each(|hashes| {
            all.extend_from_slice(hashes);
            Ok(())
        })?;
        Ok(all)
    }

    /// How many keys there are, unless that is said, and a way to their hashes.
    fn counted(&self) -> Result<(u64, Hashes), Failure> {
        if let Some(capacity) = self.args.capacity {
            return Ok((capacity, Hashes::Again));
        }
        if self.args.bits.is_some() {
            return Ok((1, Hashes::Again));
        }
        if self.args.input.are_regular_files() {
            return Ok((self.args.input.count_lines()?, Hashes::Again));
        }
        let file = tempfile::tempfile().map_err(|error| cannot_spool(&error))?;
        let mut file = BufWriter::new(file);
        let mut count = 0;
        self.each(|hashes| {
            count += hashes.len() as u64;
            hashes.iter().try_for_each(|hash| {
                let bytes = hash.to_u64().to_le_bytes();
                file.write_all(&bytes).map_err(|error| cannot_spool(&error))
            })
        })?;
        let mut file = file
            .into_inner()
            .map_err(|error| cannot_spool(error.error()))?;
        file.rewind().map_err(|error| cannot_spool(&error))?;
        Ok((count, Hashes::Spooled { file, count }))
    }
}

/// Hashes that are made (again) from the input, or lie in a file.
enum Hashes {
    Again,
    Spooled { file: File, count: u64 },
}

impl Hashes {
    fn each(
        self,
        source: &Source<'_>,
        mut take: impl FnMut(&[KeyHash]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let Self::Spooled { file, count } = self else {
            return source.each(take);
        };
        let mut file = BufReader::new(file);
        let mut left = count;
        let mut hashes = Vec::with_capacity(BATCH);
        while left > 0 {
            hashes.clear();
            for _ in 0..left.min(BATCH as u64) {
                let mut bytes = [0; 8];
                file.read_exact(&mut bytes)
                    .map_err(|error| cannot_spool(&error))?;
                let bits = u64::from_le_bytes(bytes);
                hashes.push(source.scheme.stored_hash(bits));
            }
            left -= hashes.len() as u64;
            take(&hashes)?;
        }
        Ok(())
    }
}

pub(super) fn cannot_spool(error: &io::Error) -> Failure {
    Failure::message(format!(
        "keys cannot be kept in a temporary file ({error}): give --capacity, or set TMPDIR to a folder with room"
    ))
}
