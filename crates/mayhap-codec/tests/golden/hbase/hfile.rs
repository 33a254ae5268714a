//! Whole HFiles: every chunk and the metadata are made anew from the keys, and then asked as a Get asks them.

use super::hash_type;
use crate::case::{Case, CaseError, Fields, Key, indices, rule_keys, same};
use mayhap_codec::Limits;
use mayhap_codec::hbase::{
    BloomType, ChunkPlace, Compound, CompoundWriter, HFile, HashType, Meta, encode, row_column_key,
};
use mayhap_core::plan::hbase::{ChunkPlan, chunk_rate};
use serde_json::Value;
use std::collections::BTreeSet;

/// Halvings that a chunk's size allows, unless configured.
const MAX_FOLD: u64 = 7;

struct Params {
    version: u64,
    minor: u64,
    bloom_type: Option<BloomType>,
    hash: HashType,
    rate: f64,
    block_bytes: u64,
    max_fold: u32,
}

impl Params {
    fn take(params: &mut Fields) -> Result<Self, CaseError> {
        // How the data was written; the Bloom blocks do not depend on it.
        params.ignore(&["block_size", "data_block_encoding"]);
        let compression = params.text("compression")?;
        same(
            "compression",
            &["NONE", "GZ"].contains(&&*compression),
            &true,
        )?;
        let prefix = params.maybe("prefix_length");
        let prefix = prefix.as_ref().and_then(Value::as_u64);
        let bloom_type = match (&*params.text("bloom_type")?, prefix) {
            ("NONE", None) => None,
            ("ROW", None) => Some(BloomType::Row),
            ("ROWCOL", None) => Some(BloomType::RowColumn),
            ("ROWPREFIX_FIXED_LENGTH", Some(length)) => Some(BloomType::RowPrefix {
                length: u32::try_from(length)?,
            }),
            other => return Err(CaseError::new(format!("type {other:?} is not known"))),
        };
        let fold = params.maybe("max_fold");
        let fold = fold.as_ref().and_then(Value::as_u64).unwrap_or(MAX_FOLD);
        Ok(Self {
            version: params.u64("hfile_version")?,
            minor: params.u64("minor_version")?,
            bloom_type,
            hash: hash_type(params)?,
            rate: params.f64("error_rate")?,
            block_bytes: params.u64("bloom_block_size")?,
            max_fold: u32::try_from(fold)?,
        })
    }

    fn comparator(&self, bloom_type: BloomType) -> &'static str {
        match (self.version, bloom_type) {
            (3, BloomType::RowColumn) => "org.apache.hadoop.hbase.CellComparatorImpl",
            (3, BloomType::Row | BloomType::RowPrefix { .. }) => "",
            (_, BloomType::RowColumn) => "org.apache.hadoop.hbase.KeyValue$KVComparator",
            (_, BloomType::Row | BloomType::RowPrefix { .. }) => {
                "org.apache.hadoop.hbase.KeyValue$RawBytesComparator"
            }
        }
    }
}

/// Row and qualifier.
type Cell = (Vec<u8>, Vec<u8>);

fn cell(key: &Key) -> Cell {
    match key {
        Key::Cell { row, qualifier, .. } => (row.clone(), qualifier.clone()),
        Key::Text(_) | Key::Bytes(_) | Key::I32(_) | Key::I64(_) | Key::U64(_) => {
            (key.bytes(), Vec::new())
        }
    }
}

fn filter_key((row, qualifier): &Cell, bloom_type: BloomType) -> Result<Vec<u8>, CaseError> {
    match bloom_type {
        BloomType::Row => Ok(row.clone()),
        BloomType::RowColumn => {
            row_column_key(row, qualifier).ok_or_else(|| CaseError::new("the row is too long"))
        }
        BloomType::RowPrefix { length } => Ok(row[..row.len().min(length as usize)].to_vec()),
    }
}

pub(crate) fn check(case: &mut Case) -> Result<(), CaseError> {
    let mut fields = case.fields("params")?;
    let params = Params::take(&mut fields)?;
    let keys = case.keys()?;
    let markers = case.maybe("delete_family_rows");
    let markers = markers
        .as_ref()
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let markers: BTreeSet<Cell> = markers
        .map(|row| Ok((Key::read(row)?.bytes(), Vec::new())))
        .collect::<Result<_, CaseError>>()?;
    // Cells come sorted, and a marker is a cell without a qualifier.
    let cells: BTreeSet<Cell> = keys
        .iter()
        .map(cell)
        .chain(markers.iter().cloned())
        .collect();
    let Some(bloom_type) = params.bloom_type else {
        return check_none(case, &fields, &params, &keys);
    };
    let places = chunk_places(case, "chunks")?;
    let general = Written::new(&params, bloom_type, &cells, &places)?;
    general.check_totals(&mut fields)?;
    fields.finish()?;
    let deletes = match case.maybe("delete_family_filter") {
        None => None,
        Some(totals) => {
            let places = chunk_places(case, "delete_family_chunks")?;
            let written = Written::new(&params, BloomType::Row, &markers, &places)?;
            let mut totals = Fields::new("delete_family_filter", totals)?;
            written.check_totals(&mut totals)?;
            totals.finish()?;
            Some(written)
        }
    };
    let last_key = Key::read(&case.take("last_bloom_key")?)?.bytes();
    same("last key", &general.last_key, &Some(last_key))?;

    let bytes = case.file("file")?;
    let file = HFile::open(&bytes, Limits::default())?;
    check_version(&file, &params)?;
    let loaded = file.load_on_open()?;
    same("type", &loaded.bloom_type, &Some(bloom_type))?;
    same(
        "last key of the file",
        &loaded.last_bloom_key,
        &general.last_key,
    )?;
    general.check_blocks(&file, loaded.general.as_deref())?;
    match &deletes {
        Some(deletes) => deletes.check_blocks(&file, loaded.delete_family.as_deref())?,
        None => same("delete family", &loaded.delete_family.is_none(), &true)?,
    }
    let filter = file.general()?.ok_or_else(|| CaseError::new("no filter"))?;
    check_answers(case, &filter, bloom_type, &keys)?;
    let probes = case.maybe("delete_family_probes");
    if let (Some(probes), Some(filter)) = (probes, file.delete_family()?) {
        for probe in probes.as_array().into_iter().flatten() {
            let mut probe = Fields::new("a probe", probe.clone())?;
            let key = Key::read(&probe.take("key")?)?;
            let expected = probe.take("expected")?;
            probe.finish()?;
            same(
                "delete family",
                &Value::from(filter.contains(key.bytes())),
                &expected,
            )?;
        }
    }
    Ok(())
}

fn check_version(file: &HFile<'_>, params: &Params) -> Result<(), CaseError> {
    let (major, minor) = file.version();
    let ours = (u64::from(major), u64::from(minor));
    same("version", &ours, &(params.version, params.minor))
}

/// Without a filter, every key may be there.
fn check_none(
    case: &mut Case,
    fields: &Fields,
    params: &Params,
    keys: &[Key],
) -> Result<(), CaseError> {
    fields.finish()?;
    let bytes = case.file("file")?;
    let file = HFile::open(&bytes, Limits::default())?;
    check_version(&file, params)?;
    let is_none = file.general()?.is_none() && file.delete_family()?.is_none();
    same("no filter", &is_none, &true)?;
    same("some keys", &keys.is_empty(), &false)?;
    case.same_if_there("members_missing", 0)?;
    case.check_answers(|_| is_none)
}

fn chunk_places(case: &mut Case, field: &str) -> Result<Vec<(u64, ChunkPlace)>, CaseError> {
    let place = |value: &Value| {
        let mut chunk = Fields::new("a chunk", value.clone())?;
        let place = ChunkPlace {
            offset: chunk.u64("offset")?,
            on_disk_bytes: u32::try_from(chunk.u64("on_disk_size")?)?,
            first_key: Key::read(&chunk.take("first_key")?)?.bytes(),
        };
        let bytes = chunk.u64("bytes")?;
        chunk.finish()?;
        Ok((bytes, place))
    };
    case.list(field)?.iter().map(place).collect()
}

/// A filter as it is written: its metadata and the bits of its chunks.
struct Written {
    meta: Meta,
    chunks: Vec<Vec<u8>>,
    last_key: Option<Vec<u8>>,
}

impl Written {
    fn new(
        params: &Params,
        bloom_type: BloomType,
        cells: &BTreeSet<Cell>,
        places: &[(u64, ChunkPlace)],
    ) -> Result<Self, CaseError> {
        let rate = chunk_rate(params.rate, bloom_type == BloomType::RowColumn);
        let plan = ChunkPlan::by_size(params.block_bytes, rate, params.max_fold)?;
        let mut writer = CompoundWriter::new(plan, params.hash);
        for cell in cells {
            writer.push(&filter_key(cell, bloom_type)?)?;
        }
        let last_key = writer.last_key().map(<[u8]>::to_vec);
        let written = writer.finish()?;
        same("number of chunks", &written.len(), &places.len())?;
        let mut chunks = Vec::new();
        for (chunk, (bytes, place)) in written.iter().zip(places) {
            same("first key", &chunk.first_key, &place.first_key)?;
            same("bytes of a chunk", &chunk.plan.bytes, bytes)?;
            chunks.push(encode(&chunk.filter)?);
        }
        let total = |number: fn(&mayhap_codec::hbase::WrittenChunk) -> u64| {
            written.iter().map(number).sum::<u64>().cast_signed()
        };
        let meta = Meta {
            total_bytes: total(|chunk| chunk.plan.bytes),
            probes: plan.probes.cast_signed(),
            hash: params.hash,
            keys: total(|chunk| chunk.keys),
            max_keys: total(|chunk| chunk.plan.max_keys),
            comparator: params.comparator(bloom_type).to_owned(),
            chunks: places.iter().map(|(_, place)| place.clone()).collect(),
        };
        Ok(Self {
            meta,
            chunks,
            last_key,
        })
    }

    fn check_totals(&self, fields: &mut Fields) -> Result<(), CaseError> {
        let meta = &self.meta;
        for (field, ours) in [
            ("chunks", i64::try_from(meta.chunks.len())?),
            ("k", i64::from(meta.probes)),
            ("total_bytes", meta.total_bytes),
            ("total_keys", meta.keys),
            ("total_max_keys", meta.max_keys),
        ] {
            same(field, &ours, &fields.i64(field)?)?;
        }
        Ok(())
    }

    fn check_blocks(&self, file: &HFile<'_>, meta: Option<&[u8]>) -> Result<(), CaseError> {
        let theirs = meta.unwrap_or_default().to_vec();
        same("metadata", &self.meta.encode(), &theirs)?;
        same("decoded metadata", &self.meta, &Meta::decode(&theirs)?)?;
        for (ours, place) in self.chunks.iter().zip(&self.meta.chunks) {
            same("chunk", ours, &file.chunk(place.offset)?.into_owned())?;
        }
        Ok(())
    }
}

/// The answers of the filter, `expected` and `false_positives`, and those of a Get, `passes`.
fn check_answers(
    case: &mut Case,
    filter: &Compound,
    bloom_type: BloomType,
    keys: &[Key],
) -> Result<(), CaseError> {
    let contains = |key: &Key| {
        let key = filter_key(&cell(key), bloom_type);
        key.is_ok_and(|key| filter.contains(key))
    };
    let passes = |key: &Key| {
        let (row, qualifier) = cell(key);
        filter.passes(&row, &qualifier)
    };
    let missing = keys.iter().filter(|key| !contains(key) || !passes(key));
    case.same_if_there("members_missing", missing.count() as u64)?;
    for probe in case.list("probes")? {
        let mut probe = Fields::new("a probe", probe)?;
        let key = Key::read(&probe.take("key")?)?;
        same(
            "answer",
            &Value::from(contains(&key)),
            &probe.take("expected")?,
        )?;
        same("passes", &Value::from(passes(&key)), &probe.take("passes")?)?;
        probe.finish()?;
    }
    let mut absent = case.fields("absent")?;
    let keys = rule_keys(absent.take("rule")?)?;
    let chosen = |is_chosen: &dyn Fn(&Key) -> bool| -> Vec<u64> {
        let keys = (0..).zip(&keys).filter(|(_, key)| is_chosen(key));
        keys.map(|(at, _)| at).collect()
    };
    let listed = indices(&absent.take("false_positives")?)?;
    same("false positives", &chosen(&contains), &listed)?;
    same(
        "passes",
        &chosen(&passes),
        &indices(&absent.take("passes")?)?,
    )?;
    absent.finish()
}
