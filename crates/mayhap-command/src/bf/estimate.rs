//! `BF.ESTIMATE key`: items and error rate, estimated from the bits.

use super::bloom;
use crate::command::{ApplyQuery, GenericQuery};
use crate::{Context, NOT_FOUND, Reply, Slot, count};

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Estimate;

impl ApplyQuery for Estimate {
    fn apply(&self, slot: &Slot, context: &Context<'_>) -> Reply {
        if let Err(reply) = bloom(slot) {
            return reply;
        }
        let Some(stats) = slot.stats(context.now) else {
            return NOT_FOUND;
        };
        // Every Bloom filter knows its rates and its fill.
        let share = |share: Option<f64>| share.map_or(Reply::Null, Reply::Double);
        Reply::Fields(vec![
            ("Items", count(stats.estimated_keys.unwrap_or(u64::MAX))),
            ("Error rate", share(stats.estimated_rate)),
            ("Error rate asked", share(stats.false_positive_rate)),
            ("Fill", share(stats.fill)),
            (
                "Items until full",
                stats.keys_until_full.map_or(Reply::Null, count),
            ),
        ])
    }

    fn as_generic(&self) -> Option<GenericQuery<'_>> {
        None
    }
}
