//! mayhap's own filters, by kind.

use super::source::KeySource;
use super::{BuildArgs, RATE};
use crate::codec_errors;
use crate::error::CliError;
use crate::input::{InputArgs, in_order};
use crate::progress::Progress;
use mayhap_codec::{KeyReader, Parameters, hadoop};
use mayhap_core::plan::classic::ClassicPlan;
use mayhap_core::plan::{
    BloomPlan, CuckooPlan, GrowingCuckooPlan, GrowingPlan, WindowCuckooPlan, WindowPlan,
};
use mayhap_core::{
    AnyFilter, Bloom, ClassicBloom, ClearingStrategy, CountingBloom, CountingCuckoo, Cuckoo,
    Excepting, Full, Fuse, GrowingBloom, GrowingCuckoo, HashScheme, KeyHash, Kind, OnConflict,
    OperationError, Retouched, Ribbon, Scheme, SharedBloom, Timestamp, WindowBloom, WindowCuckoo,
};
use std::io::{self, Write};
use std::ops::ControlFlow;

pub(super) fn build(
    args: &BuildArgs,
    parameters: &Parameters,
    scheme: HashScheme,
) -> Result<AnyFilter, CliError> {
    let kind = args.kind.unwrap_or_else(|| default_kind(args));
    check_kind(args, kind)?;
    let reader = parameters
        .key_reader(args.key_type)
        .map_err(|error| codec_errors::parameter(&error))?;
    let source = KeySource {
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
        Kind::Growing | Kind::GrowingCuckoo | Kind::CountingCuckoo
            if args.capacity.is_none() && !args.input.are_regular_files() =>
        {
            // A growing filter needs no number of keys.
            let plan = GrowingCuckooPlan::new(INITIAL_CAPACITY, rate);
            let mut filter = match kind {
                Kind::GrowingCuckoo => GrowingCuckoo::from_plan(plan?, scheme)?.into(),
                Kind::CountingCuckoo => CountingCuckoo::from_plan(plan?, scheme)?.into(),
                kind => empty(args, kind, INITIAL_CAPACITY, rate, scheme)?,
            };
            source.for_each(|hashes| insert(&mut filter, hashes).map_err(full_error))?;
            filter
        }
        Kind::Retouched => {
            let (count, hashes) = source.counted()?;
            let mut filter = empty(args, kind, count, rate, scheme)?;
            hashes.for_each(&source, |hashes| {
                insert(&mut filter, hashes).map_err(full_error)
            })?;
            retouch(filter, args, parameters, &source)?
        }
        Kind::Classic
        | Kind::Counting
        | Kind::Growing
        | Kind::Window
        | Kind::Cuckoo
        | Kind::GrowingCuckoo
        | Kind::CountingCuckoo
        | Kind::WindowCuckoo => {
            let (count, hashes) = source.counted()?;
            let mut filter = empty(args, kind, count, rate, scheme)?;
            hashes.for_each(&source, |hashes| {
                insert(&mut filter, hashes).map_err(full_error)
            })?;
            filter
        }
    };
    Ok(filter)
}

/// The initial capacity of a growing filter if none is given.
const INITIAL_CAPACITY: u64 = 100_000;

/// The kind that the other flags imply.
fn default_kind(args: &BuildArgs) -> Kind {
    match (args.window, args.bits, args.probes) {
        (Some(_), _, _) => Kind::WindowCuckoo,
        (_, Some(_), _) | (_, _, Some(_)) => Kind::Classic,
        _ => Kind::Bloom,
    }
}

fn check_kind(args: &BuildArgs, kind: Kind) -> Result<(), CliError> {
    let has_measures = args.bits.is_some() || args.probes.is_some();
    if has_measures && !matches!(kind, Kind::Classic | Kind::Counting) {
        return Err(CliError::message(format!(
            "--bits and --probes work only with --kind classic and counting: size a {kind} filter by --capacity and --fpr"
        )));
    }
    if args.bits.is_some() != args.probes.is_some() {
        return Err(CliError::message(
            "--bits and --probes need each other: give both, or --capacity and --fpr",
        ));
    }
    if matches!(kind, Kind::Window | Kind::WindowCuckoo) != args.window.is_some() {
        return Err(CliError::message(
            "--kind window or window-cuckoo and --window need each other: give both, such as --kind window-cuckoo --window 24h",
        ));
    }
    Ok(())
}

/// An empty filter of a kind that is filled key by key.
fn empty(
    args: &BuildArgs,
    kind: Kind,
    count: u64,
    rate: f64,
    scheme: HashScheme,
) -> Result<AnyFilter, CliError> {
    let capacity = args.capacity.unwrap_or(count).max(1);
    let classic = match (args.bits, args.probes) {
        (Some(bits), Some(probes)) => ClassicPlan::with_bits_and_probes(bits, probes),
        _ => ClassicPlan::new(capacity, rate),
    };
    let walk = Scheme::EnhancedDoubleHashing;
    Ok(match kind {
        Kind::Classic => ClassicBloom::from_plan(classic?, walk, scheme)?.into(),
        Kind::Counting => {
            let plan = mayhap_core::plan::counting::CountingPlan::from_classic(classic?, 4)?;
            CountingBloom::from_plan(plan, walk, scheme)?.into()
        }
        Kind::Growing => GrowingBloom::from_plan(GrowingPlan::new(capacity, rate)?, scheme)?.into(),
        Kind::Cuckoo => Cuckoo::from_plan(CuckooPlan::new(capacity, rate)?, scheme)?.into(),
        Kind::GrowingCuckoo => {
            let plan = GrowingCuckooPlan::with_maximum(capacity, rate)?;
            GrowingCuckoo::from_plan(plan, scheme)?.into()
        }
        Kind::CountingCuckoo => {
            let plan = GrowingCuckooPlan::with_maximum(capacity, rate)?;
            CountingCuckoo::from_plan(plan, scheme)?.into()
        }
        Kind::Window => {
            let window = args.window.unwrap_or_default();
            let plan = WindowPlan::new(capacity, rate, window)?;
            WindowBloom::from_plan(plan, scheme, Timestamp::now())?.into()
        }
        Kind::WindowCuckoo => {
            let window = args.window.unwrap_or_default();
            let plan = WindowCuckooPlan::new(capacity, rate, window)?;
            WindowCuckoo::from_plan(plan, scheme, Timestamp::now())?.into()
        }
        Kind::Retouched => {
            let plan = ClassicPlan::new(capacity, rate)?;
            Retouched::from_plan(plan, Scheme::EnhancedDoubleHashing, scheme)?.into()
        }
        Kind::Bloom => Bloom::from_plan(BloomPlan::new(capacity, rate)?, scheme)?.into(),
        Kind::Fuse | Kind::Ribbon => {
            return Err(CliError::message(format!(
                "a {kind} filter must be built from all its keys at once"
            )));
        }
    })
}

/// Inserts hashes into a filter of any dynamic kind.
fn insert(filter: &mut AnyFilter, hashes: &[KeyHash]) -> Result<(), OperationError> {
    match filter {
        AnyFilter::Bloom(filter) => filter.insert_hashes(hashes),
        AnyFilter::Growing(filter) => filter.insert_hashes(hashes),
        AnyFilter::GrowingCuckoo(filter) => {
            filter
                .try_insert_hashes(hashes)
                .map_err(OperationError::Full)?;
        }
        AnyFilter::CountingCuckoo(filter) => {
            filter
                .try_insert_hashes(hashes)
                .map_err(OperationError::Full)?;
        }
        AnyFilter::Window(filter) => filter.insert_hashes(hashes, Timestamp::now()),
        AnyFilter::WindowCuckoo(filter) => {
            filter
                .try_insert_hashes(hashes, Timestamp::now())
                .map_err(OperationError::Full)?;
        }
        filter => {
            for &hash in hashes {
                filter.try_insert_hash(hash)?;
            }
        }
    }
    Ok(())
}

const WITHOUT_COPIES: &str = "remove repeated lines with `sort -u`, or use --kind counting; a larger --capacity does not help";

/// The error when a filter is full during the build.
fn full_error(error: OperationError) -> CliError {
    CliError::message(match error {
        // A filter that is full before its capacity is reached has too many copies of some keys.
        OperationError::Full(Full::Table { keys, capacity }) if keys < capacity => format!(
            "the filter is full with {keys} keys of {capacity}, because it stores every copy of repeated keys: {WITHOUT_COPIES}"
        ),
        OperationError::Full(Full::Table { capacity, .. }) => format!(
            "the filter is full: there are more than {capacity} keys, and repeated keys count every time: use a larger --capacity, or remove repeated lines with `sort -u`"
        ),
        OperationError::Full(Full::Copies { copies }) => format!(
            "the filter is full: a key is repeated more than {copies} times, and a cuckoo filter stores every copy: {WITHOUT_COPIES}"
        ),
        other => other.to_string(),
    })
}

/// The default kind, on all cores.
fn bloom(source: &KeySource<'_>, rate: f64) -> Result<Bloom, CliError> {
    let args = source.args;
    let count = match args.capacity {
        Some(capacity) => capacity,
        None if args.input.are_regular_files() => args.input.count_keys()?,
        None => {
            let (count, hashes) = source.counted()?;
            let mut filter = Bloom::from_plan(BloomPlan::new(count.max(1), rate)?, source.scheme)?;
            hashes.for_each(source, |hashes| {
                filter.insert_hashes(hashes);
                Ok(())
            })?;
            return Ok(filter);
        }
    };
    let plan = BloomPlan::new(count.max(1), rate)?;
    let shared = SharedBloom::from_plan(plan, source.scheme)?;
    let blocks = source.blocks();
    let _progress = Progress::for_input(blocks.bytes_read(), args.input.size());
    in_order(
        blocks,
        source.threads(),
        |block| -> Result<(), CliError> {
            shared.insert_hashes(&source.hashes(&block)?);
            Ok(())
        },
        |done| done.map(|()| ControlFlow::Continue(())),
    )?;
    Ok(shared.freeze())
}

fn with_exceptions(source: &KeySource<'_>, kind: Kind, rate: f64) -> Result<AnyFilter, CliError> {
    let args = source.args;
    let exceptions = match &args.except {
        Some(path) => read_keys(&args.input.for_list(path), &source.reader)?,
        None => Vec::new(),
    };
    let on_conflict = args.on_conflict.unwrap_or(OnConflict::Refuse);
    let scheme = source.scheme;
    let mut hashes = source.all()?;
    if on_conflict == OnConflict::Allow {
        // Allowed keys are not inserted: the layer would have to override the base.
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
        Kind::Bloom
        | Kind::Classic
        | Kind::Counting
        | Kind::Growing
        | Kind::Window
        | Kind::Cuckoo
        | Kind::Retouched
        | Kind::GrowingCuckoo
        | Kind::CountingCuckoo
        | Kind::WindowCuckoo => {
            let mut filter = empty(args, kind, hashes.len() as u64, rate, scheme)?;
            insert(&mut filter, &hashes).map_err(full_error)?;
            filter
        }
    };
    let made = Excepting::build_with(base, &hashes, &exceptions, on_conflict);
    let filter = made.map_err(|error| {
        // Only hashes of the inserted keys are left, while the exceptions are bytes.
        let in_both = || -> Option<String> {
            let mut sorted: Vec<u64> = hashes.iter().map(|hash| hash.to_u64()).collect();
            sorted.sort_unstable();
            let both = exceptions
                .iter()
                .find(|key| sorted.binary_search(&scheme.hash(key).to_u64()).is_ok())?;
            Some(String::from_utf8_lossy(both).into_owned())
        };
        match error {
            mayhap_core::ExceptingError::Conflict { count, .. }
            | mayhap_core::ExceptingError::Collision { count, .. } => CliError::message(format!(
                "{:?}{} in the input and in the exceptions: remove it from one of them, or use --on-conflict block or --on-conflict allow",
                in_both().unwrap_or_default(),
                match count {
                    1 => " is".to_owned(),
                    more => format!(" and {} more are", more - 1),
                }
            )),
            other => CliError::message(other.to_string()),
        }
    })?;
    Ok(filter.into())
}

/// Removes the false positives that the user lists.
fn retouch(
    filter: AnyFilter,
    args: &BuildArgs,
    parameters: &Parameters,
    source: &KeySource<'_>,
) -> Result<AnyFilter, CliError> {
    let (AnyFilter::Retouched(mut filter), Some(path)) = (filter, parameters.false_positives())
    else {
        return Err(CliError::message(
            "a retouched filter needs a list of false positives to remove: give -P false_positives=FILE",
        ));
    };
    let list = args.input.for_list(&path);
    filter.add_false_positives(&read_keys(&list, &source.reader)?)?;
    let clearing = parameters
        .clearing()
        .map_err(|error| codec_errors::parameter(&error))?;
    let cleared = filter.clear_all(match clearing {
        Some(hadoop::Clearing::Random { number }) => ClearingStrategy::Random { seed: number },
        Some(hadoop::Clearing::MinimumFalseNegatives) => ClearingStrategy::MinimumFalseNegatives,
        Some(hadoop::Clearing::MaximumFalsePositives) => ClearingStrategy::MaximumFalsePositives,
        Some(hadoop::Clearing::Ratio) | None => ClearingStrategy::Ratio,
    })?;
    if cleared.keys_lost > 0 {
        let _ = writeln!(
            io::stderr(),
            "mayhap: removed {} false positives, and lost {} keys",
            cleared.false_positives_removed,
            cleared.keys_lost
        );
    }
    Ok(filter.into())
}

pub(crate) fn read_keys(list: &InputArgs, reader: &KeyReader) -> Result<Vec<Vec<u8>>, CliError> {
    let lines = list.all_lines()?;
    if reader.is_verbatim() {
        return Ok(lines);
    }
    let read = (1..).zip(&lines).map(|(number, line)| {
        let key = reader.read(line);
        key.map_err(|error| crate::filter_files::invalid_key(number, &error))
    });
    read.collect()
}
