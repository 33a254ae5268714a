//! Files: the objects of `mayhap info --json`, and below `page` the picture of each filter and what is wrong with it.

use crate::{Options, PageError};
use mayhap_codec::values::rate;
use mayhap_codec::{
    Format, KeyType, Limits, OpenError, OpenOptions, OpenedFilter, Problem, Setting, StoredFilter,
    index, native,
};
use mayhap_core::{AnyFilter, HashScheme};
use serde_json::{Map, Value, json};

/// Names of options that say what the file does not.
pub(crate) const NAMES: [&str; 13] = [
    "name",
    "format",
    "from",
    "fpr",
    "probes",
    "columns",
    "P",
    "key_file",
    "key_type",
    "column",
    "row_group",
    "key",
    "granule",
];

/// Parts of a picture: a square of 64 by 64.
const PARTS: usize = 4096;
/// Filters of a container that get a picture; the others are described only.
const PICTURES: usize = 64;
/// Filters of a container that are described.
const DESCRIBED: usize = 2000;
/// A decoded file may take this many times its own bytes, and at least `MIN_BYTES`: the memory of a browser's page and of a server is
/// limited.
const TIMES: u64 = 8;
const MIN_BYTES: u64 = 64 << 20;

/// What is in a file. The answer has `filters`, each with what `info --json` prints and a field `page`.
///
/// # Errors
/// If the file is not a filter, is damaged, or needs an option; the error says which formats or settings solve it.
pub fn inspect(bytes: &[u8], options: &Options) -> Result<Value, PageError> {
    let options = options.with_underscores();
    options.check_names(&NAMES)?;
    let name = options.text("name").unwrap_or("file");
    let found = open(bytes, &options)?;
    let filters: Vec<Value> = found
        .iter()
        .take(DESCRIBED)
        .enumerate()
        .map(|(number, found)| {
            let mut object = found.to_json();
            object.insert("file".to_owned(), json!(name));
            let page = page(found, &object, number < PICTURES);
            object.insert("page".to_owned(), page);
            Value::Object(object)
        })
        .collect();
    Ok(json!({
        "bytes": bytes.len(),
        "found": found.len(),
        "formats": format_names(),
        "key_types": KeyType::NAMES.split(", ").collect::<Vec<_>>(),
        "filters": filters,
    }))
}

fn format_names() -> Vec<&'static str> {
    Format::ALL.iter().map(|format| format.name()).collect()
}

/// All formats, the likely ones first: detection cannot know an index of several columns, for example.
fn formats_by_likelihood(likely: &[Format]) -> Vec<&'static str> {
    let others = Format::ALL.iter().filter(|format| !likely.contains(format));
    likely
        .iter()
        .chain(others)
        .map(|format| format.name())
        .collect()
}

/// Opens all filters of a file.
pub(crate) fn open(bytes: &[u8], options: &Options) -> Result<Vec<OpenedFilter>, PageError> {
    let format = |text: &str| {
        Format::from_name(text).ok_or_else(|| {
            let names = format_names().join(", ");
            format!("there is no format {text:?}: use one of {names}")
        })
    };
    let key = options.get("key_file", |text| {
        mayhap_codec::parse_key(text.as_bytes())
            .ok_or("a key file has 32 hexadecimal digits: paste its text")
    })?;
    let open_options = OpenOptions {
        format: options
            .get("format", format)?
            .or(options.get("from", format)?),
        parameters: options.all("P").map(str::to_owned).collect(),
        rate: options.get("fpr", rate)?,
        probes: options.number("probes")?,
        columns: options.number("columns")?,
        key,
        file_name: options.text("name").map(str::to_owned),
        limits: Limits {
            max_bytes: (bytes.len() as u64).saturating_mul(TIMES).max(MIN_BYTES),
        },
    };
    let found = mayhap_codec::open(bytes, &open_options)
        .map_err(|error| explain(bytes, &open_options, &error))?;
    if found.is_empty() {
        return Err(PageError::new(
            "the file contains no filter: use one that was written with filters enabled",
        ));
    }
    Ok(found)
}

/// What the file needs in addition, in the words of the page's options.
fn explain(bytes: &[u8], options: &OpenOptions, error: &OpenError) -> PageError {
    if bytes.starts_with(&index::MAGIC) {
        return PageError::new(
            "this is an index of files, not a filter: query it with `mayhap which INDEX KEY`",
        );
    }
    match error {
        OpenError::Ambiguous(formats) => {
            let names: Vec<&str> = formats.iter().map(|format| format.name()).collect();
            PageError::new(format!(
                "this could be a filter of several formats ({}): choose the format",
                names.join(", ")
            ))
            .with("formats", formats_by_likelihood(formats))
        }
        OpenError::Unknown => PageError::new(
            "this is not a filter of a known format: if it is one, choose its format",
        )
        .with("formats", format_names()),
        OpenError::Text => PageError::new(
            "this is text, not a filter: build a filter from its lines with `mayhap build -o F.mayhap FILE`; if it is one, choose its format",
        )
        .with("formats", format_names()),
        OpenError::Missing {
            any_of, definition, ..
        } => {
            let settings: Vec<&str> = any_of.iter().map(|setting| option(*setting)).collect();
            PageError::new(format!("{error} ({definition})")).with("settings", settings)
                .with("formats", format_names())
        }
        OpenError::Decode(decode) => match decode.problem {
            Problem::KeyOutside { .. } => PageError::new(
                "this filter was built with a secret key that is not in the file: give the text of its key file",
            )
            .with("settings", vec!["key_file"]),
            Problem::Checksum if decode.format == Format::Mayhap => damaged(bytes, options, error),
            // It may have another format than the one that was detected.
            _ => PageError::new(error)
                .with("formats", formats_by_likelihood(&[decode.format])),
        },
        OpenError::Parameter(_) => PageError::new(error).with("settings", vec!["P"]),
    }
}

/// The option that gives a setting.
const fn option(setting: Setting) -> &'static str {
    match setting {
        Setting::FalsePositiveRate => "fpr",
        Setting::Bits | Setting::ByteOrder => "P",
        Setting::Probes => "probes",
    }
}

/// A damaged file of our own: which pages, and what a repair would leave.
fn damaged(bytes: &[u8], options: &OpenOptions, error: &OpenError) -> PageError {
    match native::repair_with_ones(bytes, options.limits, options.key) {
        Ok(repaired) => PageError::new(format!(
            "{error}; `mayhap verify FILE --repair ones -o REPAIRED` keeps all keys, at a higher rate"
        ))
        .with("damaged_pages", repaired.damaged_pages)
        .with("pages", repaired.pages)
        .with("repaired_rate", repaired.estimated_rate),
        Err(_) => PageError::new(format!(
            "{error}; restore a copy of it, or rebuild it from the keys"
        )),
    }
}

fn page(found: &OpenedFilter, object: &Map<String, Value>, has_picture: bool) -> Value {
    let picture = has_picture.then(|| found.filter.picture(PARTS)).flatten();
    json!({
        "location": found.location.to_string(),
        "key_type": found.filter.key_type().map(KeyType::name),
        "picture": picture.map(|picture| json!({
            "unit": picture.unit.name(),
            "per_part": picture.per_part,
            "shares": picture.shares,
            "layers": found.filter.layer_fills().iter().map(|layer| json!({
                "share": layer.share,
                "fill_at_capacity": layer.fill_at_capacity,
            })).collect::<Vec<_>>(),
        })),
        "warnings": warnings(&found.filter, object),
    })
}

/// What deserves attention, by name.
fn warnings(filter: &StoredFilter, object: &Map<String, Value>) -> Vec<&'static str> {
    let number = |name: &str| object.get(name).and_then(Value::as_f64);
    let mut warnings = Vec::new();
    let is_over = object.get("over_capacity") == Some(&Value::Bool(true));
    if is_over {
        warnings.push("over_capacity");
    }
    match (number("estimated_rate"), number("false_positive_rate")) {
        // A little more is chance.
        (Some(now), Some(requested)) if now > 1.1 * requested && !is_over => {
            warnings.push("rate_above_requested");
        }
        _ => {}
    }
    if number("fill") == Some(1.0) && number("bits").is_some() {
        warnings.push("all_bits_set");
    }
    if number("saturated_counters").is_some_and(|counters| counters > 0.0) {
        warnings.push("saturated_counters");
    }
    if number("keys_lost").is_some_and(|keys| keys > 0.0) {
        warnings.push("keys_lost");
    }
    if is_unkeyed(filter) {
        warnings.push("unkeyed");
    }
    warnings
}

/// Whether somebody who chooses the keys can choose them so that they collide.
fn is_unkeyed(filter: &StoredFilter) -> bool {
    match filter {
        StoredFilter::Native(filter) => is_public(filter),
        StoredFilter::Bits { .. } | StoredFilter::Foreign(_) => true,
    }
}

fn is_public(filter: &AnyFilter) -> bool {
    match filter.scheme() {
        HashScheme::Sip13(_) => false,
        HashScheme::Xxh3 | HashScheme::Caller => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mayhap_core::Bloom;

    fn options(pairs: &[(&str, &str)]) -> Options {
        let pairs = pairs
            .iter()
            .map(|&(name, value)| (name.to_owned(), value.to_owned()));
        Options::new(pairs)
    }

    fn bloom(keys: u32) -> Vec<u8> {
        let mut filter = Bloom::new(1000, 0.01).unwrap();
        for key in 0..keys {
            filter.insert(key.to_string().as_bytes());
        }
        native::to_bytes(&filter).unwrap()
    }

    #[test]
    fn an_inspection_is_the_description_and_a_picture() {
        let bytes = bloom(1000);
        let answer = inspect(&bytes, &options(&[("name", "a.mayhap")])).unwrap();
        let mut filter = answer["filters"][0].clone();
        let page = filter.as_object_mut().unwrap().remove("page").unwrap();
        let opened = mayhap_codec::open(&bytes, &OpenOptions::default()).unwrap();
        let mut expected = opened[0].to_json();
        expected.insert("file".into(), json!("a.mayhap"));
        assert_eq!(filter, Value::Object(expected));
        assert!(page["picture"]["shares"].as_array().unwrap().len() > 1000);
        assert_eq!(page["warnings"], json!(["unkeyed"]));
    }

    #[test]
    fn a_filter_with_too_many_keys_gets_a_warning() {
        let answer = inspect(&bloom(3000), &options(&[])).unwrap();
        let warnings = &answer["filters"][0]["page"]["warnings"];
        assert!(
            warnings
                .as_array()
                .unwrap()
                .contains(&json!("over_capacity"))
        );
    }

    #[test]
    fn a_damaged_file_says_which_pages_are_damaged() {
        let mut bytes = bloom(1000);
        let last = bytes.len() - 1;
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        let error = inspect(&bytes, &options(&[])).unwrap_err().to_json();
        assert_eq!(error["damaged_pages"], json!([0]), "{error}");
        bytes.truncate(last);
        assert!(inspect(&bytes, &options(&[])).is_err());
    }

    #[test]
    fn files_that_are_no_filters_are_refused_with_advice() {
        for (bytes, advice) in [
            (&b"one\ntwo\nthree\n"[..], "mayhap build"),
            (&[0x8f; 100], "choose"),
            (&index::MAGIC[..], "mayhap which"),
        ] {
            let error = inspect(bytes, &options(&[])).unwrap_err().to_string();
            assert!(error.contains(advice), "{error}");
        }
        assert!(inspect(&[], &options(&[("format", "none")])).is_err());
    }
}
