//! Spark: streams of both versions, merges, sizes, and its hash.

use crate::case::{Case, CaseError, Fields, Key, indices, rule_keys, same};
use mayhap_codec::guava::{self, ProbeRule};
use mayhap_codec::spark::{self, Version};
use mayhap_core::{ClassicBloom, foreign};
use serde_json::Value;

pub(crate) fn check(case: &mut Case) -> Result<(), CaseError> {
    if let Some(rows) = case.maybe("rows") {
        let mut params = case.fields("params")?;
        let seeds = params.list("seeds")?;
        params.finish()?;
        let longs = case.maybe("long_rows");
        for rows in [Some(rows), longs].into_iter().flatten() {
            check_hashes(&rows, &seeds)?;
        }
        return Ok(());
    }
    if let Some(rows) = case.maybe("rows_np") {
        case.fields("params")?.finish()?;
        check_sizes(&rows, &case.take("rows_nm")?)?;
        return Ok(());
    }
    let mut params = case.fields("params")?;
    let version = match params.u64("version")? {
        1 => Version::One,
        _ => Version::Two {
            seed: i32::try_from(params.i64("seed")?)?,
        },
    };
    let (items, bits) = (params.u64("expected_items")?, params.u64("num_bits")?);
    let (probes, bit_size) = (params.u64("k")?, params.u64("bit_size")?);
    params.finish()?;

    let mut filter = spark::with_bits(items, bits, version)?;
    same("probes", &u64::from(filter.plan().probes), &probes)?;
    same("bits", &filter.plan().bits, &bit_size)?;
    let mut other = filter.clone();
    let unchanged = put_all(&mut filter, &case.keys()?);
    same(
        "puts that changed nothing",
        &unchanged,
        &indices(&case.take("put_returned_false")?)?,
    )?;
    if let Some(combine) = case.maybe("combine") {
        put_all(&mut other, &rule_keys(case.take("other_rule")?)?);
        match combine.as_str() {
            Some("or") => filter.union_with(&other)?,
            Some("and") => filter.intersect_with(&other)?,
            _ => return Err(CaseError::new(format!("combine {combine} is not known"))),
        }
    }
    let ours = spark::encode(&filter)?;
    let theirs = case.file("file")?;
    same("bytes", &ours, &theirs)?;
    let decoded = spark::decode(&theirs)?;
    same(
        "bytes of the decoded filter",
        &spark::encode(&decoded)?,
        &theirs,
    )?;
    same(
        "bits set",
        &decoded.set_bits(),
        &case.u64("cardinality_bits_set")?,
    )?;
    let expected = case.f64("expected_fpp")?;
    if (decoded.estimated_rate() - expected).abs() > 1e-12 {
        return Err(CaseError::new(format!(
            "expectedFpp: {} and {expected}",
            decoded.estimated_rate()
        )));
    }
    // After an intersection keys may be missing, and the file says how many.
    case.ignore(&["members_missing"]);
    case.check_answers(|key| decoded.contains(put(key)))
}

/// Every integer is a long.
fn put(key: &Key) -> Vec<u8> {
    match key {
        Key::I32(number) => i64::from(*number).to_le_bytes().to_vec(),
        key => key.bytes(),
    }
}

fn put_all(filter: &mut ClassicBloom, keys: &[Key]) -> Vec<u64> {
    let numbered = (0..).zip(keys);
    numbered
        .filter_map(|(at, key)| (!filter.insert(put(key))).then_some(at))
        .collect()
}

fn check_hashes(rows: &Value, seeds: &[Value]) -> Result<(), CaseError> {
    for row in rows.as_array().into_iter().flatten() {
        let mut row = Fields::new("a row", row.clone())?;
        let key = put(&Key::read(&row.take("key")?)?);
        for (hash, seed) in row.list("hash")?.iter().zip(seeds) {
            let seed = i32::try_from(seed.as_i64().unwrap_or(i64::MAX))?;
            let ours = foreign::murmur3::spark(&key, seed.cast_unsigned()).cast_signed();
            same("hash", &Some(i64::from(ours)), &hash.as_i64())?;
        }
        row.finish()?;
    }
    Ok(())
}

fn check_sizes(by_rate: &Value, by_bits: &Value) -> Result<(), CaseError> {
    for row in by_rate.as_array().into_iter().flatten() {
        let mut row = Fields::new("a row", row.clone())?;
        let (keys, fpp) = (row.u64("n")?, row.f64("p")?);
        let (bits, _) = guava::size(keys, fpp, ProbeRule::FromBits)?;
        same("bits", &bits, &row.u64("optimal_bits")?)?;
        // Of a filter that was really made, where there was memory for it.
        row.same_if_there("k", u64::from(spark::probes(keys, bits)))?;
        row.same_if_there("bit_size", bits.div_ceil(64) * 64)?;
        row.same_if_there("default_stream_version", 2)?;
        row.finish()?;
    }
    for row in by_bits.as_array().into_iter().flatten() {
        let mut row = Fields::new("a row", row.clone())?;
        let (keys, bits) = (row.u64("n")?, row.u64("num_bits")?);
        same(
            "probes",
            &u64::from(spark::probes(keys, bits)),
            &row.u64("k")?,
        )?;
        same(
            "bits of the longs",
            &(bits.div_ceil(64) * 64),
            &row.u64("bit_size")?,
        )?;
        row.finish()?;
    }
    Ok(())
}
