//! `BF.ESTIMATE key`: items and error rate, estimated from the bits.

use super::bloom;
use crate::command::{ApplyQuery, Lookup};
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
        let until_full = match stats.keys_until_full {
            u64::MAX => Reply::Null,
            keys => count(keys),
        };
        Reply::Fields(vec![
            ("Items", count(stats.keys)),
            ("Error rate", Reply::Double(stats.rate_now)),
            ("Error rate asked", Reply::Double(stats.rate_asked)),
            ("Fill", Reply::Double(stats.fill)),
            ("Items until full", until_full),
        ])
    }

    fn lookup(&self) -> Option<Lookup<'_>> {
        None
    }
}
