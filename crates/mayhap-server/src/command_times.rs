//! How often each command ran, and how long it took: one histogram per command.
//!
//! A thread counts in its own memory and adds the counts to the shared ones after a round, so a command costs a few instructions
//! and no shared cache line.

use crate::commands::{COMMANDS, ResolvedCommand};
use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The smallest bucket has all times below 2^7 ns.
const MIN_EXPONENT: u32 = 6;
/// Buckets for each power of two: a bucket is at most a quarter wider than it starts.
const PER_OCTAVE: usize = 4;
/// Up to 2^38 ns, more than four minutes; the last bucket has all longer times.
pub(crate) const BUCKETS: usize = 32 * PER_OCTAVE;

fn rows() -> usize {
    mayhap_command::COMMANDS.len() + COMMANDS.len()
}

/// The number of a command: the row of its histogram.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct CommandNumber(u16);

impl CommandNumber {
    #[inline]
    pub(crate) fn new(command: ResolvedCommand) -> Self {
        let number = match command {
            ResolvedCommand::Filter(row) => position(&mayhap_command::COMMANDS, row),
            ResolvedCommand::Server(row) => {
                mayhap_command::COMMANDS.len() + position(COMMANDS, row)
            }
        };
        Self(number as u16)
    }

    /// The name of the command with this number.
    fn name(number: usize) -> &'static str {
        let filters = &mayhap_command::COMMANDS;
        let filter = filters.get(number).map(|row| row.spec.name);
        filter
            .or_else(|| {
                COMMANDS
                    .get(number - filters.len())
                    .map(|row| row.spec.name)
            })
            .unwrap_or_default()
    }
}

/// The index of an element, from its address. An element of another slice gets an index beyond the end.
#[inline]
fn position<T>(all: &[T], one: &T) -> usize {
    let start = all.as_ptr().addr();
    let offset = std::ptr::from_ref(one).addr().wrapping_sub(start);
    (offset / size_of::<T>()).min(all.len())
}

#[inline]
fn bucket(took: Duration) -> usize {
    let nanoseconds = (took.as_nanos() as u64).max(1 << MIN_EXPONENT);
    let exponent = nanoseconds.ilog2();
    let part = nanoseconds >> (exponent - 2) & 3;
    let bucket = (exponent - MIN_EXPONENT) as usize * PER_OCTAVE + part as usize;
    bucket.min(BUCKETS - 1)
}

/// The end of a bucket, in nanoseconds.
fn bucket_end(bucket: usize) -> u64 {
    let (octave, part) = (bucket / PER_OCTAVE, bucket % PER_OCTAVE);
    (part as u64 + 5) << (octave as u32 + MIN_EXPONENT - 2)
}

/// The counts of a thread's current round.
#[derive(Default)]
struct RoundTimes {
    counts: Vec<u32>,
    /// The counts that are not 0.
    used: Vec<u32>,
}

thread_local! {
    static ROUND: RefCell<RoundTimes> = RefCell::default();
}

/// Counts a command; the shared counts are updated at the end of the round.
#[inline]
pub(crate) fn record(CommandNumber(number): CommandNumber, took: Duration) {
    let at = usize::from(number) * BUCKETS + bucket(took);
    ROUND.with_borrow_mut(|round| {
        if round.counts.is_empty() {
            round.counts = vec![0; rows() * BUCKETS];
        }
        if let Some(count) = round.counts.get_mut(at) {
            if *count == 0 {
                round.used.push(at as u32);
            }
            *count += 1;
        }
    });
}

/// The times of all commands since the start.
pub(crate) struct CommandTimes(Box<[AtomicU64]>);

impl Default for CommandTimes {
    fn default() -> Self {
        Self((0..rows() * BUCKETS).map(|_| AtomicU64::new(0)).collect())
    }
}

impl CommandTimes {
    /// Adds the counts of this thread.
    pub(crate) fn add_round(&self) {
        ROUND.with_borrow_mut(|round| {
            for at in round.used.drain(..) {
                let count = round.counts.get_mut(at as usize).map_or(0, std::mem::take);
                if let Some(all) = self.0.get(at as usize) {
                    all.fetch_add(count.into(), Ordering::Relaxed);
                }
            }
        });
    }

    pub(crate) fn reset(&self) {
        for count in &self.0 {
            count.store(0, Ordering::Relaxed);
        }
    }

    /// The present counts.
    pub(crate) fn snapshot(&self) -> TimesSnapshot {
        let counts = self.0.iter().map(|count| count.load(Ordering::Relaxed));
        TimesSnapshot(counts.collect())
    }
}

/// The counts at one moment.
pub(crate) struct TimesSnapshot(Vec<u64>);

/// The times of one command.
pub(crate) struct TimesOfCommand {
    pub(crate) name: &'static str,
    /// Calls since the start.
    pub(crate) total: u64,
    /// The histogram of the calls since the earlier snapshot.
    recent: Vec<u64>,
}

impl TimesSnapshot {
    /// The commands that were ever called, with their calls since an earlier snapshot.
    pub(crate) fn since(&self, earlier: &Self) -> Vec<TimesOfCommand> {
        let rows = self.0.chunks_exact(BUCKETS);
        let pairs = rows.zip(earlier.0.chunks_exact(BUCKETS)).enumerate();
        let commands = pairs.filter_map(|(number, (row, before))| {
            let total = row.iter().sum();
            if total == 0 {
                return None;
            }
            let pairs = row.iter().zip(before);
            Some(TimesOfCommand {
                name: CommandNumber::name(number),
                total,
                // CONFIG RESETSTAT may have been called meanwhile.
                recent: pairs.map(|(now, then)| now.saturating_sub(*then)).collect(),
            })
        });
        commands.collect()
    }
}

impl TimesOfCommand {
    /// Calls since the earlier snapshot.
    pub(crate) fn calls(&self) -> u64 {
        self.recent.iter().sum()
    }

    /// The time, in nanoseconds, that this share of the recent calls did not exceed; too high by a quarter at most. `None`
    /// without calls.
    pub(crate) fn percentile(&self, share: f64) -> Option<u64> {
        let calls = self.calls();
        if calls == 0 {
            return None;
        }
        let wanted = ((calls as f64 * share).ceil() as u64).clamp(1, calls);
        let mut seen = 0;
        let at = self.recent.iter().position(|count| {
            seen += count;
            seen >= wanted
        });
        at.map(bucket_end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::resolve;

    #[test]
    fn every_command_has_its_own_number() {
        let filters = mayhap_command::COMMANDS.iter();
        let filters = filters.map(ResolvedCommand::Filter);
        let own = COMMANDS.iter().map(ResolvedCommand::Server);
        for (expected, command) in filters.chain(own).enumerate() {
            let CommandNumber(number) = CommandNumber::new(command);
            assert_eq!(usize::from(number), expected);
            assert_eq!(CommandNumber::name(expected), command.spec().name);
        }
    }

    #[test]
    fn buckets_are_at_most_a_quarter_wide() {
        for nanoseconds in (0..40).flat_map(|power| [1_u64 << power, (1 << power) + 1, 3 << power])
        {
            let end = bucket_end(bucket(Duration::from_nanos(nanoseconds)));
            if (64..1 << 38).contains(&nanoseconds) {
                assert!(end > nanoseconds, "{nanoseconds} {end}");
                assert!(
                    end <= nanoseconds + nanoseconds / 4 + 1,
                    "{nanoseconds} {end}"
                );
            }
        }
        assert_eq!(bucket(Duration::MAX), BUCKETS - 1);
    }

    #[test]
    fn percentiles_come_from_the_calls_between_two_snapshots() {
        let Ok(command) = resolve(&[b"PING"]) else {
            panic!("PING is a command");
        };
        let (times, number) = (CommandTimes::default(), CommandNumber::new(command));
        record(number, Duration::from_secs(1));
        times.add_round();
        let before = times.snapshot();
        for microseconds in 1..=100 {
            record(number, Duration::from_micros(microseconds));
        }
        times.add_round();
        let now = times.snapshot().since(&before);
        let [ping] = &now[..] else {
            panic!("one command")
        };
        assert_eq!((ping.name, ping.total, ping.calls()), ("ping", 101, 100));
        let median = ping.percentile(0.5).unwrap();
        assert!((50_000..64_000).contains(&median), "{median}");
        let all = ping.percentile(1.0).unwrap();
        assert!((100_000..126_000).contains(&all), "{all}");
        times.reset();
        assert!(times.snapshot().since(&before).is_empty());
    }
}
