//! `RetouchedBloomFilter`: lists of keys and false positives, and clearing after clearing.

use super::{Params, check_result, numbers_of};
use crate::case::{Case, CaseError, Fields, Key, indices, rule_keys, same};
use mayhap_codec::hadoop::{Clearing, Retouched, retouched};
use serde_json::Value;

pub(crate) fn check(case: &mut Case) -> Result<(), CaseError> {
    let params = Params::parse(case)?;
    let keys = case.keys()?;
    let false_positives = rule_keys(case.take("fp_rule")?)?;
    let number_of = |at: u64| {
        let key = usize::try_from(at)
            .ok()
            .and_then(|at| false_positives.get(at));
        key.ok_or_else(|| CaseError::new(format!("no false positive {at}")))
    };
    let clearing = clearing(&case.text("scheme")?, case.u64("scheme_value")?)?;

    let (size, functions) = (params.vector_size, params.hash_functions);
    let mut filter = retouched::create(size, functions, params.hash_type)?;
    let mut weights = weights(case)?.into_iter().cycle();
    for key in &keys {
        filter.add(key.bytes(), weights.next().unwrap_or(1.0))?;
    }
    let registered = indices(&case.take("fp_indices_registered")?)?;
    for &at in &registered {
        filter.add_false_positive(number_of(at)?.bytes(), 1.0)?;
    }
    let before = retouched::encode(&filter)?;
    let log = case.list("clearing_log")?;
    for line in &log {
        let mut line = Fields::new("a clearing", line.clone())?;
        let key = number_of(line.u64("fp_index")?)?;
        let result = filter.selective_clearing(key.bytes(), clearing);
        check_result(result.map(|_| ()), &line.text("result")?)?;
        let ours = Value::from(filter.contains(key.bytes())?);
        same("member after", &ours, &line.take("member_after")?)?;
        line.finish()?;
    }
    let after = retouched::encode(&filter)?;

    let theirs = case.file("file_before_clearing")?;
    same("bytes before", &before, &theirs)?;
    // The lists of a file must serve as well as ours: all clearings again, on what was read.
    let mut read = retouched::decode(&theirs)?;
    let again = retouched::encode(&read)?;
    same("bytes of the decoded filter before", &again, &theirs)?;
    for line in &log {
        let at = line["fp_index"].as_u64().unwrap_or(u64::MAX);
        _ = read.selective_clearing(number_of(at)?.bytes(), clearing);
    }
    let theirs = case.file("file")?;
    same("bytes", &after, &theirs)?;
    same(
        "bytes by way of before",
        &retouched::encode(&read)?,
        &theirs,
    )?;
    let decoded = retouched::decode(&theirs)?;
    let again = retouched::encode(&decoded)?;
    same("bytes of the decoded filter", &again, &theirs)?;

    let lost = numbers_of(&keys, |key| !is_in(&decoded, key));
    let listed = indices(&case.take("false_negatives")?)?;
    same("false negatives", &lost, &listed)?;
    case.check_answers(|key| is_in(&decoded, key))
}

fn is_in(filter: &Retouched, key: &Key) -> bool {
    filter.contains(key.bytes()).is_ok_and(|found| found)
}

fn clearing(name: &str, number: u64) -> Result<Clearing, CaseError> {
    match (name, number) {
        ("MINIMUM_FN", 1) => Ok(Clearing::MinimumFalseNegatives),
        ("MAXIMUM_FP", 2) => Ok(Clearing::MaximumFalsePositives),
        ("RATIO", 3) => Ok(Clearing::Ratio),
        // Also RANDOM, whose choice no case could tell.
        _ => Err(CaseError::new(format!(
            "scheme {name}, {number}, is not known"
        ))),
    }
}

/// Key `i` has weight `i` modulo their number; without weights it is 1.
fn weights(case: &mut Case) -> Result<Vec<f64>, CaseError> {
    let Some(weights) = case.maybe("weights") else {
        return Ok(vec![]);
    };
    let numbers = weights
        .as_array()
        .and_then(|list| list.iter().map(Value::as_f64).collect());
    numbers.ok_or_else(|| CaseError::new(format!("weights {weights} are not numbers")))
}
