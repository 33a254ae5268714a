//! Caches the plan of the next part of a chain. A filter that cannot grow tries again with every key, and computing a plan takes
//! as long as ten thousand lookups.

use crate::PlanError;

/// The plan of part `number` of a chain, once it was needed. It follows from the rest of the filter, so it does not affect
/// equality.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NextPart<P>(Option<(u32, Result<P, PlanError>)>);

impl<P> Default for NextPart<P> {
    fn default() -> Self {
        Self(None)
    }
}

impl<P> PartialEq for NextPart<P> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<P: Copy> NextPart<P> {
    /// The result of `plan` for this part, computed now or cached.
    pub(crate) fn get(
        &mut self,
        number: u32,
        plan: impl FnOnce(u32) -> Result<P, PlanError>,
    ) -> Result<P, PlanError> {
        match self.0 {
            Some((known, planned)) if known == number => planned,
            _ => {
                let planned = plan(number);
                self.0 = Some((number, planned));
                planned
            }
        }
    }
}

/// The number of plans computed on this thread.
#[cfg(test)]
pub(crate) mod plan_count {
    extern crate std;
    use core::cell::Cell;

    std::thread_local! {
        static PLANS: Cell<u64> = const { Cell::new(0) };
    }

    pub(crate) fn add() {
        PLANS.set(PLANS.get() + 1);
    }

    pub(crate) fn plans(run: impl FnOnce()) -> u64 {
        let before = PLANS.get();
        run();
        PLANS.get() - before
    }
}

#[cfg(test)]
mod tests {
    use super::plan_count::plans;
    use crate::plan::{GrowingPlan, WindowPlan};
    use crate::{Cuckoo, GrowingBloom, HashScheme, KeyHash, Timestamp, WindowBloom};
    use core::time::Duration;

    const KEYS: u64 = 5000;

    /// Fills a filter until it rejects keys, and beyond: the number of plans computed for all rejected keys together.
    fn plans_for_refused(mut insert: impl FnMut(KeyHash) -> bool) -> u64 {
        let hash = |number: u64| HashScheme::Xxh3.hash(number.to_le_bytes());
        let refused = (0..KEYS).find(|&number| !insert(hash(number))).unwrap();
        let mut others = 0;
        let plans = plans(|| {
            for number in refused..refused + KEYS {
                others += u64::from(!insert(hash(number)));
            }
        });
        assert!(others > KEYS / 2, "{others}");
        plans
    }

    #[test]
    fn rejected_keys_do_not_compute_plans_again() {
        let plan = GrowingPlan::new(100, 0.01).unwrap();
        let mut growing = GrowingBloom::from_plan(plan, HashScheme::Xxh3).unwrap();
        let max = growing.size_bytes() * 4;
        let refused = plans_for_refused(|hash| growing.try_insert_hash_within(hash, max).is_ok());
        assert!(refused <= 1, "growing: {refused}");

        let mut cuckoo = Cuckoo::growing_from_plan(plan, HashScheme::Xxh3).unwrap();
        let max = cuckoo.size_bytes() * 4;
        let refused = plans_for_refused(|hash| cuckoo.try_insert_hash_within(hash, max).is_ok());
        assert!(refused <= 1, "cuckoo: {refused}");

        let plan = WindowPlan::new(100, 0.01, Duration::from_secs(8)).unwrap();
        let mut window = WindowBloom::from_plan(plan, HashScheme::Xxh3, Timestamp(0)).unwrap();
        let max = window.size_bytes() * 2;
        let refused = plans_for_refused(|hash| {
            let inserted = window.try_insert_hash_within(hash, Timestamp(9), max);
            inserted.is_ok()
        });
        assert!(refused <= 1, "window: {refused}");
    }

    #[test]
    fn keys_beyond_the_last_part_do_not_compute_plans_again() {
        // 64 layers, and no more: keys go into the last one from then on.
        let plan = WindowPlan::new(8, 0.5, Duration::from_secs(8)).unwrap();
        let mut window = WindowBloom::from_plan(plan, HashScheme::Xxh3, Timestamp(0)).unwrap();
        let hash = |number: u64| HashScheme::Xxh3.hash(number.to_le_bytes());
        for number in 0..1000 {
            window.insert_hash(hash(number), Timestamp(0));
        }
        let planned = plans(|| {
            for number in 1000..2000 {
                window.insert_hash(hash(number), Timestamp(0));
            }
        });
        assert_eq!(planned, 0);
    }
}
