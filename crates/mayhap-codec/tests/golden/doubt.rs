//! The runner, doubted: a case that was spoilt must fail.

use crate::case::CaseError;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Spoils copies of the first case that has a file and false positives, in one way each, and says which way went unnoticed.
pub(crate) fn check(
    cases: &[PathBuf],
    run: impl Fn(&Path) -> Result<String, CaseError>,
) -> Result<(), CaseError> {
    let Some((path, case)) = cases.iter().find_map(|path| Some((path, spoilable(path)?))) else {
        return Ok(());
    };
    let folder = std::env::temp_dir().join(format!("mayhap-golden-{}", std::process::id()));
    let result = spoil(path, &case, &folder, run);
    std::fs::remove_dir_all(&folder)?;
    result
}

fn spoilable(path: &Path) -> Option<Value> {
    let case: Value = serde_json::from_slice(&std::fs::read(path).ok()?).ok()?;
    let positives = case.pointer("/absent/false_positives")?.as_array()?;
    (!positives.is_empty() && case.get("file")?.is_string()).then_some(case)
}

fn spoil(
    path: &Path,
    case: &Value,
    folder: &Path,
    run: impl Fn(&Path) -> Result<String, CaseError>,
) -> Result<(), CaseError> {
    let source = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    for entry in std::fs::read_dir(source)? {
        let entry = entry?;
        std::fs::copy(entry.path(), folder.join(entry.file_name()))?;
    }
    let copy = folder.join(path.file_name().unwrap_or_default());
    let attempt = |name: &str, case: &Value| -> Result<(), CaseError> {
        std::fs::write(&copy, serde_json::to_vec(case)?)?;
        match run(&copy) {
            Err(_) => Ok(()),
            Ok(_) => Err(CaseError::new(format!("{name} went unnoticed"))),
        }
    };
    std::fs::write(&copy, serde_json::to_vec(case)?)?;
    run(&copy)?;

    let mut fewer = case.clone();
    if let Some(Value::Array(positives)) = fewer.pointer_mut("/absent/false_positives") {
        positives.pop();
    }
    attempt("a false positive that is not listed", &fewer)?;

    let mut more = case.clone();
    more["surprise"] = Value::Bool(true);
    attempt("a field that nobody knows", &more)?;

    let file = folder.join(case["file"].as_str().unwrap_or_default());
    let mut bytes = std::fs::read(&file)?;
    if let Some(last) = bytes.last_mut() {
        *last ^= 1;
    }
    std::fs::write(&file, bytes)?;
    attempt("a flipped bit", case)
}
