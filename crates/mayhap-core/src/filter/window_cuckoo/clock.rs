//! The time of a `WindowCuckoo`: which epoch a time belongs to, which epochs are live, and which groups are due to be cleaned.
//!
//! An epoch has a number, counted from the start, and cells store it modulo 16. The numbers of live epochs differ, and so do those of
//! epochs that have expired so recently that their cells may not have been emptied yet. Each group is cleaned once in every
//! *cycle*, of as many epochs as there are numbers left. So when an epoch begins, no cell has its number.
//!
//! Groups are cleaned in turn, at moments that depend on the time only. So the work is spread evenly, whatever the number of inserts, and
//! filters that got equal operations are equal.

use crate::Timestamp;
use crate::plan::{EPOCHS, WindowCuckooPlan};

/// The numbers, modulo 16, of live epochs: one bit each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::filter) struct LiveEpochs(pub(in crate::filter) u16);

impl LiveEpochs {
    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) fn contains(self, number: u64) -> bool {
        self.0 >> number & 1 != 0
    }
}

/// The time of a filter.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Clock {
    start: Timestamp,
    newest: Timestamp,
    /// The epoch of the newest time, and when it ends: most inserts need no division.
    epoch: u64,
    epoch_end: u64,
    /// The live epochs at that time.
    live: LiveEpochs,
    epoch_ms: u64,
    /// Live epochs before the current one.
    epochs: u64,
    cycle_ms: u64,
}

impl Clock {
    pub(super) fn new(plan: &WindowCuckooPlan, start: Timestamp, newest: Timestamp) -> Self {
        let mut clock = Self {
            start,
            newest: start,
            epoch: 0,
            epoch_end: 0,
            live: LiveEpochs(1),
            epoch_ms: plan.epoch_ms(),
            epochs: plan.epochs().into(),
            cycle_ms: plan.epoch_ms() * plan.spare_epochs(),
        };
        clock.advance(newest.max(start));
        clock
    }

    pub(super) fn start(&self) -> Timestamp {
        self.start
    }

    pub(super) fn newest(&self) -> Timestamp {
        self.newest
    }

    /// The number of the current epoch, as cells store it.
    pub(super) fn number(&self) -> u64 {
        self.epoch % EPOCHS
    }

    /// Whether a time is after the current epoch.
    #[inline(always)]
    pub(super) fn is_later_epoch(&self, now: Timestamp) -> bool {
        now.0 >= self.epoch_end && self.epoch_end < u64::MAX
    }

    /// The epochs whose keys are kept at a time, as far as the filter has their keys. A time before the newest counts as the newest.
    #[inline(always)]
    pub(super) fn live_at(&self, now: Timestamp) -> LiveEpochs {
        if self.is_later_epoch(now) {
            self.live_in((now.0 - self.start.0) / self.epoch_ms)
        } else {
            self.live
        }
    }

    fn live_in(&self, epoch: u64) -> LiveEpochs {
        let oldest = epoch.saturating_sub(self.epochs);
        // At most 15, because a window has at most 14 epochs.
        let Some(before) = self.epoch.checked_sub(oldest) else {
            return LiveEpochs(0);
        };
        let numbers = (1_u32 << (before + 1)) - 1;
        // From the oldest number on, cyclically.
        let rotated = numbers << (oldest % EPOCHS);
        LiveEpochs((rotated | rotated >> EPOCHS) as u16)
    }

    /// The live epochs at a time that the filter has keys of, each alone, the oldest first.
    pub(super) fn live_numbers(&self, now: Timestamp) -> impl Iterator<Item = (u64, LiveEpochs)> {
        let count = u64::from(self.live_at(now).0.count_ones());
        let epochs = (0..count).rev().map(|before| self.epoch - before);
        epochs.map(|epoch| (epoch, LiveEpochs(1 << (epoch % EPOCHS))))
    }

    /// The groups, of that many, to be cleaned on the way from the newest time to a later one: the first of them, and how many, cyclically.
    pub(super) fn due_groups(&self, now: Timestamp, groups: u64) -> (u64, u64) {
        let passed = |time: Timestamp| {
            u128::from(time.0 - self.start.0) * u128::from(groups) / u128::from(self.cycle_ms)
        };
        let (from, to) = (passed(self.newest), passed(now));
        if from == to {
            return (0, 0);
        }
        // From an even group on, because the groups may have been split after the last time, when the even one was not due yet.
        let from = if groups > 1 { from & !1 } else { from };
        let count = (to - from).min(groups.into()) as u64;
        ((from % u128::from(groups)) as u64, count)
    }

    /// Makes a time the newest. It must not be before the newest.
    pub(super) fn advance(&mut self, now: Timestamp) {
        self.newest = now;
        if now.0 >= self.epoch_end {
            self.epoch = (now.0 - self.start.0) / self.epoch_ms;
            let next = self.epoch.checked_add(1);
            let end = next.and_then(|next| next.checked_mul(self.epoch_ms));
            let end = end.and_then(|end| end.checked_add(self.start.0));
            self.epoch_end = end.unwrap_or(u64::MAX);
            self.live = self.live_in(self.epoch);
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use core::time::Duration;
    use std::collections::BTreeMap;

    fn plan(epochs: u32) -> WindowCuckooPlan {
        let window = Duration::from_millis(100 * u64::from(epochs));
        WindowCuckooPlan::with_epochs(1000, 0.01, window, epochs).unwrap()
    }

    #[test]
    fn live_epochs_are_those_of_the_window_that_the_filter_has() {
        for epochs in 2..=14 {
            let plan = plan(epochs);
            for newest in [0, 99, 100, 250, 799, 5_000, 123_456] {
                let clock = Clock::new(&plan, Timestamp(7), Timestamp(7 + newest));
                for later in (0..3000).step_by(50) {
                    let (epoch, now) = (newest / 100, (newest + later) / 100);
                    let live = clock.live_at(Timestamp(7 + newest + later));
                    let oldest = now.saturating_sub(u64::from(epochs));
                    let expected = (oldest..=epoch).fold(0, |bits, epoch| bits | 1 << (epoch % 16));
                    assert_eq!(live.0, expected, "{epochs} epochs, {newest} + {later}");
                }
            }
        }
    }

    #[test]
    fn no_cell_has_the_number_of_an_epoch_that_begins() {
        for epochs in [2, 8, 13, 14] {
            let plan = plan(epochs);
            for groups_log in [0, 1, 2, 3, 6] {
                let mut groups = 1_u64 << groups_log;
                let mut clock = Clock::new(&plan, Timestamp(7), Timestamp(7));
                // The epoch of the only key in each group, and when it is cleaned.
                let mut cells: BTreeMap<u64, u64> = BTreeMap::new();
                let mut random = 1_u64;
                for step in 0..20_000_u64 {
                    random = random
                        .wrapping_mul(0x9FB2_1C65_1E98_DF25)
                        .wrapping_add(step);
                    let leap = [0, 1, 7, 40, 100, 301, 1000][(random >> 61) as usize % 7];
                    let now = Timestamp(clock.newest().0 + leap);
                    let live = clock.live_at(now);
                    let (first, count) = clock.due_groups(now, groups);
                    for group in (first..first + count).map(|group| group % groups) {
                        cells.retain(|&cell, &mut epoch| {
                            cell != group || live.contains(epoch % EPOCHS)
                        });
                    }
                    clock.advance(now);
                    let too_old = |&epoch: &u64| epoch + 16 <= clock.epoch;
                    assert!(
                        !cells.values().any(too_old),
                        "{epochs} epochs, {groups} groups"
                    );
                    cells.insert((random >> 20) % groups, clock.epoch);
                    // Sometimes every group is split in two.
                    if groups < 64 && (random >> 20).is_multiple_of(512) {
                        groups *= 2;
                        let halves =
                            |(&group, &epoch)| [(2 * group, epoch), (2 * group + 1, epoch)];
                        cells = cells.iter().flat_map(halves).collect();
                    }
                }
            }
        }
    }

    #[test]
    fn times_before_the_start_and_at_the_end_of_time_are_harmless() {
        let plan = plan(8);
        let mut clock = Clock::new(&plan, Timestamp(500), Timestamp(3));
        assert_eq!(clock.newest(), Timestamp(500));
        assert_eq!(clock.live_at(Timestamp(0)), LiveEpochs(1));
        assert!(clock.live_at(Timestamp(u64::MAX)).is_empty());
        clock.advance(Timestamp(u64::MAX));
        assert!(clock.live_at(Timestamp(u64::MAX)).contains(clock.number()));
        assert_eq!(clock.due_groups(Timestamp(u64::MAX), 1 << 40), (0, 0));
        // Epochs of a millisecond, from 0 on.
        let plan = WindowCuckooPlan::new(10, 0.01, Duration::from_millis(1)).unwrap();
        let clock = Clock::new(&plan, Timestamp(0), Timestamp(u64::MAX));
        let last = clock.live_numbers(Timestamp(u64::MAX)).last();
        assert_eq!(last.map(|(epoch, _)| epoch), Some(u64::MAX));
    }
}
