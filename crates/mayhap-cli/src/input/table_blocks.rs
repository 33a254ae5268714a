//! Blocks of rows whose keys are a column.

use super::block::Block;
use super::field_args::FieldArgs;
use super::{is_standard, missing_key_error};
use crate::error::CliError;
use crate::table::Table;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

pub(super) struct TableBlocks {
    field: FieldArgs,
    inputs: std::vec::IntoIter<PathBuf>,
    table: Option<Table>,
    /// The number of the next row of the table, and its bytes that were counted.
    next_row: u64,
    bytes_counted: u64,
    /// Whether a first row with names was passed on: those of other inputs are left out.
    has_names: bool,
    /// Keys without their rows, for commands that print none.
    pub(super) is_keys_only: bool,
    pub(super) suggests_keys: bool,
}

impl TableBlocks {
    pub(super) fn new(field: FieldArgs, inputs: Vec<PathBuf>) -> Self {
        Self {
            field,
            inputs: inputs.into_iter(),
            table: None,
            next_row: 1,
            bytes_counted: 0,
            has_names: false,
            is_keys_only: false,
            suggests_keys: false,
        }
    }

    /// Reads the next rows; `false` at the end. The first row with names comes alone.
    pub(super) fn fill(
        &mut self,
        block: &mut Block,
        bytes_read: &AtomicU64,
    ) -> Result<bool, CliError> {
        loop {
            let Some(table) = &mut self.table else {
                let Some(path) = self.inputs.next() else {
                    return Ok(false);
                };
                if self.suggests_keys && !is_standard(&path) && !path.exists() {
                    return Err(missing_key_error(&path));
                }
                let table = Table::open_by_field(&path, &self.field.table_field())?;
                let header = table.header().to_vec();
                self.table = Some(table);
                self.next_row = 1 + u64::from(!header.is_empty());
                self.bytes_counted = 0;
                if !header.is_empty() && !self.has_names {
                    self.has_names = true;
                    block.set_header(header);
                    return Ok(true);
                }
                continue;
            };
            let is_read = table.read_keys()?;
            let bytes = table.bytes_read().load(Ordering::Relaxed);
            bytes_read.fetch_add(bytes - self.bytes_counted, Ordering::Relaxed);
            self.bytes_counted = bytes;
            if !is_read {
                self.table = None;
                continue;
            }
            let (mut rows, mut ends) = (Vec::new(), Vec::new());
            let keys = table.move_batch((!self.is_keys_only).then_some((&mut rows, &mut ends)))?;
            block.first_line = self.next_row;
            self.next_row += keys.len() as u64;
            block.set_rows(rows, ends, keys);
            return Ok(true);
        }
    }
}
