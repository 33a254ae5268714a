//! Bitcoin: `filterload`, and its hash.

use crate::case::{Case, CaseError, Fields, Key, same};
use mayhap_codec::bip37;
use mayhap_core::foreign;

pub(crate) fn check(case: &mut Case) -> Result<(), CaseError> {
    let mut params = case.fields("params")?;
    if let Some(rows) = case.maybe("rows") {
        let seeds = params.list("seeds")?;
        for row in rows.as_array().into_iter().flatten() {
            let mut row = Fields::new("a row", row.clone())?;
            let key = Key::read(&row.take("key")?)?.bytes();
            for (hash, seed) in row.list("hash")?.iter().zip(&seeds) {
                let seed = u32::try_from(seed.as_u64().unwrap_or(u64::MAX))?;
                same(
                    "hash",
                    &Some(u64::from(foreign::murmur3::hash32(&key, seed))),
                    &hash.as_u64(),
                )?;
            }
            row.finish()?;
        }
        return params.finish();
    }
    let (elements, fpp) = (params.u64("elements")?, params.f64("fpp")?);
    let (tweak, flags) = (
        u32::try_from(params.u64("tweak")?)?,
        u8::try_from(params.u64("flags")?)?,
    );
    let mut made = bip37::create(elements, fpp, tweak, flags)?;
    let plan = *made.filter.plan();
    same(
        "probes",
        &u64::from(plan.probes),
        &params.u64("hash_funcs")?,
    )?;
    same(
        "bytes of data",
        &(plan.bits / 8),
        &params.u64("data_bytes")?,
    )?;
    params.finish()?;
    // Bitcoin Core's own rule: whole numbers divided first.
    let core = (plan.bits / elements) as f64 * std::f64::consts::LN_2;
    same(
        "probes by Core's rule",
        &(core as u64).min(50),
        &case.u64("hash_funcs_by_integer_division")?,
    )?;
    for key in case.keys()? {
        made.filter.insert(key.bytes());
    }
    let ours = bip37::encode(&made)?;
    let theirs = case.file("file")?;
    same("bytes", &ours, &theirs)?;
    let decoded = bip37::decode(&theirs)?;
    same("flags", &decoded.flags, &flags)?;
    same(
        "bytes of the decoded filter",
        &bip37::encode(&decoded)?,
        &theirs,
    )?;
    case.check_answers(|key| decoded.filter.contains(key.bytes()))
}
