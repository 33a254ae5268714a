//! LevelDB: whole tables, whose filter block is built anew from their keys.

use crate::case::{Case, CaseError, Key, same};
use mayhap_codec::leveldb::FilterBlockBuilder;
use mayhap_codec::table::{Filters, Table};
use mayhap_codec::{Format, Limits};
use std::collections::BTreeSet;

pub(crate) fn check(case: &mut Case) -> Result<(), CaseError> {
    let mut params = case.fields("params")?;
    let bits_per_key = u32::try_from(params.u64("bits_per_key")?)?;
    let count = params.u64("n")?;
    // How the table was written; its bytes show it.
    params.take("block_size")?;
    let compression = params.text("compression")?;
    params.finish()?;
    let mut keys: BTreeSet<Vec<u8>> = case.keys()?.iter().map(Key::bytes).collect();
    // A table of a database has keys with eight bytes more.
    let internal = !keys.is_empty();
    if let Some(prefix) = case.maybe("prefix") {
        case.text("key_text")?;
        let prefix = prefix.as_str().unwrap_or("?");
        keys.extend((0..count).map(|i| format!("{prefix}{i:06}").into_bytes()));
    }
    same("keys", &(keys.len() as u64), &count)?;

    let bytes = case.file("file")?;
    let table = Table::open(&bytes, Limits::default())?;
    same("format", &table.format(), &Format::LevelDb)?;
    let Some(Filters::Blocks(filters)) = table.filters()? else {
        return Err(CaseError::new("there is no filter block"));
    };
    let mut builder = FilterBlockBuilder::new(bits_per_key);
    let (mut stored, mut last, mut failed) = (BTreeSet::new(), None, None);
    table.each_key(|offset, key| {
        if last != Some(offset) {
            last = Some(offset);
            if let Err(error) = builder.start_block(offset) {
                failed = Some(error);
            }
        }
        let key = if internal { &key[..key.len() - 8] } else { key };
        builder.add_key(key);
        stored.insert(key.to_vec());
    })?;
    if let Some(error) = failed {
        return Err(error.into());
    }
    same("keys in the table", &stored, &keys)?;
    same(
        "compression",
        &(compression == "snappy" || compression == "none"),
        &true,
    )?;
    same(
        "filter block",
        &builder.finish()?.as_slice(),
        &filters.encode(),
    )?;
    for key in &keys {
        let block = table.block_of(key, internal)?;
        if !block.is_some_and(|block| filters.contains(block, key)) {
            return Err(CaseError::new(format!("{key:?} is missing")));
        }
    }
    Ok(())
}
