//! What a job sent between its stages: the rows and bytes in the files that executors write for each other.

use datafusion::arrow::ipc::reader::{FileReader, StreamReader};
use datafusion::error::Result;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub(crate) struct Shuffled {
    pub(crate) rows: usize,
    pub(crate) bytes: u64,
}

/// Counts what the only job wrote, without its last stage (the result), and removes the files. Paths are `executor/job/stage/...`.
pub(crate) fn take(folder: &Path) -> Result<Shuffled> {
    let mut stages: BTreeMap<usize, Shuffled> = BTreeMap::new();
    for executor in std::fs::read_dir(folder)? {
        for job in std::fs::read_dir(executor?.path())? {
            let job = job?.path();
            for stage in std::fs::read_dir(&job)? {
                let stage = stage?.path();
                let name = stage.file_name().unwrap_or_default().to_string_lossy();
                if let Ok(number) = name.parse() {
                    add_files(&stage, stages.entry(number).or_default())?;
                }
            }
            std::fs::remove_dir_all(&job)?;
        }
    }
    stages.pop_last();
    let all = stages.into_values();
    Ok(all.fold(Shuffled::default(), |sum, stage| Shuffled {
        rows: sum.rows + stage.rows,
        bytes: sum.bytes + stage.bytes,
    }))
}

fn add_files(folder: &Path, sum: &mut Shuffled) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            add_files(&path, sum)?;
        } else if path.extension().is_some_and(|end| end == "arrow") {
            sum.bytes += path.metadata()?.len();
            sum.rows += rows(&path)?;
        }
    }
    Ok(())
}

/// The rows of a file: Arrow's file format, or several streams behind one another.
fn rows(path: &Path) -> Result<usize> {
    let mut file = BufReader::new(File::open(path)?);
    let mut rows = 0;
    if file.fill_buf()?.starts_with(b"ARROW1") {
        for batch in FileReader::try_new(file, None)? {
            rows += batch?.num_rows();
        }
        return Ok(rows);
    }
    while !file.fill_buf()?.is_empty() {
        for batch in StreamReader::try_new(&mut file, None)? {
            rows += batch?.num_rows();
        }
    }
    Ok(rows)
}
