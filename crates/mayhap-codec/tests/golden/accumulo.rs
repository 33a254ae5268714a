//! Accumulo: `acu_bloom` blocks in RFiles and by themselves, sizes, and what its reader does with odd streams.

use crate::case::{Case, CaseError, Fields, Key, from_hex, same};
use mayhap_codec::Limits;
use mayhap_codec::accumulo::{self, Filter, Functor, acu_bloom};
use mayhap_codec::hadoop::{HashType, dynamic};
use serde_json::Value;

pub(crate) fn check(case: &mut Case) -> Result<(), CaseError> {
    if let Some(rows) = case.maybe("rows") {
        case.fields("params")?.ignore(&["nb_hash"]);
        let rows = rows.as_array().cloned().unwrap_or_default();
        return rows.into_iter().try_for_each(|row| {
            let mut row = Fields::new("a row", row)?;
            match row.maybe("what") {
                Some(_) => check_edge(&mut row),
                None => check_size(&mut row),
            }?;
            row.finish()
        });
    }
    let mut params = case.fields("params")?;
    let params = Params::take(&mut params).and_then(|found| params.finish().map(|()| found))?;
    let keys = case.keys()?;
    let functor = params.functor;
    let ours = if params.version == -1 {
        old_stream(&params, &keys)?
    } else {
        let filter = params.filled(&keys)?;
        params.check_shape(&filter)?;
        accumulo::encode(&filter)?
    };
    same(
        "bytes of the block",
        &(ours.len() as u64),
        &params.meta_bytes,
    )?;
    if let Some(theirs) = case.maybe_file("meta_file")? {
        same("block", &ours, &theirs)?;
    }
    let file = case.file("file")?;
    let theirs = match params.version {
        -1 => file,
        _ => match acu_bloom(&file, Limits::default())? {
            Some(block) => block.into_owned(),
            None => return Err(CaseError::new("no acu_bloom in the file")),
        },
    };
    same("bytes", &ours, &theirs)?;
    let decoded = accumulo::decode(&theirs)?;
    params.check_shape(&decoded)?;
    if params.version != -1 {
        same(
            "bytes of the decoded filter",
            &accumulo::encode(&decoded)?,
            &theirs,
        )?;
    }
    let is_in = |key: &Key| decoded.contains(filter_key(functor, key));
    let missing = keys.iter().filter(|key| !is_in(key)).count() as u64;
    case.same_if_there("members_missing", missing)?;
    case.check_answers(is_in)
}

struct Params {
    functor: Functor,
    version: i64,
    hash: HashType,
    vector_size: u32,
    probes: u32,
    keys_a_row: i32,
    keys_in_last: i64,
    rows: u64,
    rate: Option<f64>,
    meta_bytes: u64,
}

impl Params {
    fn take(params: &mut Fields) -> Result<Self, CaseError> {
        let hash = match &*params.text("hash")? {
            "jenkins" => HashType::Jenkins,
            "murmur" => HashType::Murmur,
            other => return Err(CaseError::new(format!("hash {other} is not known"))),
        };
        same(
            "hash type",
            &u64::from(hash.number()),
            &params.u64("hash_type")?,
        )?;
        let functor = match &*params.text("key_functor")? {
            "RowFunctor" => Functor::Row,
            "ColumnFamilyFunctor" => Functor::ColumnFamily,
            "ColumnQualifierFunctor" => Functor::ColumnQualifier,
            other => return Err(CaseError::new(format!("functor {other} is not known"))),
        };
        if let Some(compression) = params.maybe("compression") {
            let known = ["gz", "none"].contains(&compression.as_str().unwrap_or("?"));
            same("compression", &known, &true)?;
        }
        Ok(Self {
            functor,
            version: params.i64("stream_version")?,
            hash,
            vector_size: u32::try_from(params.u64("vector_size")?)?,
            probes: u32::try_from(params.u64("nb_hash")?)?,
            keys_a_row: i32::try_from(params.i64("nr")?)?,
            keys_in_last: params.i64("current_nb_record")?,
            rows: params.u64("rows")?,
            rate: params.maybe("fpp").as_ref().and_then(Value::as_f64),
            meta_bytes: params.u64("meta_bytes")?,
        })
    }

    /// Entries come in Accumulo's order.
    fn filled(&self, keys: &[Key]) -> Result<Filter, CaseError> {
        let (functor, hash, nr) = (self.functor, self.hash, self.keys_a_row);
        let mut filter = match self.rate {
            Some(rate) => accumulo::create(functor, hash, nr, rate)?,
            None => accumulo::with_shape(functor, hash, nr, self.vector_size, self.probes)?,
        };
        let mut cells: Vec<_> = keys.iter().map(cell).collect();
        cells.sort();
        for (row, family, qualifier) in cells {
            filter.add(self.functor.key(&row, &family, &qualifier))?;
        }
        Ok(filter)
    }

    fn check_shape(&self, filter: &Filter) -> Result<(), CaseError> {
        same("functor", &filter.functor(), &self.functor)?;
        same("rows", &(filter.rows() as u64), &self.rows)?;
        same(
            "keys in the last row",
            &i64::from(filter.keys_in_last()),
            &self.keys_in_last,
        )
    }
}

/// Row, family and qualifier; a key that is only a row is in `f:q`.
fn cell(key: &Key) -> (Vec<u8>, Vec<u8>, Vec<u8>) {
    match key {
        Key::Cell {
            row,
            family,
            qualifier,
        } => {
            let family = family.clone().unwrap_or_default();
            (row.clone(), family, qualifier.clone())
        }
        Key::Text(_) | Key::Bytes(_) | Key::I32(_) | Key::I64(_) | Key::U64(_) => {
            (key.bytes(), b"f".to_vec(), b"q".to_vec())
        }
    }
}

fn filter_key(functor: Functor, key: &Key) -> Vec<u8> {
    let (row, family, qualifier) = cell(key);
    functor.key(&row, &family, &qualifier)
}

/// The older stream is Hadoop's filter behind the name of the functor.
fn old_stream(params: &Params, keys: &[Key]) -> Result<Vec<u8>, CaseError> {
    let (bits, probes) = (params.vector_size, params.probes);
    let mut filter = dynamic::create(bits, probes, params.hash, params.keys_a_row)?;
    for key in keys {
        filter.add(filter_key(params.functor, key))?;
    }
    let mut stream = named(params.functor);
    stream.extend(dynamic::encode(&filter)?);
    Ok(stream)
}

/// The name of a functor, as Java writes it.
fn named(functor: Functor) -> Vec<u8> {
    let name = functor.class().as_bytes();
    [&(name.len() as u16).to_be_bytes(), name].concat()
}

fn check_size(row: &mut Fields) -> Result<(), CaseError> {
    row.ignore(&["error_rate"]);
    let (keys, rate) = (i32::try_from(row.i64("nr")?)?, row.f64("fpp")?);
    let ours = mayhap_core::plan::accumulo::vector_size(u64::from(keys.unsigned_abs()), rate)?;
    same("bits of a row", &u64::from(ours), &row.u64("vector_size")?)?;
    same("rows", &1, &row.u64("rows")?)
}

/// The stream after the functor's name, and whether "a" is in it.
fn check_edge(row: &mut Fields) -> Result<(), CaseError> {
    let mut bytes = named(Functor::Row);
    bytes.extend(from_hex(&row.text("hex")?)?);
    let result = row.text("read_and_test_key_a")?;
    match accumulo::decode(&bytes) {
        Ok(filter) => same("answer", &format!("ok: {}", filter.contains("a")), &result),
        Err(_) => same("refused", &result.starts_with("ok"), &false),
    }
}
