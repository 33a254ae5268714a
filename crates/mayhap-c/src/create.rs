//! New filters.

use crate::arguments::{self, Keys, pass_filter};
use crate::filter::Filter;
use crate::options::Options;
use crate::status::{Failure, MAYHAP_OK, run};
use mayhap::formats::{BuildOptions, FilterBuilder, Format, Parameters, RequiredCount};
use mayhap::plan::{BloomPlan, WindowCuckooPlan};
use mayhap::{
    AnyFilter, Fuse, HashScheme, Hashed, Kind, Ribbon, SharedBloom, Timestamp, WindowCuckoo,
};
use std::ffi::{c_char, c_int};
use std::time::Duration;

fn kind(name: &str) -> Result<Kind, Failure> {
    Kind::from_name(name).ok_or_else(|| {
        let names: Vec<&str> = Kind::ALL.iter().map(|kind| kind.name()).collect();
        Failure::argument(format!(
            "there is no kind {name}: use one of {}",
            names.join(", ")
        ))
    })
}

fn capacity(keys: u64) -> Result<usize, Failure> {
    usize::try_from(keys).map_err(|_| Failure::argument("the capacity is too large"))
}

fn typed(filter: AnyFilter, options: &Options) -> Filter {
    let mut filter = Filter::from(filter);
    if let Some(key_type) = options.key_type {
        filter.set_key_type(key_type);
    }
    filter
}

/// Creates an empty filter for `capacity` keys with a false-positive rate. `kind` is "bloom", "classic", "counting", "growing",
/// "cuckoo", "growing-cuckoo", "counting-cuckoo" or "retouched"; other kinds have functions of their own.
///
/// Options: "secret=" with 32 hexadecimal digits, so that nobody can craft keys that collide; "key-type=u64" and others say what the
/// keys are to programs that read the filter's file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mayhap_new(
    kind: *const c_char,
    capacity: u64,
    false_positive_rate: f64,
    options: *const *const c_char,
    out: *mut *mut Filter,
) -> c_int {
    // SAFETY: the caller's promises, which the header states.
    run(|| unsafe {
        let options = Options::parse(&arguments::options(options)?)?;
        options.check_native()?;
        let kind = self::kind(arguments::text(kind, "kind")?)?;
        let capacity = self::capacity(capacity)?;
        let filter = AnyFilter::with_scheme(kind, capacity, false_positive_rate, options.scheme())?;
        pass_filter(typed(filter, &options), out)
    })
}

/// Creates a Bloom filter that any number of threads may query and insert into at the same time. Its files are those of "bloom".
/// Options as for `mayhap_new`, without "key-type".
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mayhap_new_shared(
    capacity: u64,
    false_positive_rate: f64,
    options: *const *const c_char,
    out: *mut *mut Filter,
) -> c_int {
    // SAFETY: the caller's promises.
    run(|| unsafe {
        let options = Options::parse(&arguments::options(options)?)?;
        options.check_native()?;
        let plan = BloomPlan::new(capacity, false_positive_rate)?;
        pass_filter(SharedBloom::from_plan(plan, options.scheme())?, out)
    })
}

/// Creates a filter that forgets keys: one that was inserted is found for `window_ms` milliseconds, and for at most an eighth of that
/// longer. `capacity` is the number of keys in a window. Times are milliseconds since any moment, such as 1970, and `now_ms` is the
/// first; `mayhap_insert_at` and `mayhap_contains_at` take them. Options as for `mayhap_new`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mayhap_new_window(
    capacity: u64,
    false_positive_rate: f64,
    window_ms: u64,
    now_ms: u64,
    options: *const *const c_char,
    out: *mut *mut Filter,
) -> c_int {
    // SAFETY: the caller's promises.
    run(|| unsafe {
        let options = Options::parse(&arguments::options(options)?)?;
        options.check_native()?;
        let window = Duration::from_millis(window_ms);
        let plan = WindowCuckooPlan::new(capacity, false_positive_rate, window)?;
        let filter = WindowCuckoo::from_plan(plan, options.scheme(), Timestamp(now_ms))?;
        pass_filter(typed(filter.into(), &options), out)
    })
}

fn build<I>(kind: Kind, items: I, rate: f64, scheme: HashScheme) -> Result<AnyFilter, Failure>
where
    I: IntoIterator<Item: Hashed, IntoIter: ExactSizeIterator> + Clone,
{
    match kind {
        Kind::Fuse => Ok(Fuse::build_with(items, rate, scheme)?.into()),
        Kind::Ribbon => Ok(Ribbon::build_with(items, rate, scheme)?.into()),
        Kind::Bloom
        | Kind::Classic
        | Kind::Counting
        | Kind::Growing
        | Kind::Window
        | Kind::Cuckoo
        | Kind::Retouched
        | Kind::GrowingCuckoo
        | Kind::CountingCuckoo
        | Kind::WindowCuckoo => Err(Failure::argument(format!(
            "a {kind} filter is not built at once: create it with mayhap_new and insert the keys"
        ))),
    }
}

/// Builds a filter of a fixed set of keys: `kind` is "fuse" (fast) or "ribbon" (small). Key number i has `lengths[i]` bytes at
/// `keys[i]`. Options as for `mayhap_new`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mayhap_build(
    kind: *const c_char,
    keys: *const *const c_char,
    lengths: *const usize,
    count: usize,
    false_positive_rate: f64,
    options: *const *const c_char,
    out: *mut *mut Filter,
) -> c_int {
    // SAFETY: the caller's promises.
    run(|| unsafe {
        let options = Options::parse(&arguments::options(options)?)?;
        options.check_native()?;
        let kind = self::kind(arguments::text(kind, "kind")?)?;
        let keys = Keys::from_pointers(keys.cast(), lengths, count)?;
        let filter = build(kind, keys.iter(), false_positive_rate, options.scheme())?;
        pass_filter(typed(filter, &options), out)
    })
}

/// The same for integers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mayhap_build_u64(
    kind: *const c_char,
    keys: *const u64,
    count: usize,
    false_positive_rate: f64,
    options: *const *const c_char,
    out: *mut *mut Filter,
) -> c_int {
    // SAFETY: the caller's promises.
    run(|| unsafe {
        let options = Options::parse(&arguments::options(options)?)?;
        options.check_native()?;
        let kind = self::kind(arguments::text(kind, "kind")?)?;
        let keys = arguments::values(keys, count, "keys")?;
        let bytes = keys.iter().map(|key| key.to_le_bytes());
        let filter = build(kind, bytes, false_positive_rate, options.scheme())?;
        pass_filter(typed(filter, &options), out)
    })
}

/// Creates an empty filter as another system would, for `capacity` keys: `format` is "guava", "spark", "parquet" and others, as for
/// `mayhap build --format`. Options: "bits=" and "probes=" instead of a capacity, and the parameters of the format, such as
/// "strategy=mitz64".
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mayhap_new_in_format(
    format: *const c_char,
    capacity: u64,
    false_positive_rate: f64,
    options: *const *const c_char,
    out: *mut *mut Filter,
) -> c_int {
    // SAFETY: the caller's promises.
    run(|| unsafe {
        let options = Options::parse(&arguments::options(options)?)?;
        let name = arguments::text(format, "format")?;
        let format = Format::from_name(name)
            .ok_or_else(|| Failure::argument(format!("there is no format {name}")))?;
        let parameters = Parameters::new(format, &options.parameters).map_err(Failure::argument)?;
        let build = BuildOptions {
            parameters,
            capacity: options.bits.is_none().then_some(capacity),
            rate: options.bits.is_none().then_some(false_positive_rate),
            bits: options.bits,
            probes: options.probes,
        };
        let count = match build.required_count() {
            RequiredCount::Nothing => 0,
            RequiredCount::Keys | RequiredCount::DistinctKeys => capacity,
        };
        let builder: FilterBuilder = build.start(count)?;
        pass_filter(builder.finish()?, out)
    })
}

/// Copies a filter into memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mayhap_clone(filter: *const Filter, out: *mut *mut Filter) -> c_int {
    // SAFETY: the caller's promises.
    run(|| unsafe { pass_filter(arguments::filter(filter)?.try_clone()?, out) })
}

/// Frees a filter. A null pointer is ignored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mayhap_free(filter: *mut Filter) {
    run(|| {
        if !filter.is_null() {
            // SAFETY: the caller's promise: it came from this library, and is not used any more.
            drop(unsafe { Box::from_raw(filter) });
        }
        Ok(MAYHAP_OK)
    });
}
