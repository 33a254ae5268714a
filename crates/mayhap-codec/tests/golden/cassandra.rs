//! Cassandra: files of its three layouts, sizes, hashes, and what its reader does with odd files.

use crate::case::{Case, CaseError, Fields, Key, from_hex, same};
use mayhap_codec::cassandra::{self, ByteOrder, Filter, Layout};
use mayhap_core::foreign::murmur3;
use mayhap_core::plan::cassandra::{buckets_and_probes, words};
use mayhap_core::plan::classic::ClassicPlan;
use mayhap_core::{ClassicBloom, HashScheme, PlanError, Scheme};
use serde_json::Value;

/// Files since 4.0.
pub(crate) fn check(case: &mut Case) -> Result<(), CaseError> {
    check_dialect(case, ByteOrder::New)
}

/// Files before that.
pub(crate) fn check_old(case: &mut Case) -> Result<(), CaseError> {
    check_dialect(case, ByteOrder::Old)
}

fn check_dialect(case: &mut Case, order: ByteOrder) -> Result<(), CaseError> {
    if let Some(rows) = case.maybe("rows") {
        case.fields("params")?.finish()?;
        let rows = rows.as_array().cloned().unwrap_or_default();
        return rows.into_iter().try_for_each(|row| {
            let mut row = Fields::new("a row", row)?;
            match row.maybe("what") {
                Some(_) => check_edge(&mut row, order),
                None => check_size(&mut row),
            }?;
            row.finish()
        });
    }
    let mut params = case.fields("params")?;
    let layout = layout(&mut params)?;
    same("byte order", &layout.byte_order(), &order)?;
    let (mut filter, encoding) = create(&mut params, layout)?;
    params.finish()?;
    let key_bytes = |key: &Key| match (&*encoding, key) {
        ("int", Key::I32(_)) | ("bigint", Key::I64(_)) => Ok(key.big_endian_bytes()),
        ("int" | "bigint", _) | (_, Key::I32(_) | Key::I64(_) | Key::U64(_) | Key::Cell { .. }) => {
            Err(CaseError::new(format!("{key:?} is not {encoding}")))
        }
        (_, Key::Text(_) | Key::Bytes(_)) => Ok(key.bytes()),
    };
    let keys = case.keys()?;
    for key in &keys {
        filter.insert(key_bytes(key)?);
    }
    let ours = cassandra::encode(&filter, layout)?;
    let theirs = case.file("file")?;
    same("bytes", &ours, &theirs)?;
    let decoded = cassandra::decode(&theirs, layout)?;
    let again = cassandra::encode(&decoded, layout)?;
    same("bytes of the decoded filter", &again, &theirs)?;
    let is_in = |key: &Key| decoded.contains(key.big_endian_bytes());
    let missing = keys.iter().filter(|key| !is_in(key)).count() as u64;
    case.same_if_there("members_missing", missing)?;
    case.check_answers(is_in)
}

/// The layout that both orders say, and the version, too. A filter without bits has only one order.
fn layout(params: &mut Fields) -> Result<Layout, CaseError> {
    let format = params.text("format")?;
    let hash_order = params.maybe("hash_order");
    let hash_order = hash_order.as_ref().and_then(Value::as_str);
    let layout = match (&*format, hash_order.unwrap_or(&format)) {
        ("new", "new") => Layout::Cassandra4,
        ("old", "new") => Layout::Cassandra3,
        ("old", "old") => Layout::Cassandra1,
        other => return Err(CaseError::new(format!("orders {other:?} are not known"))),
    };
    if let Some(version) = params.maybe("sstable_version") {
        // "na and later"
        let version = version.as_str().unwrap_or("?");
        let version = version.split(' ').next().unwrap_or("?");
        let format = if version.starts_with('d') {
            "bti"
        } else {
            "big"
        };
        same("layout", &Layout::from_version(version, format)?, &layout)?;
    }
    Ok(layout)
}

/// The empty filter, by the rules for a chance or for buckets, or with the shape of a real file; and how keys are encoded.
fn create(params: &mut Fields, layout: Layout) -> Result<(Filter, String), CaseError> {
    let (chance, buckets) = (params.maybe("fpp"), params.maybe("buckets_per_key"));
    let elements = params.maybe("elements");
    let elements = elements.as_ref().and_then(Value::as_u64);
    let number = |value: &Value| value.as_u64().map(|number| number as u32);
    let buckets = buckets.as_ref().and_then(number);
    let filter = match (elements, chance.as_ref().and_then(Value::as_f64), buckets) {
        (Some(elements), Some(chance), _) => cassandra::create(elements, chance, layout)?,
        (Some(elements), None, Some(buckets)) => {
            Filter::Bloom(cassandra::with_buckets(elements, buckets, layout)?)
        }
        _ => {
            let (bits, probes) = (params.u64("bit_size")?, params.u64("k")?);
            let plan = ClassicPlan::with_bits_and_probes(bits, u32::try_from(probes)?)?;
            let filter = ClassicBloom::from_plan(plan, layout.scheme(), HashScheme::Caller)?;
            return Ok((Filter::Bloom(filter), params.text("key_encoding")?));
        }
    };
    let Filter::Bloom(bits) = &filter else {
        return Ok((filter, "bytes".to_owned()));
    };
    let (k, bit_size) = (params.u64("k")?, params.u64("bit_size")?);
    let shape = (u64::from(bits.plan().probes), bits.plan().bits);
    same("probes and bits", &shape, &(k, bit_size))?;
    if let (Some(elements), Some(buckets)) = (elements, buckets) {
        same("bits", &(64 * words(elements, buckets)?), &bit_size)?;
    }
    Ok((filter, params.text("key_encoding")?))
}

fn check_size(row: &mut Fields) -> Result<(), CaseError> {
    let (keys, chance) = (row.u64("n")?, row.f64("p")?);
    if row.maybe("error").is_some() {
        let refused = cassandra::create(keys, chance, Layout::Cassandra4);
        let is_refused = matches!(refused, Err(PlanError::InvalidNumber { .. }));
        return same("refused", &is_refused, &true);
    }
    if let Some(result) = row.maybe("result") {
        same("result", &result, &Value::from("AlwaysPresent"))?;
        let ours = cassandra::create(keys, chance, Layout::Cassandra4)?;
        return same("filter", &ours, &Filter::AlwaysPresent);
    }
    let (buckets, probes) = buckets_and_probes(chance)?;
    let theirs = (row.u64("buckets_per_key")?, row.u64("k")?);
    let ours = (u64::from(buckets), u64::from(probes));
    same("buckets and probes", &ours, &theirs)?;
    match row.maybe("bit_size") {
        None => Ok(()),
        Some(bits) => same("bits", &Some(64 * words(keys, buckets)?), &bits.as_u64()),
    }
}

/// What the reader does with odd files; keys are "key-0" and another. Undefined answers are refused here.
fn check_edge(row: &mut Fields, order: ByteOrder) -> Result<(), CaseError> {
    let bytes = from_hex(&row.text("hex")?)?;
    let read = row.text("read")?;
    let (key_0, absent) = (
        row.text("is_present_key_0")?,
        row.text("is_present_absent")?,
    );
    let layout = match order {
        ByteOrder::New => Layout::Cassandra4,
        ByteOrder::Old => Layout::Cassandra3,
    };
    let ours = cassandra::decode(&bytes, layout);
    if bytes.is_empty() {
        // The stream's reader fails, but the loader of an SSTable does not even call it.
        return same("empty file", &ours, &Ok(Filter::AlwaysPresent));
    }
    // A filter that cannot be asked is refused when it is read.
    let is_asked = |answer: &str| answer == "ok: true" || answer == "ok: false";
    let is_read = read.starts_with("ok") && is_asked(&key_0) && is_asked(&absent);
    same("read", &ours.is_ok(), &is_read)?;
    let Ok(filter) = ours else { return Ok(()) };
    if let Some(shape) = read.strip_prefix("ok: ") {
        let ours = match &filter {
            Filter::AlwaysPresent => shape.to_owned(),
            Filter::Bloom(filter) => {
                let plan = filter.plan();
                format!("k={} bits={}", plan.probes, plan.bits)
            }
        };
        same("shape", &ours, &shape.to_owned())?;
    }
    // One answer is the same for every key, and others were given for one key in the filter and one not.
    let (yes, no) = (key_0 == "ok: true", absent == "ok: true");
    if yes == no {
        return same("every answer", &filter.contains("any key"), &yes);
    }
    Ok(())
}

pub(crate) fn check_hashes(case: &mut Case) -> Result<(), CaseError> {
    let mut params = case.fields("params")?;
    let order = params.maybe("hash_order");
    let scheme = match order.as_ref().map(|order| order.as_str()) {
        None => {
            same("seed", &params.i64("seed")?, &0)?;
            None
        }
        Some(Some("new")) => Some(Scheme::Cassandra),
        Some(Some("old")) => Some(Scheme::CassandraOld),
        Some(_) => return Err(CaseError::new(format!("hash order {order:?}"))),
    };
    params.finish()?;
    for row in case.list("rows")? {
        let mut row = Fields::new("a row", row)?;
        let key = Key::read(&row.take("key")?)?.big_endian_bytes();
        match scheme {
            None => check_hash(&mut row, &key)?,
            Some(scheme) => check_positions(&mut row, &key, scheme)?,
        }
        row.finish()?;
    }
    Ok(())
}

fn check_hash(row: &mut Fields, key: &[u8]) -> Result<(), CaseError> {
    let (h1, h2) = murmur3::cassandra(key);
    let theirs = (row.text("h1")?, row.text("h2")?);
    let ours = (format!("{h1:016x}"), format!("{h2:016x}"));
    same("hash", &ours, &theirs)?;
    let is_standard = murmur3::hash128(key) == (h1, h2);
    same(
        "standard",
        &Value::from(is_standard),
        &row.take("standard")?,
    )?;
    // The smallest number is kept for the partitioner itself, and an empty key gets it.
    let token = match (key.is_empty(), h1.cast_signed()) {
        (true, _) => i64::MIN,
        (false, i64::MIN) => i64::MAX,
        (false, token) => token,
    };
    same("token", &token.to_string(), &row.text("token")?)
}

fn check_positions(row: &mut Fields, key: &[u8], scheme: Scheme) -> Result<(), CaseError> {
    let (bits, probes) = (row.u64("bits")?, u32::try_from(row.u64("k")?)?);
    let filter = ClassicBloom::with_bits_and_probes(bits, probes, scheme)?;
    let ours: Vec<u64> = filter.positions_of(key).collect();
    let theirs = crate::case::indices(&row.take("positions")?)?;
    same("positions", &ours, &theirs)
}
