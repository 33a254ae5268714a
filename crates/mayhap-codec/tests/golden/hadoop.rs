//! Hadoop: its four filters with their operations, what it refuses, and its hashes.

mod counting;
mod dynamic;
mod edges;
mod retouched;

pub(crate) use counting::check as check_counting;
pub(crate) use dynamic::check as check_dynamic;
pub(crate) use retouched::check as check_retouched;

use crate::case::{Case, CaseError, Fields, Key, from_hex, indices, rule_keys, same};
use mayhap_codec::hadoop::{HadoopError, HashType, bloom};
use mayhap_core::{ClassicBloom, foreign};
use serde_json::Value;

/// The parameters that every filter has.
struct Params {
    vector_size: u32,
    hash_functions: u32,
    hash_type: HashType,
}

impl Params {
    fn take(params: &mut Fields) -> Result<Self, CaseError> {
        let hash_type = hash_type(&params.text("hash")?)?;
        let number = u64::from(hash_type.number());
        same("hash type", &number, &params.u64("hash_type")?)?;
        Ok(Self {
            vector_size: u32::try_from(params.u64("vector_size")?)?,
            hash_functions: u32::try_from(params.u64("nb_hash")?)?,
            hash_type,
        })
    }

    fn parse(case: &mut Case) -> Result<Self, CaseError> {
        let mut params = case.fields("params")?;
        let taken = Self::take(&mut params)?;
        params.finish()?;
        Ok(taken)
    }

    fn filter(&self) -> Result<ClassicBloom, CaseError> {
        let Self {
            vector_size,
            hash_functions,
            hash_type,
        } = *self;
        Ok(bloom::create(vector_size, hash_functions, hash_type)?)
    }
}

fn hash_type(name: &str) -> Result<HashType, CaseError> {
    match name {
        "jenkins" => Ok(HashType::Jenkins),
        "murmur" => Ok(HashType::Murmur),
        other => Err(CaseError::new(format!("hash {other} is not known"))),
    }
}

fn add_all(filter: &mut ClassicBloom, keys: &[Key]) -> Result<(), CaseError> {
    for key in keys {
        bloom::add(filter, key.bytes())?;
    }
    Ok(())
}

/// Empty keys, which Hadoop refuses, are in no case.
fn is_in(filter: &ClassicBloom, key: &Key) -> bool {
    bloom::contains(filter, key.bytes()).is_ok_and(|found| found)
}

/// The numbers of the keys for which something holds.
fn numbers_of(keys: &[Key], holds: impl Fn(&Key) -> bool) -> Vec<u64> {
    let numbered = (0..).zip(keys);
    numbered
        .filter(|(_, key)| holds(key))
        .map(|(at, _)| at)
        .collect()
}

fn check_missing(
    case: &mut Case,
    keys: &[Key],
    contains: impl Fn(&Key) -> bool,
) -> Result<(), CaseError> {
    let missing = numbers_of(keys, |key| !contains(key)).len() as u64;
    same("members missing", &missing, &case.u64("members_missing")?)
}

/// What Hadoop answered: "ok", or the exception that stands for one of our errors.
fn check_result(ours: Result<(), HadoopError>, theirs: &str) -> Result<(), CaseError> {
    let exception = match ours {
        Ok(()) => "ok",
        Err(HadoopError::NotAMember) => "java.lang.IllegalArgumentException: Key is not a member",
        Err(HadoopError::EmptyKey) => "java.lang.IllegalArgumentException: key length must be > 0",
        Err(HadoopError::NothingToClear(_)) => {
            "java.lang.ArrayIndexOutOfBoundsException: Array index out of range: -2147483648"
        }
        Err(other) => return Err(other.into()),
    };
    same("result", &exception, &theirs)
}

/// The filter of a file, once its bytes are those of ours and it becomes the same bytes again.
fn read_back(case: &mut Case, ours: &ClassicBloom) -> Result<ClassicBloom, CaseError> {
    let ours = bloom::encode(ours)?;
    let theirs = case.file("file")?;
    same("bytes", &ours, &theirs)?;
    let decoded = bloom::decode(&theirs)?;
    let again = bloom::encode(&decoded)?;
    same("bytes of the decoded filter", &again, &theirs)?;
    Ok(decoded)
}

pub(crate) fn check(case: &mut Case) -> Result<(), CaseError> {
    if let Some(rows) = case.maybe("rows") {
        return edges::check(case, &rows);
    }
    let mut filter = Params::parse(case)?.filter()?;
    let keys = case.keys()?;
    add_all(&mut filter, &keys)?;
    let decoded = read_back(case, &filter)?;
    check_missing(case, &keys, |key| is_in(&decoded, key))?;
    case.check_answers(|key| is_in(&decoded, key))
}

pub(crate) fn check_operations(case: &mut Case) -> Result<(), CaseError> {
    let params = Params::parse(case)?;
    let operation = case.text("op")?;
    let a_rule = case.take("a_rule")?;
    let before = case.text("a_hex_before")?;
    let a_keys = rule_keys(a_rule.clone())?;
    let b_keys = case.maybe("b_rule").map(rule_keys).transpose()?;

    let mut filter = params.filter()?;
    add_all(&mut filter, &a_keys)?;
    let ours = bloom::encode(&filter)?;
    same("bytes before", &ours, &from_hex(&before)?)?;
    let mut other = params.filter()?;
    add_all(&mut other, b_keys.as_deref().unwrap_or_default())?;
    match operation.as_str() {
        "and" => bloom::and(&mut filter, &other)?,
        "or" => bloom::or(&mut filter, &other)?,
        "xor" => bloom::xor(&mut filter, &other)?,
        "not" => bloom::not(&mut filter),
        _ => return Err(CaseError::new(format!("op {operation} is not known"))),
    }
    let decoded = read_back(case, &filter)?;
    let found = |keys: &[Key]| numbers_of(keys, |key| is_in(&decoded, key));
    let listed = indices(&case.take("positive_a_indices")?)?;
    same("keys of a", &found(&a_keys), &listed)?;
    let listed = indices(&case.take("positive_b_indices")?)?;
    match b_keys {
        Some(b_keys) => same("keys of b", &found(&b_keys), &listed)?,
        None => check_sibling_keys(case, &a_rule, &before, |keys| found(keys) == listed)?,
    }
    case.check_answers(|key| is_in(&decoded, key))
}

/// `not` has no second filter, and still lists the keys of one that it finds: by the rule of a sibling that begins with the same
/// filter. Alone in its folder it does not say which keys these are, and nothing can be checked.
fn check_sibling_keys(
    case: &Case,
    a_rule: &Value,
    before: &str,
    are_as_listed: impl Fn(&[Key]) -> bool,
) -> Result<(), CaseError> {
    let mut siblings = 0;
    for sibling in case.siblings()? {
        let begins_alike = sibling["a_rule"] == *a_rule && sibling["a_hex_before"] == before;
        if begins_alike && !sibling["b_rule"].is_null() {
            if are_as_listed(&rule_keys(sibling["b_rule"].clone())?) {
                return Ok(());
            }
            siblings += 1;
        }
    }
    same(
        "siblings whose keys of b are not those listed",
        &siblings,
        &0,
    )
}

pub(crate) fn check_hashes(case: &mut Case) -> Result<(), CaseError> {
    let mut params = case.fields("params")?;
    let seeds = params.list("seeds")?;
    params.finish()?;
    for row in case.list("rows")? {
        let mut row = Fields::new("a row", row)?;
        let key = Key::read(&row.take("key")?)?.bytes();
        for name in ["jenkins", "murmur"] {
            let hash = match hash_type(name)? {
                HashType::Jenkins => foreign::lookup3::hash,
                HashType::Murmur => foreign::murmur2::hadoop,
            };
            let mut ours = Vec::new();
            for seed in &seeds {
                let seed = i32::try_from(seed.as_i64().unwrap_or(i64::MAX))?;
                ours.push(Value::from(hash(&key, seed.cast_unsigned()).cast_signed()));
            }
            same(name, &ours, &row.list(name)?)?;
        }
        row.finish()?;
    }
    Ok(())
}
