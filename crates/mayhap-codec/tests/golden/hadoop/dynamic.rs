//! `DynamicBloomFilter`: rows that fill one after the other, and are joined one by one.

use super::{Params, check_missing};
use crate::case::{Case, CaseError, Key, rule_keys, same};
use mayhap_codec::hadoop::{Dynamic, dynamic};

pub(crate) fn check(case: &mut Case) -> Result<(), CaseError> {
    let mut fields = case.fields("params")?;
    let params = Params::take(&mut fields)?;
    let keys_a_row = i32::try_from(fields.i64("nr")?)?;
    fields.finish()?;
    let keys = case.keys()?;
    let mut filter = filled(&params, keys_a_row, &keys)?;
    let other = case.maybe("other_rule").map(rule_keys).transpose()?;
    if let Some(combine) = case.maybe("combine") {
        let other = filled(&params, keys_a_row, &other.unwrap_or_default())?;
        match combine.as_str() {
            Some("and") => filter.and(&other)?,
            Some("or") => filter.or(&other)?,
            Some("xor") => filter.xor(&other)?,
            Some("not") => filter.not(),
            _ => return Err(CaseError::new(format!("combine {combine} is not known"))),
        }
    }
    let ours = dynamic::encode(&filter)?;
    let theirs = case.file("file")?;
    same("bytes", &ours, &theirs)?;
    let decoded = dynamic::decode(&theirs)?;
    let again = dynamic::encode(&decoded)?;
    same("bytes of the decoded filter", &again, &theirs)?;
    let is_in = |key: &Key| decoded.contains(key.bytes()).is_ok_and(|found| found);
    check_missing(case, &keys, is_in)?;
    case.check_answers(is_in)
}

fn filled(params: &Params, keys_a_row: i32, keys: &[Key]) -> Result<Dynamic, CaseError> {
    let (size, functions) = (params.vector_size, params.hash_functions);
    let mut filter = dynamic::create(size, functions, params.hash_type, keys_a_row)?;
    for key in keys {
        filter.add(key.bytes())?;
    }
    Ok(filter)
}
