//! Parquet: whole files, whose filters are found by column and made anew from their keys.

use crate::case::{Case, CaseError, Fields, check_absent, from_hex, rule_keys, same};
use mayhap_codec::parquet::{self, file};

pub(crate) fn check(case: &mut Case) -> Result<(), CaseError> {
    // How many rows, distinct values and which rate the writer was asked for; sizes show what it made of that.
    case.take("params")?;
    let mut rules = case.fields("keys_of_column")?;
    let mut absent = case
        .maybe("absent")
        .map(|absent| Fields::new("absent", absent))
        .transpose()?;
    let listed = case.list("columns")?;
    let bytes = case.file("file")?;
    let bitsets = case.file("bitsets_file")?;
    let found = file::columns(&bytes)?;
    let mut with_filter = 0;
    for column in listed {
        let mut column = Fields::new("a column", column)?;
        let (row_group, name) = (column.u64("row_group")?, column.text("column")?);
        let kind = column.text("physical_type")?;
        let ours = found
            .iter()
            .find(|ours| ours.row_group as u64 == row_group && ours.name == name);
        if !column.take("bloom_filter")?.as_bool().unwrap_or(false) {
            same("a filter", &ours.is_some(), &false)?;
            column.finish()?;
            continue;
        }
        let ours = ours.ok_or_else(|| CaseError::new(format!("no filter for {name}")))?;
        with_filter += 1;
        let kinds = [
            "BOOLEAN",
            "INT32",
            "INT64",
            "INT96",
            "FLOAT",
            "DOUBLE",
            "BYTE_ARRAY",
            "FIXED_LEN_BYTE_ARRAY",
        ];
        same(
            "physical type",
            &kinds.get(ours.physical_type as usize).copied(),
            &Some(kind.as_str()),
        )?;
        same("offset", &ours.offset, &column.u64("offset")?)?;
        let length = column.u64("length")?;
        same("length", &ours.length.unwrap_or(length), &length)?;
        let header = column.u64("header_bytes")?;
        let at = ours.offset as usize;
        same(
            "header",
            &bytes.get(at..at + header as usize).map(<[u8]>::to_vec),
            &Some(from_hex(&column.text("header_hex")?)?),
        )?;
        let bitset = file::bitset(&bytes, ours)?;
        same(
            "bytes of the bitset",
            &(bitset.len() as u64),
            &column.u64("bitset_bytes")?,
        )?;
        same(
            "bytes of header and bitset",
            &(header + bitset.len() as u64),
            &length,
        )?;
        let place = column.u64("bin_offset")? as usize;
        same(
            "bitset",
            &bitsets.get(place..place + bitset.len()),
            &Some(bitset),
        )?;
        column.finish()?;

        let mut made = parquet::with_bytes(bitset.len() as u64)?;
        let rule = rules.take(&name)?;
        let keys = rule_keys(rule.clone())?;
        rules.put(&name, rule);
        made.extend(keys.iter().map(crate::case::Key::bytes));
        same("bytes", &parquet::encode(&made)?.as_slice(), &bitset)?;
        let filter = file::filter(&bytes, ours)?;
        if let Some(key) = keys.iter().find(|key| !filter.contains(key.bytes())) {
            return Err(CaseError::new(format!("{key:?} is missing")));
        }
        if let Some(list) = absent.as_mut().and_then(|absent| absent.maybe(&name)) {
            check_absent(list, |key| filter.contains(key.bytes()))?;
        }
    }
    same("filters", &found.len(), &with_filter)?;
    absent.map_or(Ok(()), |absent| absent.finish())
}
