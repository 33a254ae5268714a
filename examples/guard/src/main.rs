//! The service as a program.

use clap::Parser;
use guard::Config;
use guard::failure::Failure;
use guard::service::Service;
use std::time::Duration;

/// Answers questions about users, and asks the database only about those who may exist.
#[derive(Parser)]
struct Arguments {
    /// Where HTTP is spoken
    #[arg(long, default_value = "127.0.0.1:8080")]
    listen: String,
    /// How PostgreSQL is reached
    #[arg(long, default_value = "host=/run/postgresql user=postgres")]
    postgres: String,
    /// How a Redis with BF.* is reached
    #[arg(long, default_value = "redis://127.0.0.1:6379")]
    redis: String,
    /// Ask the database for everything, for comparison
    #[arg(long)]
    no_guard: bool,
    /// The share of missing users for which the database is asked all the same
    #[arg(long, default_value_t = 0.01)]
    false_positive_rate: f64,
    /// Seconds that a row is answered from the cache, 0 for never
    #[arg(long, default_value_t = 60)]
    cache_seconds: u64,
    /// Milliseconds that Redis may take before the database is asked instead
    #[arg(long, default_value_t = 100)]
    redis_patience_ms: u64,
    /// Threads that answer
    #[arg(long, default_value_t = 16)]
    workers: usize,
}

fn main() -> Result<(), Failure> {
    let arguments = Arguments::parse();
    let service = Service::start(&Config {
        listen: arguments.listen,
        postgres: arguments.postgres,
        redis: arguments.redis,
        guarded: !arguments.no_guard,
        false_positive_rate: arguments.false_positive_rate,
        cache_for: (arguments.cache_seconds > 0)
            .then(|| Duration::from_secs(arguments.cache_seconds)),
        redis_patience: Duration::from_millis(arguments.redis_patience_ms.max(1)),
        workers: arguments.workers,
    })?;
    eprintln!("listens on http://{}", service.address());
    service.wait();
    Ok(())
}
