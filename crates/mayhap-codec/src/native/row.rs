//! mayhap's own files in the table of formats.

use super::{MAGIC, read};
use crate::format::{Detection, FormatRow, Parameter};
use crate::open::single;
use crate::{BuildError, BuildOptions, KeyReader, StoredFilter};

pub(crate) const ROW: FormatRow = FormatRow {
    name: "mayhap",
    description: "mayhap's own files, of every kind",
    has_checksum: true,
    detection: Detection::Magic(&MAGIC),
    decode: |bytes, options, _| {
        let filter = read(bytes, options.limits, options.key)?;
        Ok(single(StoredFilter::Native(filter)))
    },
    encode_bits: None,
    from_native: |filter| Ok(StoredFilter::Native(filter)),
    required_count: BuildOptions::count_keys,
    create: |_, _| Err(BuildError::Native),
    // Of retouched filters.
    parameters: &[crate::hadoop::retouched::SCHEME, FALSE_POSITIVES],
    check_parameters: |parameters| parameters.clearing().map(drop),
    key_reader: KeyReader::own_width,
};

/// Retouched filters of Hadoop have it, too.
pub(crate) const FALSE_POSITIVES: Parameter = Parameter {
    name: "false_positives",
    values: "a file that lists keys, one per line",
};
