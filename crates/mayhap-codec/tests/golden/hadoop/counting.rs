//! `CountingBloomFilter`: adding, deleting, counting, and joining bit by bit.

use super::Params;
use crate::case::{Case, CaseError, Fields, Key, indices, rule_keys, same};
use mayhap_codec::hadoop::{HadoopError, counting};
use mayhap_core::CountingBloom;
use serde_json::Value;

pub(crate) fn check(case: &mut Case) -> Result<(), CaseError> {
    let params = Params::parse(case)?;
    let keys = case.keys()?;
    let mut filter = filled(&params, &keys)?;
    for operation in case.list("ops")? {
        run(&mut filter, Fields::new("an op", operation)?)?;
    }
    if let Some(combine) = case.maybe("combine") {
        let other = filled(&params, &rule_keys(case.take("other_rule")?)?)?;
        match combine.as_str() {
            Some("and") => counting::and(&mut filter, &other)?,
            Some("or") => counting::or(&mut filter, &other)?,
            _ => return Err(CaseError::new(format!("combine {combine} is not known"))),
        }
    }
    let ours = counting::encode(&filter)?;
    let theirs = case.file("file")?;
    same("bytes", &ours, &theirs)?;
    let decoded = counting::decode(&theirs)?;
    let again = counting::encode(&decoded)?;
    same("bytes of the decoded filter", &again, &theirs)?;

    same(
        "counts of the keys",
        &counts(&decoded, &keys)?,
        &indices(&case.take("rule_counts")?)?,
    )?;
    for probe in case.list("probes")? {
        let mut probe = Fields::new("a probe", probe)?;
        let key = Key::read(&probe.take("key")?)?;
        check_key(&decoded, &key, &mut probe, "approximate_count", "expected")?;
        probe.finish()?;
    }
    case.maybe("absent")
        .map_or(Ok(()), |absent| check_absent(&decoded, absent))
}

fn filled(params: &Params, keys: &[Key]) -> Result<CountingBloom, CaseError> {
    let (size, functions) = (params.vector_size, params.hash_functions);
    let mut filter = counting::create(size, functions, params.hash_type)?;
    for key in keys {
        counting::add(&mut filter, key.bytes())?;
    }
    Ok(filter)
}

/// An operation, as often as it is said to be done, until the first that is refused.
fn run(filter: &mut CountingBloom, mut operation: Fields) -> Result<(), CaseError> {
    let key = Key::read(&operation.take("key")?)?;
    let name = operation.text("op")?;
    let (mut completed, mut result) = (0, Ok(()));
    for _ in 0..operation.u64("times")? {
        result = match name.as_str() {
            "add" => counting::add(filter, key.bytes()).map(|_| ()),
            "delete" => counting::delete(filter, key.bytes()),
            _ => return Err(CaseError::new(format!("op {name} is not known"))),
        };
        if result.is_err() {
            break;
        }
        completed += 1;
    }
    same("completed", &completed, &operation.u64("completed")?)?;
    super::check_result(result, &operation.text("result")?)?;
    check_key(filter, &key, &mut operation, "count_after", "member_after")?;
    operation.finish()
}

/// What a filter says of a key, and what two fields say that it does.
fn check_key(
    filter: &CountingBloom,
    key: &Key,
    fields: &mut Fields,
    count: &str,
    member: &str,
) -> Result<(), CaseError> {
    let ours = counting::approximate_count(filter, key.bytes())?;
    same(count, &ours, &fields.u64(count)?)?;
    let ours = counting::contains(filter, key.bytes())?;
    same(member, &Value::from(ours), &fields.take(member)?)
}

fn counts(filter: &CountingBloom, keys: &[Key]) -> Result<Vec<u64>, HadoopError> {
    keys.iter()
        .map(|key| counting::approximate_count(filter, key.bytes()))
        .collect()
}

/// The false positives are exactly those that are listed, and are counted as often.
fn check_absent(filter: &CountingBloom, absent: Value) -> Result<(), CaseError> {
    let mut absent = Fields::new("absent", absent)?;
    let keys = rule_keys(absent.take("rule")?)?;
    let counts = counts(filter, &keys)?;
    let found = super::numbers_of(&keys, |key| {
        counting::contains(filter, key.bytes()).is_ok_and(|found| found)
    });
    let listed = indices(&absent.take("false_positives")?)?;
    same("false positives", &found, &listed)?;
    let counts: Vec<u64> = found.iter().map(|&at| counts[at as usize]).collect();
    let listed = indices(&absent.take("approximate_counts")?)?;
    same("counts of false positives", &counts, &listed)?;
    absent.finish()
}
