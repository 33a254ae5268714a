//! Guava: streams, sizes, and its hash.

use crate::case::{Case, CaseError, Fields, Key, from_hex, indices, rule_keys, same};
use mayhap_codec::guava::{self, ProbeRule, Strategy};
use mayhap_core::{ClassicBloom, foreign};

pub(crate) fn check(case: &mut Case) -> Result<(), CaseError> {
    // The rule changed between the versions.
    let rule = if case.producer.contains("Guava 33") {
        ProbeRule::FromRate
    } else {
        ProbeRule::FromBits
    };
    if let Some(rows) = case.maybe("rows") {
        for row in rows.as_array().into_iter().flatten() {
            check_row(Fields::new("a row", row.clone())?, rule)?;
        }
        return case.fields("params")?.finish();
    }
    let mut params = case.fields("params")?;
    let strategy = match params.u64("strategy")? {
        0 => Strategy::Mitz32,
        _ => Strategy::Mitz64,
    };
    let name = match strategy {
        Strategy::Mitz32 => "MURMUR128_MITZ_32",
        Strategy::Mitz64 => "MURMUR128_MITZ_64",
    };
    same("strategy", &params.text("strategy_name")?.as_str(), &name)?;
    let funnel = params.text("funnel")?;
    let (keys, fpp, probes) = (
        params.u64("expected_insertions")?,
        params.f64("fpp")?,
        params.u64("k")?,
    );
    let bit_size = params.u64("bit_size")?;
    params.finish()?;

    let mut filter = guava::create(keys, fpp, strategy, rule)?;
    same("probes", &u64::from(filter.plan().probes), &probes)?;
    same("bits", &filter.plan().bits, &bit_size)?;
    let empty = filter.clone();
    let unchanged = insert_all(&mut filter, &case.keys()?, &funnel)?;
    if let Some(listed) = case.maybe("put_returned_false") {
        same("puts that changed nothing", &unchanged, &indices(&listed)?)?;
    }
    if let Some(rule) = case.maybe("merged_rule") {
        let mut other = empty;
        insert_all(&mut other, &rule_keys(rule)?, &funnel)?;
        filter.union_with(&other)?;
    }
    let ours = guava::encode(&filter)?;
    let theirs = case.file("file")?;
    same("bytes", &ours, &theirs)?;
    let decoded = guava::decode(&theirs)?;
    same(
        "bytes of the decoded filter",
        &guava::encode(&decoded)?,
        &theirs,
    )?;
    same(
        "approximateElementCount",
        &decoded.estimated_keys(),
        &case.u64("approximate_element_count")?,
    )?;
    let expected = case.f64("expected_fpp")?;
    if (decoded.estimated_rate() - expected).abs() > 1e-12 {
        return Err(CaseError::new(format!(
            "expectedFpp: {} and {expected}",
            decoded.estimated_rate()
        )));
    }
    same("members missing", &case.u64("members_missing")?, &0)?;
    case.check_answers(|key| decoded.contains(funnelled(key, &funnel)))
}

/// The numbers of the keys whose put changed nothing.
fn insert_all(
    filter: &mut ClassicBloom,
    keys: &[Key],
    funnel: &str,
) -> Result<Vec<u64>, CaseError> {
    if !["bytes", "string_utf8", "unencoded_chars", "integer", "long"].contains(&funnel) {
        return Err(CaseError::new(format!("funnel {funnel} is not known")));
    }
    let numbered = (0..).zip(keys);
    Ok(numbered
        .filter_map(|(at, key)| (!filter.insert(funnelled(key, funnel))).then_some(at))
        .collect())
}

fn funnelled(key: &Key, funnel: &str) -> Vec<u8> {
    match key {
        Key::Text(text) if funnel == "unencoded_chars" => guava::chars(text),
        key => key.bytes(),
    }
}

fn check_row(mut row: Fields, rule: ProbeRule) -> Result<(), CaseError> {
    if let Some(key) = row.maybe("key") {
        let (h1, h2) = foreign::murmur3::hash128(&Key::read(&key)?.bytes());
        let ours = [h1.to_le_bytes(), h2.to_le_bytes()].concat();
        same(
            "murmur3_128",
            &ours,
            &from_hex(&row.text("murmur3_128_hex")?)?,
        )?;
        return row.finish();
    }
    let (keys, fpp) = (row.u64("n")?, row.f64("p")?);
    let (bits, probes) = (row.u64("optimal_bits")?, row.u64("optimal_hashes")?);
    if bits == 0 {
        // Guava computes that, and refuses to make such a filter.
        row.ignore(&["error"]);
        for field in ["bit_size", "k_written"] {
            if let Some(value) = row.maybe(field) {
                return Err(CaseError::new(format!("{field} {value} of no bits")));
            }
        }
        return match guava::size(keys, fpp, rule) {
            Ok((ours, _)) => Err(CaseError::new(format!("{ours} bits where Guava has none"))),
            Err(_) => row.finish(),
        };
    }
    let (ours, our_probes) = guava::size(keys, fpp, rule)?;
    same("bits", &ours, &bits)?;
    same("probes", &u64::from(our_probes), &probes)?;
    // Of a filter that was really made, where there was memory for it.
    row.same_if_there("bit_size", ours.div_ceil(64) * 64)?;
    row.same_if_there("k_written", u64::from(our_probes))?;
    row.finish()
}
