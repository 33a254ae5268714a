//! "Seen in the last hour?": a filter that forgets.

#![expect(clippy::print_stdout, reason = "it is a program")]

use mayhap::{Timestamp, WindowBloom};
use std::time::Duration;

const HOUR: Duration = Duration::from_secs(3600);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // With the system's clock: one alert per hour and host.
    let mut alerted = WindowBloom::new(10_000, 0.001, HOUR, Timestamp::now())?;
    for host in ["db1", "db2", "db1"] {
        if alerted.insert(host, Timestamp::now()) {
            println!("alert: {host} is down");
        }
    }

    // With any other clock, such as the time in the records: replaying them gives the same answers.
    let mut seen = WindowBloom::new(10_000, 0.001, HOUR, Timestamp(0))?;
    let minutes = |count: u64| Timestamp(count * 60_000);
    assert!(seen.insert("key", minutes(1)));
    assert!(seen.contains("key", minutes(60)));
    // It stays for an hour, and for an eighth of that at most in addition.
    assert!(!seen.contains("key", minutes(70)));
    Ok(())
}
