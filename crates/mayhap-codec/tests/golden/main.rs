//! Every file that another system wrote, both ways: encoded from its parameters and keys before the file is opened, then decoded
//! and asked about every probe and every false positive that the system itself reported.
//!
//! The cases are data (`golden/`, or the folder in `MAYHAP_GOLDEN`). A dialect, a case or a field that is not understood is a
//! failure, so that nothing is passed over.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test program of its own"
)]

mod accumulo;
mod bip37;
mod case;
mod cassandra;
mod clickhouse;
mod doubt;
mod guava;
mod hadoop;
mod hbase;
mod leveldb;
mod leveldb_table;
mod parquet;
mod parquet_file;
mod redisbloom;
mod rocksdb;
mod spark;

use case::{Case, CaseError};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

type Check = fn(&mut Case) -> Result<(), CaseError>;

const DIALECTS: [(&str, Check); 29] = [
    ("accumulo-bloom", accumulo::check),
    ("bip37", bip37::check),
    ("cassandra-filter", cassandra::check),
    ("cassandra-filter-old", cassandra::check_old),
    ("cassandra-hash", cassandra::check_hashes),
    ("clickhouse-bloom_filter", clickhouse::check_values),
    ("clickhouse-bloom_filter-types", clickhouse::check_types),
    ("clickhouse-ngrambf_v1", clickhouse::check_terms),
    ("clickhouse-tokenbf_v1", clickhouse::check_terms),
    ("guava", guava::check),
    ("hadoop-bloom", hadoop::check),
    ("hadoop-bloom-ops", hadoop::check_operations),
    ("hadoop-counting", hadoop::check_counting),
    ("hadoop-dynamic", hadoop::check_dynamic),
    ("hadoop-hash", hadoop::check_hashes),
    ("hadoop-retouched", hadoop::check_retouched),
    ("hbase-chunk", hbase::check),
    ("hbase-hash", hbase::check_hashes),
    ("hbase-hfile", hbase::check_hfile),
    ("leveldb", leveldb::check),
    ("leveldb-table", leveldb_table::check),
    ("parquet-file", parquet_file::check),
    ("parquet-sbbf", parquet::check),
    ("redisbloom", redisbloom::check),
    ("rocksdb-bloom", rocksdb::check),
    ("rocksdb-bloom-legacy", rocksdb::check),
    ("rocksdb-hash", rocksdb::check_hashes),
    ("rocksdb-ribbon", rocksdb::check),
    ("spark", spark::check),
];

fn main() -> ExitCode {
    let folder = std::env::var_os("MAYHAP_GOLDEN").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden"),
        PathBuf::from,
    );
    let mut files = Vec::new();
    if let Err(error) = find(&folder, &mut files) {
        eprintln!("{}: {error}", folder.display());
        return ExitCode::FAILURE;
    }
    files.sort();
    let (mut failed, mut dialects) = (0, BTreeSet::new());
    for file in &files {
        match run(file) {
            Ok(dialect) => _ = dialects.insert(dialect),
            Err(failure) => {
                eprintln!("{}: {failure}", file.display());
                failed += 1;
            }
        }
    }
    if let Err(failure) = doubt::check(&files, run) {
        eprintln!("the runner does not see what it should: {failure}");
        return ExitCode::FAILURE;
    }
    println!(
        "golden: {} cases, {} dialects",
        files.len() - failed,
        dialects.len()
    );
    if failed > 0 {
        eprintln!("{failed} cases failed");
    }
    if failed > 0 || files.is_empty() {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

fn find(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            find(&path, files)?;
        } else if path
            .extension()
            .is_some_and(|extension| extension == "json")
        {
            files.push(path);
        }
    }
    Ok(())
}

/// Checks one case, all of it.
fn run(file: &Path) -> Result<String, CaseError> {
    let mut case = Case::read(file)?;
    let dialect = case.text("dialect")?;
    case.ignore(&["case", "notes"]);
    let check = DIALECTS.iter().find(|(name, _)| *name == dialect);
    let (_, check) =
        check.ok_or_else(|| CaseError::new(format!("dialect {dialect} is not known")))?;
    check(&mut case)?;
    case.finish()?;
    Ok(dialect)
}
