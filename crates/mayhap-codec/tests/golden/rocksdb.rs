//! RocksDB: filter blocks of all three kinds, and its hashes.

use crate::case::{Case, CaseError, Fields, Key, same};
use mayhap_codec::Limits;
use mayhap_codec::rocksdb::{self, Filter};
use mayhap_codec::table::{Filters, Table};
use mayhap_core::foreign;

pub(crate) fn check(case: &mut Case) -> Result<(), CaseError> {
    let mut params = case.fields("params")?;
    let (bits, version) = (params.f64("bits_per_key")?, params.u64("format_version")?);
    let (policy, distinct) = (params.text("policy")?, params.u64("distinct_keys")?);
    let place = (params.u64("filter_offset")?, params.u64("filter_size")?);
    same(
        "name",
        &params.text("metaindex_name")?.as_str(),
        &"fullfilter.rocksdb.BuiltinBloomFilter",
    )?;
    params.finish()?;
    let mut keys: Vec<Vec<u8>> = case.keys()?.iter().map(Key::bytes).collect();
    keys.sort();
    keys.dedup();
    same("distinct keys", &(keys.len() as u64), &distinct)?;
    let built = match (policy.as_str(), version) {
        ("ribbon", _) => None,
        (_, 5..) => Some(rocksdb::create(distinct, bits)?),
        _ => Some(rocksdb::create_legacy(distinct, bits as u32)?),
    };
    let ours = built.map(|mut filter| {
        filter.extend(&keys);
        rocksdb::encode(&filter)
    });
    let theirs = case.file("file")?;
    if let Some(ours) = ours {
        same("bytes", &ours?, &theirs)?;
    }
    if let Some(bytes) = case.maybe_file("sst_file")? {
        let there = bytes.get(place.0 as usize..(place.0 + place.1) as usize);
        same("block in the table", &there, &Some(theirs.as_slice()))?;
        let filters = Table::open(&bytes, Limits::default())?.filters()?;
        same(
            "filter of the table",
            &filters,
            &Some(Filters::Whole(rocksdb::decode(&theirs)?)),
        )?;
    }
    let decoded = rocksdb::decode(&theirs)?;
    match &decoded {
        Filter::Bloom(filter) => same(
            "bytes of the decoded filter",
            &rocksdb::encode(filter)?,
            &theirs,
        )?,
        Filter::Ribbon(_) if policy == "ribbon" => {}
        other => return Err(CaseError::new(format!("decoded to {other:?}"))),
    }
    if let Some(key) = keys.iter().find(|key| !decoded.contains(key)) {
        return Err(CaseError::new(format!("{key:?} is missing")));
    }
    case.check_answers(|key| decoded.contains(key.bytes()))
}

pub(crate) fn check_hashes(case: &mut Case) -> Result<(), CaseError> {
    case.fields("params")?.finish()?;
    for row in case.list("rows")? {
        let mut row = Fields::new("a row", row)?;
        let key = Key::read(&row.take("key")?)?.bytes();
        let ours = format!("{:016x}", foreign::xxph3::hash(&key));
        same("hash64", &ours, &row.text("hash64")?)?;
        let ours = format!("{:08x}", foreign::leveldb::signed(&key));
        same("hash32", &ours, &row.text("hash32_seed_bc9f1d34")?)?;
        row.finish()?;
    }
    Ok(())
}
