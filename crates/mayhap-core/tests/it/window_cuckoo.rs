//! `WindowCuckoo`: keeps keys for the window, forgets them an epoch later, keeps the rate, and tolerates bursts, hostile orders, memory
//! limits and clocks that jump.

use crate::{hashes, mixed, soak};
use mayhap_core::plan::WindowCuckooPlan;
use mayhap_core::{
    Full, HashScheme, KeyHash, PlanError, SipKey, SliceTableParts, Timestamp, WindowCuckoo,
};
use std::collections::HashMap;
use std::time::Duration;

const START: u64 = 1_000_000;

/// The constant of the walk (`probe/slice.rs`), for keys in the order of their slices.
const PLACE: u64 = 0x9FB2_1C65_1E98_DF25;

fn with_epochs(keys: u64, rate: f64, ms: u64, epochs: u32) -> WindowCuckoo {
    let window = Duration::from_millis(ms);
    let plan = WindowCuckooPlan::with_epochs(keys, rate, window, epochs).unwrap();
    WindowCuckoo::from_plan(plan, HashScheme::Caller, Timestamp(START)).unwrap()
}

fn hash(seed: u64, at: u64) -> KeyHash {
    hashes(seed, at, at + 1).next().unwrap()
}

fn reopened(filter: &WindowCuckoo) -> WindowCuckoo {
    let times = (filter.start(), filter.newest());
    WindowCuckoo::from_tables(*filter.plan(), filter.scheme(), times, filter.tables()).unwrap()
}

fn all_found(filter: &WindowCuckoo, keys: &[KeyHash], now: Timestamp) -> bool {
    let mut found = vec![false; keys.len()];
    filter.contains_hashes(keys, now, &mut found);
    found.iter().all(|&found| found) && keys.iter().all(|&key| filter.contains_hash(key, now))
}

#[test]
fn keys_are_kept_for_the_window_and_forgotten_an_epoch_later() {
    for epochs in 2..=14 {
        for offset in [0, 1, 99, 100, 101, 12_345] {
            let mut filter = with_epochs(1000, 1e-6, 100 * u64::from(epochs), epochs);
            let key = hash(51, 0);
            let seen = START + offset;
            assert_eq!(filter.try_insert_hash(key, Timestamp(seen)), Ok(true));
            let length = filter.plan().window_ms();
            for after in [0, 1, length / 2, length - 1, length] {
                assert!(
                    filter.contains_hash(key, Timestamp(seen + after)),
                    "{epochs} epochs, {offset}, {after} later"
                );
            }
            let gone = Timestamp(seen + length + filter.plan().epoch_ms());
            assert!(!filter.contains_hash(key, gone));
            // A lookup forgets nothing: an older time still sees the past.
            assert!(filter.contains_hash(key, Timestamp(seen)));
            assert_eq!(
                filter.try_insert_hash(key, gone),
                Ok(true),
                "it was forgotten"
            );
        }
    }
}

/// Runs random operations beside a map of the times at which keys were last seen.
struct Model {
    filter: WindowCuckoo,
    last_seen: HashMap<u64, u64>,
    newest: u64,
    /// Keys that were found although they are too old, or were never inserted.
    wrong: u64,
    absent: u64,
}

impl Model {
    fn new(filter: WindowCuckoo) -> Self {
        let newest = filter.newest().0;
        Self {
            filter,
            last_seen: HashMap::new(),
            newest,
            wrong: 0,
            absent: 0,
        }
    }

    fn age(&self, key: u64, now: u64) -> Option<u64> {
        let seen = self.last_seen.get(&key)?;
        Some(now.max(self.newest) - seen)
    }

    fn check(&mut self, key: u64, now: u64, found: bool) {
        let (age, window) = (self.age(key, now), self.filter.plan().window_ms());
        if age.is_some_and(|age| age <= window) {
            assert!(found, "key {key}, {age:?} ms old, is missing at {now}");
        }
        if age.is_none_or(|age| age >= window + self.filter.plan().epoch_ms()) {
            self.absent += 1;
            self.wrong += u64::from(found);
        }
    }

    fn insert(&mut self, key: u64, now: u64) {
        let known = self.filter.contains_hash(hash(52, key), Timestamp(now));
        self.check(key, now, known);
        let is_new = self.filter.try_insert_hash(hash(52, key), Timestamp(now));
        assert_eq!(is_new, Ok(!known));
        self.newest = self.newest.max(now);
        self.last_seen.insert(key, self.newest);
        assert_eq!(self.filter.newest(), Timestamp(self.newest));
    }

    fn look_up(&mut self, key: u64, now: u64) {
        let found = self.filter.contains_hash(hash(52, key), Timestamp(now));
        self.check(key, now, found);
    }

    /// Looks up every key that was ever inserted.
    fn check_all(&mut self, now: u64) {
        let keys: Vec<u64> = self.last_seen.keys().copied().collect();
        let hashes: Vec<_> = keys.iter().map(|&key| hash(52, key)).collect();
        let mut found = vec![false; keys.len()];
        self.filter
            .contains_hashes(&hashes, Timestamp(now), &mut found);
        for (&key, &found) in keys.iter().zip(&found) {
            assert_eq!(
                found,
                self.filter.contains_hash(hash(52, key), Timestamp(now))
            );
            self.check(key, now, found);
        }
        // Those that were forgotten long ago are like any that was never inserted.
        let (newest, long_ago) = (self.newest, 4 * self.filter.plan().window_ms());
        self.last_seen.retain(|_, seen| newest - *seen <= long_ago);
    }
}

#[test]
fn no_key_is_missing_or_kept_too_long_compared_with_exact_times() {
    let steps: u64 = if soak() { 25_000_000 } else { 100_000 };
    for (epochs, keys, rate) in [
        (8, 500, 1e-7),
        (14, 500, 1e-4),
        (11, 20, 1e-7),
        (2, 2000, 1e-5),
    ] {
        let epoch_ms = 1000;
        let window = epoch_ms * u64::from(epochs);
        let mut model = Model::new(with_epochs(keys, rate, window, epochs));
        let mut now = START;
        let mut bursts = 0;
        for step in 0..steps {
            let random = mixed(mixed(u64::from(epochs)) ^ step);
            now += random % 9;
            // Twice as many keys as planned at most, if there is no burst.
            let key = (random >> 20) % (4 * keys);
            match random >> 50 {
                // Clocks jump: an epoch, a window, many windows.
                0 => now += epoch_ms,
                1 => now += window + random % epoch_ms,
                2 => now += 100 * window,
                // A burst of ten times the capacity, some of it at the same moment.
                3 | 4 if step % 100_000 < 60_000 => {
                    bursts += 1;
                    for number in 0..10 * keys {
                        model.insert(1_000_000 + step * 64 + number, now + number / 64);
                    }
                    model.check_all(now);
                }
                // A clock that goes backwards, even to before the start.
                5..200 => model.insert(key, now - (random >> 30) % (2 * window).min(now)),
                200..300 => model.look_up(key, now.saturating_sub(random % window)),
                _ if step % 3 == 0 => model.insert(key, now),
                _ => model.look_up(key, now + random % 2 * (random % (2 * window))),
            }
            now = now.max(model.newest);
            if step % 5_000 == 0 {
                model.check_all(now);
                model.check_all(now + window / 3);
                assert!(reopened(&model.filter) == model.filter);
            }
        }
        println!(
            "{:?}: {bursts} bursts, {} of {} absent keys found",
            model.filter, model.wrong, model.absent
        );
        assert!(bursts > 0 && model.absent > 10_000);
        // The rate of all tables is at most twice the requested one; five standard deviations more.
        let expected = 2.0 * rate * model.absent as f64;
        assert!((model.wrong as f64) <= expected + 5.0 * expected.sqrt() + 1.0);
    }
}

#[test]
fn the_rate_is_kept_in_the_steady_state() {
    for (keys, rate) in [
        (20_000, 0.05),
        (20_000, 0.01),
        (20_000, 0.001),
        (57_000, 0.01),
    ] {
        let window = Duration::from_secs(8);
        let plan = WindowCuckooPlan::new(keys, rate, window).unwrap();
        let mut filter =
            WindowCuckoo::from_plan(plan, HashScheme::Caller, Timestamp(START)).unwrap();
        let planned = filter.size_bytes();
        // Three windows, to the end of an epoch: as many keys are live as ever.
        let end = 3 * plan.window_ms() + plan.epoch_ms();
        let all = keys * end / plan.window_ms();
        for (at, key) in (0..).zip(hashes(54, 0, all)) {
            filter
                .try_insert_hash(key, Timestamp(START + at * end / all))
                .unwrap();
            // A few keys may have no cell.
            assert!(filter.size_bytes() <= planned + 1024);
        }
        let now = filter.newest();
        let queries = (2e4 / rate) as u64;
        let found = hashes(55, 0, queries)
            .filter(|&key| filter.contains_hash(key, now))
            .count();
        let measured = found as f64 / queries as f64;
        println!(
            "{filter:?}: {measured:.2e}, {:.1} bits/key, {:.0} % full",
            filter.size_bytes() as f64 * 8.0 / keys as f64,
            100.0 * filter.stats(now).fill.unwrap()
        );
        let margin = 5.0 / (rate * queries as f64).sqrt();
        assert!(measured <= rate * (1.0 + margin), "{filter:?}: {measured}");
        assert!((filter.estimated_rate(now) - measured).abs() <= rate * margin);
        assert!(!filter.is_over_capacity(now));
        let live = keys + keys / u64::from(plan.epochs());
        assert!(filter.counted_keys(now).abs_diff(live) <= live / 20);
    }
}

#[test]
fn bursts_are_reported_and_their_memory_is_returned() {
    let mut filter = with_epochs(1_000, 0.01, 8_000, 8);
    let planned = filter.size_bytes();
    let keys: Vec<_> = hashes(56, 0, 50_000).collect();
    let now = Timestamp(START);
    for &key in &keys {
        filter.try_insert_hash(key, now).unwrap();
    }
    assert!(all_found(&filter, &keys, now) && filter.is_over_capacity(now));
    assert!(filter.estimated_rate(now) <= 0.02 && filter.keys_until_full(now) == 0);
    let burst = filter.size_bytes();
    assert!(burst > 10 * planned && filter.stats(now).layers > 1);
    // Some keys are seen in every epoch. They move to the first table, and the others go with the burst.
    let often = &keys[30_000..30_500];
    for epoch in 1..=12 {
        let now = Timestamp(START + 1000 * epoch);
        for &key in often {
            filter.try_insert_hash(key, now).unwrap();
        }
        let gone = epoch > 8;
        assert!(all_found(&filter, if gone { often } else { &keys }, now));
        // The table of the burst is dropped when the epoch after the last of its keys begins.
        assert_eq!(filter.size_bytes() <= planned, epoch > 9, "epoch {epoch}");
    }
    let now = filter.newest();
    assert!(!filter.is_over_capacity(now) && filter.stats(now).layers == 1);
    assert_eq!(filter.counted_keys(now), 500);
}

#[test]
fn a_sparse_burst_table_shrinks_although_the_first_stays_full() {
    let mut filter = with_epochs(1_000, 0.01, 8_000, 8);
    let mut seen = 0;
    let mut insert = |filter: &mut WindowCuckoo, count: u64, ms: u64| {
        for key in hashes(57, seen, seen + count) {
            filter.try_insert_hash(key, Timestamp(START + ms)).unwrap();
        }
        seen += count;
    };
    insert(&mut filter, 60_000, 0);
    let burst = filter.size_bytes();
    // From now on, half more than planned: the first table is always full.
    for epoch in 1..30 {
        insert(&mut filter, 190, epoch * 1000);
    }
    assert!(filter.stats(filter.newest()).layers == 2);
    assert!(
        filter.size_bytes() * 4 < burst,
        "{filter:?}, {burst} before"
    );
    let live: Vec<_> = hashes(57, seen - 8 * 190, seen).collect();
    assert!(all_found(&filter, &live, filter.newest()));
    assert!(reopened(&filter) == filter);
}

#[test]
fn clocks_that_jump_are_harmless() {
    let mut filter = with_epochs(100, 1e-6, 800, 8);
    let keys: Vec<_> = hashes(58, 0, 4).collect();
    filter
        .try_insert_hash(keys[0], Timestamp(START + 500))
        .unwrap();
    // Before the start: counts as the newest time, so the key is kept from there on.
    filter.try_insert_hash(keys[1], Timestamp(0)).unwrap();
    assert_eq!(filter.newest(), Timestamp(START + 500));
    assert!(filter.contains_hash(keys[1], Timestamp(START + 500 + 800)));
    assert!(filter.contains_hash(keys[1], Timestamp(0)));
    // A jump over many windows, and to the end of time.
    for leap in [1_000_000_000, u64::MAX] {
        let leap = Timestamp(leap);
        assert!(!filter.contains_hash(keys[0], leap));
        filter.try_insert_hash(keys[2], leap).unwrap();
        assert!(filter.contains_hash(keys[2], leap) && !filter.contains_hash(keys[0], leap));
        assert_eq!(filter.counted_keys(leap), 1);
    }
    assert!(reopened(&filter) == filter);
}

#[test]
fn hostile_orders_cost_memory_and_no_keys() {
    let inverse = (0..6).fold(1_u64, |inverse, _| {
        inverse.wrapping_mul(2_u64.wrapping_sub(PLACE.wrapping_mul(inverse)))
    });
    let keys: Vec<_> = (0..20_000).map(|at| mixed(at + 5900)).collect();
    let in_one_group = keys.iter().map(|key| (key >> 6).wrapping_mul(inverse));
    let mut in_order = keys.clone();
    in_order.sort_unstable();
    let in_order = in_order.iter().map(|key| key.wrapping_mul(inverse));
    let orders: [Vec<KeyHash>; 2] = [
        in_one_group.map(KeyHash::from_u64).collect(),
        in_order.map(KeyHash::from_u64).collect(),
    ];
    for order in orders {
        // Many groups, and a first table that is full before the end.
        for planned in [1_000_000, 10_000] {
            let mut filter = with_epochs(planned, 0.001, 8_000, 8);
            let before = filter.size_bytes();
            for (at, &key) in (0..).zip(&order) {
                filter
                    .try_insert_hash(key, Timestamp(START + at / 10))
                    .unwrap();
            }
            let now = filter.newest();
            assert!(all_found(&filter, &order, now));
            assert!(reopened(&filter) == filter);
            assert!(filter.size_bytes() < before + 20_000 * 64);
            // Afterwards, the filter is as before.
            let later = Timestamp(now.0 + 9_000);
            filter.try_insert_hash(hash(60, 0), later).unwrap();
            assert_eq!(filter.counted_keys(later), 1);
            assert!(filter.size_bytes() <= before);
        }
    }
}

#[test]
fn a_limit_rejects_keys_and_changes_nothing_else() {
    for planned in [20, 1000] {
        let make = || with_epochs(planned, 0.01, 8_000, 8);
        let (mut free, mut limited) = (make(), make());
        let max = free.size_bytes() * 2 + 600;
        let (mut refused, mut during_sweep) = (0, 0);
        for number in 0..30 * planned {
            // Some keys repeat, and bursts end: every second window is quiet.
            let random = mixed(number);
            let window = number / (10 * planned);
            let key = hash(61, random % (12 * planned) + (window % 2) * 1_000_000);
            let now = START + window * 20_000 + (number % (10 * planned)) / (planned / 10).max(1);
            let before = limited.clone();
            match limited.try_insert_hash_within(key, Timestamp(now), max) {
                Ok(new) => assert_eq!(free.try_insert_hash(key, Timestamp(now)), Ok(new)),
                Err(Full::Memory { size_bytes }) => {
                    assert!(size_bytes > max && limited == before);
                    refused += 1;
                    during_sweep += u64::from(limited.tables().any(|table| table.moved_groups > 0));
                }
                Err(other) => panic!("{other}"),
            }
            if number % 64 == 0 {
                assert!(limited == free && limited.size_bytes() <= max);
            }
        }
        println!("{planned} keys: {refused} refused, {during_sweep} during a sweep");
        assert!(limited == free && refused > planned);
    }
}

#[test]
fn equal_operations_give_equal_bytes_in_batches_and_one_by_one() {
    let make = || with_epochs(3_000, 0.01, 8_000, 8);
    let (mut single, mut batched, mut reporting) = (make(), make(), make());
    for round in 0..200_u64 {
        let now = Timestamp(START + round * 130);
        let from = round * 70;
        let keys: Vec<_> = hashes(62, from, from + 100 + (round % 50) * 20).collect();
        let mut is_new = vec![false; keys.len()];
        batched.try_insert_hashes(&keys, now).unwrap();
        reporting
            .try_insert_hashes_reporting_new(&keys, now, &mut is_new)
            .unwrap();
        for (&key, &is_new) in keys.iter().zip(&is_new) {
            assert_eq!(single.try_insert_hash(key, now), Ok(is_new));
        }
        assert!(single == batched && single == reporting, "round {round}");
        if round % 20 == 0 {
            // A filter that was saved in between continues in the same way.
            single = reopened(&single);
            batched = batched.try_clone().unwrap();
        }
    }
}

#[test]
fn a_clone_and_a_cleared_filter_are_what_they_say() {
    let window = Duration::from_secs(60);
    let key = SipKey::new([7; 16]);
    let mut filter = WindowCuckoo::keyed(1000, 0.01, window, Timestamp(9), key).unwrap();
    for number in 0..5_000_u32 {
        filter
            .try_insert(number, Timestamp(u64::from(number)))
            .unwrap();
    }
    let copy = filter.try_clone().unwrap();
    assert!(copy == filter && copy.clone() == filter);
    let mut found = [false; 2];
    filter.contains_each(&[7_u32, 4_999], filter.newest(), &mut found);
    assert_eq!(found, [true; 2]);
    filter.clear();
    assert!(copy != filter && filter.counted_keys(filter.newest()) == 0);
    let empty = WindowCuckoo::for_hashes(1000, 0.01, window, Timestamp(9)).unwrap();
    assert_eq!(filter.size_bytes(), empty.size_bytes());
    assert!(!filter.contains(7_u32, filter.newest()));
    assert_eq!(filter.try_insert(7_u32, Timestamp(0)), Ok(true));
}

#[test]
fn damaged_parts_are_rejected() {
    let mut filter = with_epochs(300, 0.01, 8_000, 8);
    for (at, key) in (0..).zip(hashes(64, 0, 1_000)) {
        filter.try_insert_hash(key, Timestamp(START + at)).unwrap();
    }
    let (plan, scheme) = (*filter.plan(), filter.scheme());
    let times = (filter.start(), filter.newest());
    let tables = || filter.tables().collect::<Vec<_>>();
    assert!(tables().len() == 2);
    let open = |times, tables: Vec<SliceTableParts<'_>>| {
        WindowCuckoo::from_tables(plan, scheme, times, tables).map(|opened| opened == filter)
    };
    assert_eq!(open(times, tables()), Ok(true));
    let field = |result: Result<bool, PlanError>| match result {
        Err(PlanError::InvalidInteger { field, .. }) => field,
        other => panic!("{other:?}"),
    };
    assert_eq!(field(open(times, Vec::new())), "tables");
    assert_eq!(field(open((times.1, times.0), tables())), "newest");
    let changed = |change: &dyn Fn(&mut SliceTableParts<'_>), at: usize| {
        let mut tables = tables();
        change(&mut tables[at]);
        field(open(times, tables))
    };
    assert_eq!(changed(&|table| table.slice_bits += 1, 0), "slice bits");
    assert_eq!(changed(&|table| table.payload_bits = 3, 1), "slice bits");
    assert_eq!(changed(&|table| table.shape += 1, 0), "shape");
    assert_eq!(changed(&|table| table.moved_groups = 1, 0), "shape");
    assert_eq!(changed(&|table| table.shape += 1, 1), "bytes");
    assert_eq!(changed(&|table| table.stash = vec![(3, 1)], 0), "stash");
    assert_eq!(changed(&|table| table.stash = vec![(1, 17)], 0), "stash");
    let copied = tables()[0].cells.to_vec();
    // Every flipped bit is an error, or a filter that answers.
    for bit in 0..copied.len() * 8 {
        let mut cells = copied.clone();
        cells[bit / 8] ^= 1 << (bit % 8);
        let mut tables = tables();
        tables[0].cells = &cells;
        if let Ok(mut opened) = WindowCuckoo::from_tables(plan, scheme, times, tables) {
            opened
                .try_insert_hash(hash(65, bit as u64), times.1)
                .unwrap();
            opened
                .try_insert_hash(hash(65, 0), Timestamp(times.1.0 + 5_000))
                .unwrap();
        }
    }
}
