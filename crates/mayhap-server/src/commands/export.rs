//! `MAYHAP.EXPORT key file [REPLACE]`: writes a filter into the data folder as a file, without the secret of its hash.

use crate::call::{Call, CommandError, CommandResult, SYNTAX};
use crate::keyspace::SharedValue;
use mayhap_codec::write_atomically;
use std::ffi::OsStr;
use std::io::{BufWriter, Write};
use std::path::Path;

/// A file name without a path that does not belong to the server's own files.
fn name<'n>(call: &Call<'n>) -> Result<&'n str, CommandError> {
    let name = std::str::from_utf8(call.args[2]).unwrap_or_default();
    let is_plain = !name.is_empty()
        && name.len() <= 200
        && !name.starts_with('.')
        && !name.contains(['/', '\\', '\0'])
        && !name.chars().any(char::is_control);
    if !is_plain {
        return Err(
            "ERR the file must be a plain name, such as monday.mayhap: it goes into the data folder"
                .into(),
        );
    }
    Ok(name)
}

pub(super) fn export(call: &mut Call<'_>) -> CommandResult {
    let replaces = match call.args.len() {
        3 => false,
        4 if call.is(3, "replace") => true,
        _ => return Err(SYNTAX.into()),
    };
    let name = name(call)?;
    if Path::new(name).file_stem().map(OsStr::as_encoded_bytes) == Some(call.key()) {
        return Err(
            "ERR choose a name other than the key's: files are also served without their extension"
                .into(),
        );
    }
    let engine = call.engine;
    let path = engine.settings.load().folder.join(name);
    // Only served files are replaced.
    let is_served = |name: &str| {
        let served = engine.files.get(name.as_bytes());
        served.is_some_and(|served| served.file == name)
    };
    let may_be_written = !path.exists() || replaces && is_served(name);
    if !may_be_written {
        return Err(
            format!("ERR the file {name} exists already: add REPLACE if it is a filter").into(),
        );
    }
    let _sharing = engine.leases.share();
    let slot = match call.share(call.key())? {
        Some((SharedValue::Filter(slot), _)) => slot,
        Some((SharedValue::Text(_), _)) => return Err(crate::call::WRONG_TYPE.into()),
        None => return Err("ERR not found".into()),
    };
    // The file will be served from the folder, and takes as much memory as the filter.
    engine
        .files
        .check_room(name, slot.size_bytes(), engine.available_bytes())
        .map_err(|error| format!("OOM {error}"))?;
    write_atomically(&path, |file| {
        let mut file = BufWriter::with_capacity(1 << 20, file);
        slot.write_file(&mut file)?;
        file.flush()
    })
    .map_err(|error| format!("ERR {name} could not be written: {error}"))?;
    drop(slot);
    let length = std::fs::metadata(&path).map_or(0, |metadata| metadata.len());
    engine.files.scan(|| engine.available_bytes());
    call.out.count(length);
    Ok(())
}
