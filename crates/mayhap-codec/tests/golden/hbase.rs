//! HBase: chunks, their sizes and hashes, and what its readers do with odd bytes.

mod hfile;

pub(crate) use hfile::check as check_hfile;

use crate::case::{Case, CaseError, Fields, Key, from_hex, same};
use mayhap_codec::hbase::{self, Filter, HashType, Meta, row_column_key};
use mayhap_core::foreign::{lookup3, murmur2, murmur3};
use mayhap_core::plan::hbase::ChunkPlan;
use serde_json::Value;

pub(crate) fn check(case: &mut Case) -> Result<(), CaseError> {
    if let Some(rows) = case.maybe("rows") {
        case.fields("params")?.finish()?;
        let rows = rows.as_array().cloned().unwrap_or_default();
        return rows.into_iter().try_for_each(|row| {
            let mut row = Fields::new("a row", row)?;
            match row.maybe("what") {
                Some(what) => check_edge(&mut row, what.as_str().unwrap_or("?")),
                None => check_size(&mut row),
            }?;
            row.finish()
        });
    }
    let mut params = case.fields("params")?;
    let hash = hash_type(&mut params)?;
    let is_cell = match &*params.text("bloom_type")? {
        "ROW" => false,
        "ROWCOL" => true,
        other => return Err(CaseError::new(format!("type {other} is not known"))),
    };
    let plan = plan(&mut params)?;
    let before = (
        params.u64("bytes_before_fold")?,
        params.u64("max_keys_before_fold")?,
    );
    same("shape", &(plan.bytes, plan.max_keys), &before)?;
    same("probes", &u64::from(plan.probes), &params.u64("k")?)?;
    let keys = case.keys()?;
    same("keys", &(keys.len() as u64), &params.u64("key_count")?)?;
    let mut chunk = hbase::create(&plan, hash)?;
    for key in &keys {
        chunk.insert(key_bytes(key, is_cell)?);
    }
    let ours_before = hbase::encode(&chunk)?;
    let mut folded = plan;
    if params.take("compacted")? == Value::Bool(true) {
        (chunk, folded) = hbase::compact(&chunk, &plan, keys.len() as u64)?;
    }
    let after = (params.u64("filter_bytes")?, params.u64("max_keys")?);
    same("folded shape", &(folded.bytes, folded.max_keys), &after)?;
    params.finish()?;
    let ours = hbase::encode(&chunk)?;
    if let Some(theirs) = case.maybe_file("file_before_fold")? {
        same("bytes before folding", &ours_before, &theirs)?;
    }
    let theirs = case.file("file")?;
    same("bytes", &ours, &theirs)?;
    let decoded = hbase::decode(&theirs, plan.probes, hash)?;
    if let Filter::Bloom(filter) = &decoded {
        same(
            "bytes of the decoded chunk",
            &hbase::encode(filter)?,
            &theirs,
        )?;
    }
    let is_in = |key: &Key| key_bytes(key, is_cell).is_ok_and(|key| decoded.contains(key));
    let missing = keys.iter().filter(|key| !is_in(key)).count() as u64;
    case.same_if_there("members_missing", missing)?;
    case.check_answers(is_in)
}

fn hash_type(params: &mut Fields) -> Result<HashType, CaseError> {
    let number = i32::try_from(params.i64("hash_type")?)?;
    let by_name = match &*params.text("hash")? {
        "jenkins" => HashType::Jenkins,
        "murmur" => HashType::Murmur,
        "murmur3" => HashType::Murmur3,
        other => return Err(CaseError::new(format!("hash {other} is not known"))),
    };
    same("hash type", &Some(by_name), &HashType::from_number(number))?;
    Ok(by_name)
}

/// `size 128` or `keys 1000`.
fn plan(params: &mut Fields) -> Result<ChunkPlan, CaseError> {
    let (rate, fold) = (params.f64("error_rate")?, params.u64("fold_factor")?);
    let (made_by, fold) = (params.text("made_by")?, u32::try_from(fold)?);
    match made_by.split_once(' ') {
        Some(("size", size)) => Ok(ChunkPlan::by_size(size.parse()?, rate, fold)?),
        Some(("keys", keys)) => Ok(ChunkPlan::by_keys(keys.parse()?, rate, fold)?),
        _ => Err(CaseError::new(format!("made by {made_by}"))),
    }
}

/// The bytes that are hashed.
fn key_bytes(key: &Key, is_cell: bool) -> Result<Vec<u8>, CaseError> {
    match (key, is_cell) {
        (Key::Cell { row, qualifier, .. }, true) => {
            row_column_key(row, qualifier).ok_or_else(|| CaseError::new("the row is too long"))
        }
        (Key::Text(_) | Key::Bytes(_), false) => Ok(key.bytes()),
        _ => Err(CaseError::new(format!("{key:?} is not a key of this type"))),
    }
}

fn check_size(row: &mut Fields) -> Result<(), CaseError> {
    let (rate, fold) = (
        row.f64("error_rate")?,
        u32::try_from(row.u64("fold_factor")?)?,
    );
    let plan = match &*row.text("by")? {
        "size" => ChunkPlan::by_size(row.u64("size_hint")?, rate, fold),
        "keys" => ChunkPlan::by_keys(row.u64("max_keys_asked")?, rate, fold),
        other => return Err(CaseError::new(format!("by {other}"))),
    };
    if row.maybe("error").is_some() {
        return same("refused", &plan.is_err(), &true);
    }
    let plan = plan?;
    let ours = (plan.bytes, u64::from(plan.probes), plan.max_keys);
    let theirs = (
        row.u64("filter_bytes")?,
        row.u64("k")?,
        row.u64("max_keys")?,
    );
    same("bytes, probes and keys", &ours, &theirs)
}

/// What HBase's readers did with odd metadata, and with odd chunks.
fn check_edge(row: &mut Fields, what: &str) -> Result<(), CaseError> {
    let bytes = from_hex(&row.text("hex")?)?;
    let result = row.text("result")?;
    if !what.starts_with("metadata") {
        let probes = if what.contains("k = 0") { 0 } else { 7 };
        let ours = hbase::decode(&bytes, probes, HashType::Murmur);
        same("read", &ours.is_ok(), &result.starts_with("ok"))?;
        return match ours {
            Err(_) => Ok(()),
            Ok(filter) => same("answer", &format!("ok: {}", filter.contains("a")), &result),
        };
    }
    let ours = Meta::decode(&bytes);
    let Some(theirs) = result.strip_prefix("ok: ") else {
        return same("refused", &ours.is_err(), &true);
    };
    let meta = ours?;
    let described = format!(
        "BloomSize: {}; No of Keys in bloom: {}; Max Keys for bloom: {};",
        meta.total_bytes, meta.keys, meta.max_keys
    );
    same("described", &theirs.starts_with(&described), &true)?;
    let chunks = format!("Number of chunks: {};", meta.chunks.len());
    same("chunks", &theirs.contains(&chunks), &true)?;
    // It ignores what follows.
    let again = meta.encode();
    same("encoded", &bytes.starts_with(&again), &true)
}

type Hash = fn(&[u8], u32) -> u32;

const HASHES: [(&str, Hash); 3] = [
    ("jenkins", lookup3::hash),
    ("murmur", murmur2::hbase),
    ("murmur3", murmur3::hash32),
];

pub(crate) fn check_hashes(case: &mut Case) -> Result<(), CaseError> {
    let mut params = case.fields("params")?;
    let seeds = params.maybe("seeds");
    params.finish()?;
    let seeds: Option<Vec<i64>> = seeds.map(serde_json::from_value).transpose()?;
    for row in case.list("rows")? {
        let mut row = Fields::new("a row", row)?;
        let key = if let Some(key) = row.maybe("key") {
            Key::read(&key)?.bytes()
        } else {
            let part = |value: Value| Key::read(&value).map(|key| key.bytes());
            let (line, column) = (part(row.take("row")?)?, part(row.take("qualifier")?)?);
            let ours = row_column_key(&line, &column).unwrap_or_default();
            same("key", &ours, &part(row.take("bloom_key")?)?)?;
            ours
        };
        for (name, hash) in HASHES {
            let ours: Vec<i32> = if let Some(seeds) = &seeds {
                let hashes = seeds.iter().map(|&seed| hash(&key, seed as u32));
                hashes.map(u32::cast_signed).collect()
            } else {
                // The second is seeded with the first.
                let first = hash(&key, 0);
                vec![first.cast_signed(), hash(&key, first).cast_signed()]
            };
            let theirs: Vec<i32> = serde_json::from_value(row.take(name)?)?;
            same(name, &ours, &theirs)?;
        }
        row.finish()?;
    }
    Ok(())
}
