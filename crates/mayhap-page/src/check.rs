//! Lookups in a file that was inspected.

use crate::{Options, PageError, inspect};
use mayhap_codec::{KeyType, Location, OpenedFilter, Parameters};
use serde_json::{Value, json};

/// The most keys of a request.
const MAX_KEYS: usize = 100_000;

/// Which keys may be in a file: `answers` has, for each key, whether one of the selected filters may contain it, or why it is not a
/// key.
///
/// # Errors
/// If the file cannot be opened, its filters cannot be queried, or an option is wrong.
pub fn check(bytes: &[u8], keys: &[String], options: &Options) -> Result<Value, PageError> {
    let options = options.with_underscores();
    options.check_names(&inspect::NAMES)?;
    if keys.len() > MAX_KEYS {
        return Err(PageError::new(format!(
            "{} keys are too many for the page: query up to {MAX_KEYS}, or use `mayhap check`",
            keys.len()
        )));
    }
    let found = inspect::open(bytes, &options)?;
    let wanted = wanted(&options)?;
    let selected: Vec<OpenedFilter> = found
        .into_iter()
        .filter(|found| found.location.is_wanted(&wanted))
        .collect();
    if selected.is_empty() {
        return Err(PageError::new(
            "the file has no such filter: choose another one, or all",
        ));
    }
    let given = options.get("key_type", |text| {
        KeyType::from_name(text).ok_or_else(|| format!("use one of {}", KeyType::NAMES))
    })?;
    let mut answers = vec![Value::Null; keys.len()];
    for found in &selected {
        answer(found, keys, given, &options, &mut answers)?;
    }
    let count = answers
        .iter()
        .filter(|answer| **answer == Value::Bool(true));
    Ok(json!({
        "filters": selected.len(),
        "present": count.count(),
        "answers": answers,
    }))
}

fn wanted(options: &Options) -> Result<Location, PageError> {
    Ok(Location {
        row_group: options.number("row_group")?,
        column: options.text("column").map(str::to_owned),
        key: options.text("key").map(|key| key.as_bytes().to_vec()),
        granule: options.number("granule")?,
        ..Location::default()
    })
}

/// A key that is valid for some filters only is in none of the others.
fn answer(
    found: &OpenedFilter,
    keys: &[String],
    given: Option<KeyType>,
    options: &Options,
    answers: &mut [Value],
) -> Result<(), PageError> {
    found.filter.check_keys().map_err(PageError::new)?;
    let key_type = match (found.filter.key_type(), given) {
        (Some(stored), Some(given)) if !stored.has_keys_of(given) => {
            return Err(PageError::new(format!(
                "the filter has keys of type {stored}, not {given}: leave the type as it is"
            )));
        }
        (stored, given) => given.or(stored).unwrap_or_default(),
    };
    let parameters: Vec<String> = options.all("P").map(str::to_owned).collect();
    let reader = Parameters::new(found.filter.format(), &parameters)
        .and_then(|parameters| found.key_reader(&parameters, key_type))
        .map_err(PageError::new)?;
    for (key, answer) in keys.iter().zip(answers) {
        match reader.read(key.as_bytes()) {
            Ok(key) if found.filter.contains(&key) => *answer = json!(true),
            Ok(_) if *answer != json!(true) => *answer = json!(false),
            Err(error) if answer.is_null() => *answer = json!(error.to_string()),
            Ok(_) | Err(_) => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use mayhap_codec::native;
    use mayhap_core::Bloom;

    #[test]
    fn keys_that_were_inserted_are_found_and_wrong_ones_are_explained() {
        let mut filter = Bloom::new(100, 1e-6).unwrap();
        filter.insert(7_i64.to_le_bytes().as_slice());
        let bytes = native::to_bytes(&filter).unwrap();
        let keys = ["7", "8", "seven"].map(String::from);
        let options = Options::new([("key_type".into(), "i64".into())]);
        let answer = check(&bytes, &keys, &options).unwrap();
        assert_eq!(answer["answers"][0], true);
        assert_eq!(answer["answers"][1], false);
        assert!(answer["answers"][2].is_string());
        assert_eq!(answer["present"], 1);
    }
}
