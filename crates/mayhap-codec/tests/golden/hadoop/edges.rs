//! What Hadoop throws exceptions at, one call a row, and its older header.

use crate::case::{Case, CaseError, Fields, from_hex, same};
use mayhap_codec::hadoop::{Clearing, HashType, bloom, counting, dynamic, retouched};
use mayhap_codec::{DecodeError, Problem};
use serde_json::Value;

pub(crate) fn check(case: &mut Case, rows: &Value) -> Result<(), CaseError> {
    case.fields("params")?.finish()?;
    for row in rows.as_array().into_iter().flatten() {
        let mut row = Fields::new("a row", row.clone())?;
        let (what, expect) = (row.text("what")?, row.text("expect")?);
        let result = row.text("result")?;
        row.finish()?;
        same("what the row expects", &(expect == "ok"), &(result == "ok"))?;
        // There is no null here.
        if what.ends_with("(null)") {
            continue;
        }
        let ours = call(&what)?;
        let as_hadoop = if ours.is_ok() { "ok" } else { "error" };
        same(&what, &as_hadoop, &expect.as_str())?;
    }
    check_header(case)
}

/// What a call comes to.
fn call(what: &str) -> Result<Result<(), CaseError>, CaseError> {
    let unknown = || CaseError::new(format!("{what} is not known"));
    if let Some(arguments) = what.strip_prefix("new BloomFilter(") {
        let arguments = arguments.strip_suffix(')').ok_or_else(unknown)?;
        let arguments: Result<Vec<i64>, _> = arguments.split(',').map(str::parse).collect();
        let [size, functions, hash_type] = arguments?[..] else {
            return Err(unknown());
        };
        return Ok(construct(size, functions, hash_type));
    }
    let (hash, call) = what.split_once(' ').ok_or_else(unknown)?;
    let hash_type = super::hash_type(hash)?;
    let other_type = match hash_type {
        HashType::Jenkins => HashType::Murmur,
        HashType::Murmur => HashType::Jenkins,
    };
    let mut filter = bloom::create(100, 3, hash_type)?;
    let mut counters = counting::create(100, 3, hash_type)?;
    let mut touched = retouched::create(100, 3, hash_type)?;
    touched.add("in", 1.0)?;
    let rows = dynamic::create(100, 3, hash_type, 5)?;
    let done =
        |result: Result<(), mayhap_codec::hadoop::HadoopError>| result.map_err(CaseError::from);
    Ok(match call {
        "BloomFilter.add(empty key)" => done(bloom::add(&mut filter, "").map(|_| ())),
        "BloomFilter.membershipTest(empty key)" => done(bloom::contains(&filter, "").map(|_| ())),
        "DynamicBloomFilter.membershipTest(empty key)" => done(rows.contains("").map(|_| ())),
        "CountingBloomFilter.not()" => done(counting::not(&mut counters)),
        "CountingBloomFilter.xor()" => {
            let other = counters.clone();
            done(counting::xor(&mut counters, &other))
        }
        "BloomFilter.and() of another size" => {
            let other = bloom::create(101, 3, hash_type)?;
            done(bloom::and(&mut filter, &other).map_err(Into::into))
        }
        "BloomFilter.or() of another hash type" => {
            let other = bloom::create(100, 3, other_type)?;
            done(bloom::or(&mut filter, &other).map_err(Into::into))
        }
        "selectiveClearing(MAXIMUM_FP) with no false positive registered" => done(
            touched
                .selective_clearing("in", Clearing::MaximumFalsePositives)
                .map(|_| ()),
        ),
        "selectiveClearing of a non-member" => done(
            touched
                .selective_clearing("not in", Clearing::Ratio)
                .map(|_| ()),
        ),
        _ => return Err(unknown()),
    })
}

/// A negative number is refused by its type already.
fn construct(size: i64, functions: i64, hash_type: i64) -> Result<(), CaseError> {
    let hash_type = HashType::from_number(u8::try_from(hash_type)?)?;
    bloom::create(u32::try_from(size)?, u32::try_from(functions)?, hash_type)?;
    Ok(())
}

/// The older header is read, and written as the newer; a version that does not exist is named.
fn check_header(case: &mut Case) -> Result<(), CaseError> {
    let newer = from_hex(&case.text("unversioned_reserialised_hex")?)?;
    let decoded = bloom::decode(&from_hex(&case.text("unversioned_hex")?)?)?;
    same(
        "bytes of an older stream",
        &bloom::encode(&decoded)?,
        &newer,
    )?;
    same("the newer stream", &bloom::decode(&newer)?, &decoded)?;

    let result = case.text("bad_version_result")?;
    let version = result.rsplit_once(": ").map(|(_, version)| version.parse());
    let Some(Ok(version)) = version else {
        return Err(CaseError::new(format!("no version in {result}")));
    };
    let mut bytes = newer;
    bytes.splice(..4, i32::to_be_bytes(version));
    match bloom::decode(&bytes) {
        Err(DecodeError {
            problem: Problem::Value { field, value, .. },
            ..
        }) => same("refused", &(field, value), &("version", version.into())),
        other => Err(CaseError::new(format!("version {version}: {other:?}"))),
    }
}
