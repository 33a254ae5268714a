//! A shuffled join on a real cluster, a Ballista scheduler and two executors, with and without a filter: the same rows, counted in the
//! shuffle files.
//!
//! `mayhap-datafusion-cluster [ROWS [ROUNDS]]` starts the cluster's processes, which are this program again, and prints the comparison.

mod join;
mod processes;
mod shuffle;

use datafusion::error::{DataFusionError, Result};

#[tokio::main]
async fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["scheduler", port] => processes::scheduler(number(port)?).await,
        ["executor", scheduler, port, grpc_port, folder] => {
            let ports = [number(scheduler)?, number(port)?, number(grpc_port)?];
            processes::executor(ports, folder).await
        }
        [] => join::compare(12_000_000, 5).await,
        [rows] => join::compare(number(rows)?, 5).await,
        [rows, rounds] => join::compare(number(rows)?, number(rounds)?).await,
        _ => Err(wrong("use mayhap-datafusion-cluster [ROWS [ROUNDS]]")),
    }
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T> {
    text.parse()
        .map_err(|_| wrong(format!("{text} is not a number")))
}

fn wrong(message: impl Into<String>) -> DataFusionError {
    DataFusionError::Execution(message.into())
}
