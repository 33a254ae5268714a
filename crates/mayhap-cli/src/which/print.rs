//! Prints keys and files.

use super::Freshness;
use super::lookup::{Found, Match};
use crate::error::CliError;
use crate::index::Places;
use mayhap_codec::index::{Index, StoredPath};
use serde_json::{Value, json};
use std::io::Write;

pub(super) struct Printer<'p, W> {
    pub(super) out: &'p mut W,
    pub(super) index: &'p Index,
    pub(super) places: &'p Places,
    pub(super) freshness: &'p Freshness,
    /// Keys without files, instead of keys with files.
    pub(super) invert: bool,
    pub(super) json: bool,
    /// One key of the command line is not repeated.
    pub(super) is_single: bool,
    /// Keys that were printed because of what was found.
    pub(super) printed: u64,
}

/// A file that may hold a key.
struct Candidate<'p> {
    path: &'p StoredPath,
    row_group: Option<u32>,
    /// `filter`, or why the filter does not speak for the file.
    reason: &'static str,
}

impl<'p, W: Write> Printer<'p, W> {
    pub(super) fn print(&mut self, keys: &[Vec<u8>], found: &Found) -> Result<(), CliError> {
        let mut matches = found.matches.as_slice();
        for (number, key) in keys.iter().enumerate() {
            let end = matches.partition_point(|found| found.key as usize <= number);
            let (these, later) = matches.split_at(end);
            matches = later;
            let candidates = self.candidates(these);
            let is_selected = candidates.is_empty() == self.invert;
            self.printed += u64::from(is_selected);
            if self.json {
                if is_selected || !self.invert {
                    let object = self.object(key, &candidates);
                    writeln!(self.out, "{object}")?;
                }
            } else if is_selected {
                let line = self.line(key, &candidates);
                self.out.write_all(&line)?;
            }
        }
        Ok(())
    }

    /// The files that may hold a key, in the order of the index; new files come last.
    fn candidates(&self, matches: &[Match]) -> Vec<Candidate<'p>> {
        let mut candidates = Vec::new();
        let mut matches = matches.iter().peekable();
        let (index, freshness) = (self.index, self.freshness);
        let files = &index.directory().files;
        let path = |number: u32| files.get(number as usize).map(|file| &file.path);
        let mut push = |number: u32, row_group, reason| {
            candidates.extend(path(number).map(|path| Candidate {
                path,
                row_group,
                reason,
            }));
        };
        for &(number, reason) in &freshness.always {
            while let Some(found) = matches.next_if(|found| found.file < number) {
                push(found.file, found.row_group, "filter");
            }
            push(number, None, reason);
        }
        for found in matches {
            push(found.file, found.row_group, "filter");
        }
        candidates.extend(freshness.new.iter().map(|path| Candidate {
            path,
            row_group: None,
            reason: "new",
        }));
        candidates
    }

    fn name(&self, candidate: &Candidate<'_>) -> Vec<u8> {
        let path = self.places.path(candidate.path);
        let mut name = path.as_os_str().as_encoded_bytes().to_vec();
        if let Some(number) = candidate.row_group {
            name.extend_from_slice(format!("#row-group {number}").as_bytes());
        }
        name
    }

    fn line(&self, key: &[u8], candidates: &[Candidate<'_>]) -> Vec<u8> {
        let mut line = Vec::new();
        if self.is_single && !self.invert {
            for candidate in candidates {
                line.extend(self.name(candidate));
                line.push(b'\n');
            }
            return line;
        }
        line.extend_from_slice(key);
        for candidate in candidates {
            line.push(b'\t');
            line.extend(self.name(candidate));
        }
        line.push(b'\n');
        line
    }

    fn object(&self, key: &[u8], candidates: &[Candidate<'_>]) -> Value {
        let files = candidates.iter().map(|candidate| {
            json!({
                "file": self.places.path(candidate.path).to_string_lossy(),
                "row_group": candidate.row_group,
                "reason": candidate.reason,
            })
        });
        json!({
            "key": String::from_utf8_lossy(key),
            "files": files.collect::<Vec<_>>(),
        })
    }
}
