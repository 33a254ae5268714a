//! ClickHouse: granules of its three Bloom indexes, the files they lie in, its sizes and hashes.

use crate::case::{Case, CaseError, Fields, Key, from_hex, rule_keys, same};
use mayhap_codec::Limits;
use mayhap_codec::clickhouse::{self, Granule, Type, Value, frames, terms};
use mayhap_core::foreign::{city, mix64};
use serde_json::Value as Json;
use std::collections::BTreeSet;

/// Rows of a granule, unless the table says otherwise; no vector's notes give another but those with several.
const GRANULARITY: usize = 8192;

pub(crate) fn check_values(case: &mut Case) -> Result<(), CaseError> {
    let mut params = case.fields("params")?;
    if let Some(rows) = case.maybe("rows") {
        params.finish()?;
        for row in rows.as_array().into_iter().flatten() {
            check_row(Fields::new("a row", row.clone())?)?;
        }
        return Ok(());
    }
    let (rate, column) = (params.f64("fpp")?, params.text("column_type")?);
    same(
        "index",
        &params.text("index")?,
        &format!("bloom_filter({rate})"),
    )?;
    let column_type = parse(&column)?;
    let keys = case.keys()?;
    // Several granules are four of 256 rows, as the notes of that case say.
    let filter_bytes = params.maybe("filter_bytes");
    let rows = if filter_bytes.is_some() {
        GRANULARITY * 1024
    } else {
        256
    };
    let hash = |key: &Key| hash(&column_type, &value(key));
    let granules = keys
        .chunks(rows)
        .map(|keys| {
            let hashes = keys
                .iter()
                .map(&hash)
                .collect::<Result<BTreeSet<u64>, CaseError>>()?;
            Ok(Granule::build(&[hashes], rate)?)
        })
        .collect::<Result<Vec<_>, CaseError>>()?;
    if let Some(bytes) = filter_bytes {
        same(
            "bytes of the filter",
            &Some(granules[0].columns[0].plan().bits / 8),
            &bytes.as_u64(),
        )?;
    }
    params.same_if_there(
        "total_rows_field",
        granules.iter().map(|granule| granule.distinct).sum(),
    )?;
    let times = params.maybe("each_key_inserted_times");
    let times = times.map_or(Some(1), |times| times.as_u64());
    let rows = times.map(|times| times * keys.len() as u64);
    same("rows", &rows, &Some(params.u64("rows")?))?;
    params.finish()?;
    let decoded = check_file(case, &granules, rate, 1)?;
    if let Some(key) = keys.iter().find(|key| !found(&decoded, &hash, key)) {
        return Err(CaseError::new(format!("{key:?} is missing")));
    }
    case.check_answers(|key| found(&decoded, &hash, key))
}

fn found(granules: &[Granule], hash: &dyn Fn(&Key) -> Result<u64, CaseError>, key: &Key) -> bool {
    hash(key).is_ok_and(|hash| granules.iter().any(|granule| granule.contains(0, hash)))
}

/// Bytes first, then the files, on disk and out of its frames.
fn check_file(
    case: &mut Case,
    granules: &[Granule],
    rate: f64,
    columns: usize,
) -> Result<Vec<Granule>, CaseError> {
    let ours = clickhouse::encode(granules);
    let theirs = case.file("file")?;
    same("bytes", &ours, &theirs)?;
    if let Some(on_disk) = case.maybe_file("file_on_disk")? {
        same(
            "content of the file on disk",
            &frames::decompress(&on_disk, Limits::default())?,
            &theirs,
        )?;
    }
    let decoded = clickhouse::decode(&theirs, rate, columns)?;
    let decoded = (0..decoded.len())
        .map(|at| decoded.get(at))
        .collect::<Result<Vec<_>, _>>()?;
    same(
        "bytes of the decoded granules",
        &clickhouse::encode(&decoded),
        &theirs,
    )?;
    Ok(decoded)
}

pub(crate) fn check_types(case: &mut Case) -> Result<(), CaseError> {
    let mut params = case.fields("params")?;
    let (rate, column) = (params.f64("fpp")?, params.text("column_type")?);
    let rows = params.u64("rows")?;
    params.finish()?;
    let hex = from_hex(&case.text("hex")?)?;
    let columns = if let Some(rules) = case.maybe("column_rules") {
        // A tuple: each column has its rule.
        let types = column
            .trim_matches(['(', ')'])
            .split(", ")
            .map(parse)
            .collect::<Result<Vec<_>, _>>()?;
        let rules = rules.as_array().cloned().unwrap_or_default();
        same("columns", &rules.len(), &types.len())?;
        let mut columns = Vec::new();
        for (rule, column) in rules.into_iter().zip(&types) {
            let keys = rule_keys(rule)?;
            let hashes = keys.iter().map(|key| hash(column, &value(key)));
            columns.push(hashes.collect::<Result<BTreeSet<u64>, CaseError>>()?);
        }
        columns
    } else {
        // How they look in SQL is for people.
        case.take("sql_values")?;
        let column = parse(&column)?;
        let values = case.list("values")?;
        same("rows", &(values.len() as u64), &rows)?;
        let values = values
            .into_iter()
            .map(typed)
            .collect::<Result<Vec<_>, _>>()?;
        let hashes = column.hashes(&values);
        vec![hashes.ok_or_else(|| CaseError::new("a value is not of the column's type"))?]
    };
    let granule = Granule::build(&columns, rate)?;
    let decoded = check_file(case, &[granule], rate, columns.len())?;
    same("hex", &clickhouse::encode(&decoded), &hex)?;
    for (at, hashes) in columns.iter().enumerate() {
        if hashes.iter().any(|&hash| !decoded[0].contains(at, hash)) {
            return Err(CaseError::new("a value is missing"));
        }
    }
    Ok(())
}

pub(crate) fn check_terms(case: &mut Case) -> Result<(), CaseError> {
    let mut params = case.fields("params")?;
    let (bytes, hashes) = (
        params.u64("filter_bytes")?,
        u32::try_from(params.u64("hashes")?)?,
    );
    let seed = params.u64("seed")?;
    let ngram = params.maybe("ngram").and_then(|n| n.as_u64());
    same("column", &params.text("column_type")?.as_str(), &"String")?;
    let rows = params.u64("rows")?;
    params.finish()?;
    let mut documents: Vec<Vec<u8>> = case.keys()?.iter().map(Key::bytes).collect();
    for document in case
        .maybe("documents")
        .as_ref()
        .and_then(Json::as_array)
        .into_iter()
        .flatten()
    {
        documents.push(Key::read(document)?.bytes());
    }
    same("rows", &(documents.len() as u64), &rows)?;
    let mut filter = terms::create(bytes, hashes, seed)?;
    for document in &documents {
        match ngram {
            Some(n) => filter.extend(terms::ngrams(document, n as usize)),
            None => filter.extend(terms::tokens(document)),
        }
    }
    let ours = terms::encode(&filter)?;
    let theirs = case.file("file")?;
    same("bytes", &ours, &theirs)?;
    if let Some(on_disk) = case.maybe_file("file_on_disk")? {
        same(
            "content of the file on disk",
            &frames::decompress(&on_disk, Limits::default())?,
            &theirs,
        )?;
    }
    let decoded = terms::decode(&theirs, hashes, seed)?;
    same(
        "bytes of the decoded filter",
        &terms::encode(&decoded)?,
        &theirs,
    )?;
    case.check_answers(|key| match ngram {
        Some(n) => terms::contains_ngrams(&decoded, &key.bytes(), n as usize),
        None => terms::contains_tokens(&decoded, &key.bytes()),
    })
}

/// Of the table of sizes, or of hashes.
fn check_row(mut row: Fields) -> Result<(), CaseError> {
    if let Some(rate) = row.maybe("fpp") {
        let rate = rate.as_f64().unwrap_or(f64::NAN);
        let distinct = row.u64("distinct")?;
        let column = Type::Integer(8);
        let hashes =
            (1..=distinct).map(|number| hash(&column, &Value::Integer(i128::from(number))));
        let granule = Granule::build(&[hashes.collect::<Result<_, _>>()?], rate)?;
        let filter = &granule.columns[0];
        same(
            "bytes of the filter",
            &(filter.plan().bits / 8),
            &row.u64("filter_bytes")?,
        )?;
        let bits_per_row = filter.plan().bits as f64 / distinct as f64;
        if (bits_per_row - row.f64("bits_per_row")?).abs() > 0.02 {
            return Err(CaseError::new(format!("{bits_per_row} bits a row")));
        }
        let bytes = clickhouse::encode(std::slice::from_ref(&granule));
        let theirs = from_hex(&row.text("filter_hex")?)?;
        same(
            "filter",
            &bytes[bytes.len() - theirs.len()..].to_vec(),
            &theirs,
        )?;
        return row.finish();
    }
    let key = Key::read(&row.take("key")?)?;
    // SQL's functions, which are not the index's: integers are crossed with a constant first.
    let ours = match &key {
        Key::Text(_) | Key::Bytes(_) | Key::Cell { .. } => city::hash(&key.bytes()),
        Key::I32(number) => mix64(i64::from(*number).cast_unsigned() ^ 0x4cf2_d2ba_ae6d_a887),
        Key::I64(number) => mix64(number.cast_unsigned() ^ 0x4cf2_d2ba_ae6d_a887),
        Key::U64(number) => mix64(number ^ 0x4cf2_d2ba_ae6d_a887),
    };
    for field in ["intHash64", "cityHash64"] {
        if let Some(theirs) = row.maybe(field) {
            same(field, &Some(ours.to_string().as_str()), &theirs.as_str())?;
        }
    }
    row.finish()
}

fn parse(name: &str) -> Result<Type, CaseError> {
    Type::parse(name).ok_or_else(|| CaseError::new(format!("type {name} is not known")))
}

fn hash(column: &Type, value: &Value) -> Result<u64, CaseError> {
    let hash = column.hash(value);
    hash.ok_or_else(|| CaseError::new(format!("{value:?} is not of type {column:?}")))
}

/// A key of the general kind as a value of a column.
fn value(key: &Key) -> Value {
    match key {
        Key::Text(_) | Key::Bytes(_) | Key::Cell { .. } => Value::Bytes(key.bytes()),
        Key::I32(number) => Value::Integer(i128::from(*number)),
        Key::I64(number) => Value::Integer(i128::from(*number)),
        Key::U64(number) => Value::Integer(i128::from(*number)),
    }
}

/// A typed value of `clickhouse-bloom_filter-types`.
fn typed(json: Json) -> Result<Value, CaseError> {
    let mut fields = Fields::new("a value", json)?;
    let bits = |text: String, digits: usize| -> Result<u64, CaseError> {
        same("digits", &text.len(), &digits)?;
        Ok(u64::from_str_radix(&text, 16)?)
    };
    let value = if fields.maybe("null").is_some() {
        Value::Null
    } else if let Some(text) = fields.maybe("string") {
        Value::Bytes(text.as_str().unwrap_or("?").as_bytes().to_vec())
    } else if let Some(number) = fields.maybe("u64") {
        Value::Integer(number.as_str().unwrap_or("?").parse()?)
    } else if let Some(number) = fields.maybe("u128") {
        Value::Wide(number.as_str().unwrap_or("?").parse()?)
    } else if let Some(text) = fields.maybe("f32_bits") {
        let bits = bits(text.as_str().unwrap_or("").to_owned(), 8)?;
        Value::Float(f64::from(f32::from_bits(bits as u32)))
    } else if let Some(text) = fields.maybe("f64_bits") {
        Value::Float(f64::from_bits(bits(
            text.as_str().unwrap_or("").to_owned(),
            16,
        )?))
    } else if let Some(days) = fields.maybe("date") {
        Value::Integer(i128::from(days.as_u64().unwrap_or(u64::MAX)))
    } else if let Some(seconds) = fields.maybe("datetime") {
        Value::Integer(i128::from(seconds.as_u64().unwrap_or(u64::MAX)))
    } else if let Some(text) = fields.maybe("uuid") {
        let digits = text.as_str().unwrap_or("?").replace('-', "");
        same("digits", &digits.len(), &32)?;
        Value::Wide(u128::from_str_radix(&digits, 16)?)
    } else {
        let elements = fields.list("array")?;
        Value::Array(elements.into_iter().map(typed).collect::<Result<_, _>>()?)
    };
    fields.finish()?;
    Ok(value)
}
