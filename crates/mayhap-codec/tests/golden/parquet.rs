//! Parquet: the bitset, and its sizes.

use crate::case::{Case, CaseError, Fields, Key, same};
use mayhap_codec::parquet;
use mayhap_core::foreign;

pub(crate) fn check(case: &mut Case) -> Result<(), CaseError> {
    let mut params = case.fields("params")?;
    if let Some(rows) = case.maybe("rows") {
        params.finish()?;
        for row in rows.as_array().into_iter().flatten() {
            let mut row = Fields::new("a row", row.clone())?;
            let bits = parquet::bits(row.u64("n")?, row.f64("p")?);
            same("bits", &bits, &row.u64("optimal_bits")?)?;
            row.same_if_there("bitset_bytes", parquet::with_bytes(bits / 8)?.size_bytes())?;
            row.finish()?;
        }
        for row in case.list("rows_bytes")? {
            let mut row = Fields::new("a row", row)?;
            let filter = parquet::with_bytes(row.u64("requested_bytes")?)?;
            same("bytes", &filter.size_bytes(), &row.u64("bitset_bytes")?)?;
            row.finish()?;
        }
        return Ok(());
    }
    let mut filter = parquet::with_bytes(params.u64("requested_bytes")?)?;
    same("bytes", &filter.size_bytes(), &params.u64("bitset_bytes")?)?;
    params.finish()?;
    let keys = case.keys()?;
    for key in &keys {
        filter.insert(key.bytes());
    }
    let ours = parquet::encode(&filter)?;
    let theirs = case.file("file")?;
    same("bytes", &ours, &theirs)?;
    let decoded = parquet::decode(&theirs)?;
    same(
        "bytes of the decoded filter",
        &parquet::encode(&decoded)?,
        &theirs,
    )?;
    same("members missing", &case.u64("members_missing")?, &0)?;
    check_hashes(case)?;
    case.check_answers(|key| decoded.contains(key.bytes()))
}

fn check_hashes(case: &mut Case) -> Result<(), CaseError> {
    for row in case.list("hashes")? {
        let mut row = Fields::new("a row", row)?;
        let key = Key::read(&row.take("key")?)?.bytes();
        let ours = format!("{:016x}", foreign::xxh64(&key));
        same("XXH64", &ours, &row.text("xxh64")?)?;
        row.finish()?;
    }
    Ok(())
}
