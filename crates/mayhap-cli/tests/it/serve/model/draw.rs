//! Operations by chance, such that the model knows what must come of them.

use super::{ITEMS, KEYS, Model, Op, Shape, Value};
use mayhap_testkit::Random;
use std::collections::BTreeMap;

/// What may be drawn.
#[derive(Clone, Copy)]
pub(crate) struct Draw {
    /// Operations whose effect is known from their reply alone.
    pub(crate) needs_reply: bool,
    /// Operations on the keys of everybody.
    pub(crate) flushes: bool,
}

/// Copies of an item that a counting filter is given: far below what its counters hold.
const MAX_COPIES: u32 = 4;

impl Draw {
    pub(crate) fn op(self, model: &Model, random: &mut Random) -> Op {
        if self.flushes && random.one_in(60) {
            return Op::Flush;
        }
        if random.one_in(12) {
            // Each is drawn for what those before it leave.
            let mut after = model.clone();
            let count = 1 + random.below(5);
            let draw = Self {
                needs_reply: false,
                flushes: false,
            };
            let ops = (0..count).map(|_| {
                let op = draw.single(&after, random);
                let _ = after.apply(&op, None);
                op
            });
            return Op::Exec(ops.collect());
        }
        self.single(model, random)
    }

    fn single(self, model: &Model, random: &mut Random) -> Op {
        let op = self.plain(model, random);
        let can_have_time = matches!(
            op,
            Op::BfReserve(_)
                | Op::BfReserveSmall(_)
                | Op::BfWindow(_)
                | Op::BfAdd(..)
                | Op::CfReserve(_)
                | Op::CfAdd(..)
                | Op::CfAddNx(..)
                | Op::CfDel(..)
                | Op::CbfReserve(_)
                | Op::CbfAdd(..)
                | Op::CbfDel(..)
        );
        if can_have_time && random.one_in(4) {
            return Op::At(Box::new(op));
        }
        op
    }

    fn plain(self, model: &Model, random: &mut Random) -> Op {
        let key = random.below(KEYS.into()) as u8;
        let other = random.below(KEYS.into()) as u8;
        let number = random.below(ITEMS) as u32;
        let several = |random: &mut Random| -> Vec<u32> {
            let count = if random.one_in(2) {
                1
            } else {
                2 + random.below(12)
            };
            (0..count).map(|_| random.below(ITEMS) as u32).collect()
        };
        match random.below(40) {
            0 | 1 => {
                let length = random.below(40);
                Op::Set(key, (0..length).map(|_| random.next_u64() as u8).collect())
            }
            2 => Op::Del(key),
            3 => Op::BfReserve(key),
            4 => Op::BfWindow(key),
            5 => Op::CfReserve(key),
            6 => Op::CbfReserve(key),
            7 => Op::BfReserveSmall(key),
            8 | 9 => Op::Rename {
                from: key,
                to: other,
                only_if_free: random.one_in(3),
            },
            10 | 11 => Op::Copy {
                from: key,
                to: other,
                replaces: random.one_in(2),
            },
            12 | 13 => self.merge(model, key, random),
            14 => Op::Expire(key),
            15 if random.one_in(4) => Op::ExpireAtOnce(key),
            15 => Op::Persist(key),
            16 if self.needs_reply => Op::CfAddNx(key, number),
            17..=26 => match model.value(key) {
                Some(Value::Cuckoo(counts)) => match any_of(counts, random) {
                    Some(held) if random.one_in(3) => Op::CfDel(key, held),
                    _ => Op::CfAdd(key, several(random)),
                },
                Some(Value::Counting(counts)) => match any_of(counts, random) {
                    Some(held) if random.one_in(3) => Op::CbfDel(key, held),
                    _ => {
                        let mut items = several(random);
                        items.sort_unstable();
                        items.dedup();
                        items.retain(|item| {
                            counts.get(item).is_none_or(|count| *count < MAX_COPIES)
                        });
                        if items.is_empty() {
                            return Op::Persist(key);
                        }
                        Op::CbfAdd(key, items)
                    }
                },
                _ => Op::BfAdd(key, several(random)),
            },
            // Whatever is there: wrong types too.
            27 => Op::CfAdd(key, several(random)),
            28 if !matches!(model.value(key), Some(Value::Counting(_))) => {
                Op::CbfAdd(key, vec![number])
            }
            29 if !matches!(model.value(key), Some(Value::Cuckoo(_))) => Op::CfDel(key, number),
            30 if !matches!(model.value(key), Some(Value::Counting(_))) => Op::CbfDel(key, number),
            _ => Op::BfAdd(key, several(random)),
        }
    }

    /// Without the reply only those of one shape, which is sure to fit.
    fn merge(self, model: &Model, to: u8, random: &mut Random) -> Op {
        let is_wide = |key: &u8| {
            matches!(
                model.value(*key),
                Some(Value::Bloom {
                    shape: Shape::Wide,
                    ..
                })
            )
        };
        let wide: Vec<u8> = (0..KEYS).filter(is_wide).collect();
        if self.needs_reply && random.one_in(2) {
            let from = (0..=random.below(3)).map(|_| random.below(KEYS.into()) as u8);
            return Op::Merge(to, from.collect());
        }
        if wide.is_empty() || !(is_wide(&to) || model.value(to).is_none()) {
            return Op::BfReserve(to);
        }
        let from = (0..=random.below(3)).map(|_| random.choose(&wide));
        Op::Merge(to, from.collect())
    }
}

fn any_of(counts: &BTreeMap<u32, u32>, random: &mut Random) -> Option<u32> {
    let numbers: Vec<u32> = counts.keys().copied().collect();
    (!numbers.is_empty()).then(|| random.choose(&numbers))
}
