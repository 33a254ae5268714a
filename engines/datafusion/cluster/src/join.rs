//! The tables, the join and the comparison.

use crate::processes::Cluster;
use crate::shuffle::{self, Shuffled};
use crate::wrong;
use ballista::prelude::SessionConfigExt;
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::error::Result;
use datafusion::prelude::{ParquetReadOptions, SessionConfig, SessionContext};
use std::path::Path;
use std::time::Instant;

/// Parts, each with about as many line items.
const PARTS: u64 = 1_000_000;

/// Runs the join with and without the filter in turn, and fails unless the results are equal.
pub(crate) async fn compare(rows: u64, rounds: usize) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let tables = folder.path().join("tables");
    write_tables(&tables, rows).await?;
    let shuffles = folder.path().join("shuffles");
    let cluster = Cluster::start(&shuffles).await?;
    // Without these, the small side would be sent to every executor instead of being shuffled.
    let config = SessionConfig::new_with_ballista()
        .with_target_partitions(4)
        .set_bool("datafusion.optimizer.prefer_hash_join", false)
        .set_str("ballista.optimizer.broadcast_join_threshold_bytes", "0")
        .set_bool(
            "ballista.optimizer.broadcast_sort_merge_join_enabled",
            false,
        );
    let session = cluster.session(config).await?;
    for table in ["lineitem", "part"] {
        let path = tables.join(table).display().to_string();
        session
            .register_parquet(table, path, ParquetReadOptions::default())
            .await?;
    }
    println!(
        "{rows} line items, {PARTS} parts; a Ballista scheduler and two executors with one task each\n"
    );
    println!(
        "| selected | rows shuffled, plain | with the filter | ratio | MB shuffled, plain | with the filter | ratio | time, plain / with the filter |"
    );
    println!("| --: | --: | --: | --: | --: | --: | --: | --: |");
    for percent in [15, 1] {
        let (plain, filtered) = (query(percent, false), query(percent, true));
        let (mut ratios, mut sent) = (Vec::new(), None);
        for _ in 0..rounds {
            let (result, before, time) = run(&session, &plain, &shuffles).await?;
            let (same, after, less) = run(&session, &filtered, &shuffles).await?;
            if result != same {
                return Err(wrong(format!(
                    "the filter changed the result: {result}\n{same}"
                )));
            }
            ratios.push(time / less);
            sent = Some((before, after));
        }
        ratios.sort_by(f64::total_cmp);
        let (before, after) = sent.ok_or_else(|| wrong("at least one round is needed"))?;
        println!("{}", row(percent, before, after, &ratios));
        if after.rows >= before.rows {
            return Err(wrong("the filter discards nothing before the shuffle"));
        }
    }
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "figures to read")]
fn row(percent: u64, before: Shuffled, after: Shuffled, ratios: &[f64]) -> String {
    let megabytes = |bytes: u64| bytes as f64 / 1e6;
    format!(
        "| {percent} % | {} | {} | {:.1}x | {:.0} | {:.0} | {:.1}x | {:.2}x ({:.2}-{:.2}) |",
        before.rows,
        after.rows,
        before.rows as f64 / after.rows as f64,
        megabytes(before.bytes),
        megabytes(after.bytes),
        before.bytes as f64 / after.bytes as f64,
        ratios[ratios.len() / 2],
        ratios[0],
        ratios[ratios.len() - 1],
    )
}

/// The result as text, what was shuffled, and the seconds.
async fn run(
    session: &SessionContext,
    sql: &str,
    shuffles: &Path,
) -> Result<(String, Shuffled, f64)> {
    let start = Instant::now();
    let result = session.sql(sql).await?.collect().await?;
    let seconds = start.elapsed().as_secs_f64();
    Ok((
        pretty_format_batches(&result)?.to_string(),
        shuffle::take(shuffles)?,
        seconds,
    ))
}

/// Revenue by brand of the parts of some sizes. The filter stands in front of the scan of the large table, below the join.
fn query(percent: u64, with_filter: bool) -> String {
    let expected = PARTS * percent / 100;
    let filter = format!(
        "where might_contain((select bloom_filter_agg(p_partkey, {expected}, 0.01) from part where p_size < {percent}), l_partkey)"
    );
    let filter = if with_filter { filter.as_str() } else { "" };
    format!(
        "select p_brand, count(*) as items, sum(l_price) as price, min(l_comment) as first
         from (select * from lineitem {filter}) as l join part on l_partkey = p_partkey
         where p_size < {percent} group by p_brand order by p_brand"
    )
}

/// Tables like two of TPC-H's. Sizes are spread evenly over the parts, and parts over the line items.
async fn write_tables(folder: &Path, rows: u64) -> Result<()> {
    let session = SessionContext::new();
    let tables = [
        (
            "part",
            format!(
                "select value as p_partkey, (value * 7919) % 100 as p_size, 'Brand#' || (value % 25) as p_brand, md5(cast(value as varchar)) as p_name
                 from generate_series(0, {})",
                PARTS - 1
            ),
        ),
        (
            "lineitem",
            format!(
                "select value as l_orderkey, (value * 48271) % {PARTS} as l_partkey, value % 10007 as l_price, md5(cast(value as varchar)) as l_comment
                 from generate_series(0, {})",
                rows - 1
            ),
        ),
    ];
    for (name, sql) in tables {
        let path = folder.join(name);
        let copy = format!("copy ({sql}) to '{}/' stored as parquet", path.display());
        session.sql(&copy).await?.collect().await?;
    }
    Ok(())
}
