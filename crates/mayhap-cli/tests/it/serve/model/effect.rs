//! What an operation does to the model, and which replies are right. Without a reply it is taken to have been done.

use super::{Held, Model, Op, Shape, Value};
use mayhap_testkit::client::ParsedReply;
use std::collections::{BTreeMap, BTreeSet};

type Checked = Result<(), String>;

/// What a reply has to be.
fn want(
    reply: Option<&ParsedReply>,
    what: &str,
    is_right: impl FnOnce(&ParsedReply) -> bool,
) -> Checked {
    match reply {
        Some(reply) if !is_right(reply) => Err(format!("{reply:?}, not {what}")),
        _ => Ok(()),
    }
}

fn want_error(reply: Option<&ParsedReply>, begins: &str) -> Checked {
    want(reply, begins, |reply| reply.is_error(begins))
}

fn want_number(reply: Option<&ParsedReply>, number: i64) -> Checked {
    want(reply, &number.to_string(), |reply| {
        reply.number() == Some(number)
    })
}

fn want_ok(reply: Option<&ParsedReply>) -> Checked {
    want(reply, "OK", ParsedReply::is_ok)
}

/// The answers to one item or several.
fn answers(reply: Option<&ParsedReply>, count: usize) -> Result<Option<Vec<i64>>, String> {
    let Some(reply) = reply else { return Ok(None) };
    let numbers: Option<Vec<i64>> = match reply {
        ParsedReply::Array(each) => each.iter().map(ParsedReply::number).collect(),
        one => one.number().map(|number| vec![number]),
    };
    let numbers = numbers.filter(|numbers| numbers.len() == count);
    let numbers = numbers.ok_or_else(|| format!("{reply:?}, not {count} answers"))?;
    Ok(Some(numbers))
}

const WRONG_TYPE: &str = "WRONGTYPE";

impl Model {
    /// Checks the reply, if there is one, and follows.
    pub(crate) fn apply(&mut self, op: &Op, reply: Option<&ParsedReply>) -> Checked {
        match op {
            Op::Set(key, text) => {
                want_ok(reply)?;
                self.put(*key, Value::Text(text.clone()));
                Ok(())
            }
            Op::Del(key) => {
                let was = self.keys.remove(key).is_some();
                want_number(reply, was.into())
            }
            Op::BfReserve(key) => self.reserve(*key, bloom(Shape::Wide), reply),
            Op::BfReserveSmall(key) => self.reserve(*key, bloom(Shape::Small), reply),
            Op::BfWindow(key) => self.reserve(*key, bloom(Shape::Window), reply),
            Op::CfReserve(key) => self.reserve(*key, Value::Cuckoo(BTreeMap::new()), reply),
            Op::CbfReserve(key) => self.reserve(*key, Value::Counting(BTreeMap::new()), reply),
            Op::BfAdd(key, numbers) => self.add_to_bloom(*key, numbers, reply),
            Op::CfAdd(key, numbers) => self.add_to_cuckoo(*key, numbers, reply),
            Op::CfAddNx(key, number) => self.add_if_absent(*key, *number, reply),
            Op::CfDel(key, number) => match self.keys.get_mut(key).map(|held| &mut held.value) {
                Some(Value::Cuckoo(counts)) => take_one(counts, *number, reply),
                _ => want_error(reply, "Not found"),
            },
            Op::CbfAdd(key, numbers) => self.add_to_counting(*key, numbers, reply),
            Op::CbfDel(key, number) => match self.keys.get_mut(key).map(|held| &mut held.value) {
                Some(Value::Counting(counts)) => take_one(counts, *number, reply),
                None => want_error(reply, "ERR not found"),
                _ => want_error(reply, WRONG_TYPE),
            },
            Op::Rename {
                from,
                to,
                only_if_free,
            } => self.rename(*from, *to, *only_if_free, reply),
            Op::Copy { from, to, replaces } => {
                if from == to {
                    return want_error(reply, "ERR source and destination");
                }
                let copied = self.keys.get(from).cloned();
                let copied = copied.filter(|_| *replaces || !self.keys.contains_key(to));
                want_number(reply, copied.is_some().into())?;
                self.keys.extend(copied.map(|held| (*to, held)));
                Ok(())
            }
            Op::Merge(to, from) => self.merge(*to, from, reply),
            Op::Expire(key) => {
                let held = self.keys.get_mut(key);
                want_number(reply, held.is_some().into())?;
                if let Some(held) = held {
                    held.expires = true;
                }
                Ok(())
            }
            Op::ExpireAtOnce(key) => want_number(reply, self.keys.remove(key).is_some().into()),
            Op::Persist(key) => {
                let held = self.keys.get_mut(key).filter(|held| held.expires);
                want_number(reply, held.is_some().into())?;
                if let Some(held) = held {
                    held.expires = false;
                }
                Ok(())
            }
            Op::Restore { from, to, payload } => self.restore(*from, *to, payload, reply),
            Op::At(op) => self.apply(op, reply),
            Op::Flush => {
                want(reply, "OK for each", |reply| match reply {
                    ParsedReply::Array(each) => each.iter().all(ParsedReply::is_ok),
                    one => one.is_ok(),
                })?;
                self.keys.clear();
                Ok(())
            }
            Op::Exec(ops) => {
                let replies = reply.map(ParsedReply::elements);
                if let Some(replies) = replies.filter(|replies| replies.len() != ops.len()) {
                    return Err(format!("{} of {} replies", replies.len(), ops.len()));
                }
                let mut ops = ops.iter().enumerate();
                ops.try_for_each(|(at, op)| self.apply(op, replies.map(|replies| &replies[at])))
            }
        }
    }

    fn reserve(&mut self, key: u8, value: Value, reply: Option<&ParsedReply>) -> Checked {
        match self.value(key) {
            None => {
                want_ok(reply)?;
                self.put(key, value);
                Ok(())
            }
            Some(held) if std::mem::discriminant(held) == std::mem::discriminant(&value) => {
                want_error(reply, "ERR item exists")
            }
            Some(_) => want_error(reply, WRONG_TYPE),
        }
    }

    /// The value of a key, made if it is missing.
    fn ready(&mut self, key: u8, made: Value) -> &mut Value {
        let held = self.keys.entry(key).or_insert(Held {
            value: made,
            expires: false,
        });
        &mut held.value
    }

    fn add_to_bloom(&mut self, key: u8, numbers: &[u32], reply: Option<&ParsedReply>) -> Checked {
        let Value::Bloom { items, ones, shape } = self.ready(key, bloom(Shape::Auto)) else {
            return want_error(reply, WRONG_TYPE);
        };
        let answers = answers(reply, numbers.len())?;
        if answers.is_none() || *shape == Shape::Window {
            *ones = None;
        }
        for (at, number) in numbers.iter().enumerate() {
            let is_new = items.insert(*number);
            let Some(answers) = &answers else { continue };
            if answers[at] != 0 && !is_new {
                return Err(format!("{number} was in, and is new to the filter"));
            }
            *ones = ones.map(|ones| ones + answers[at] as u64);
        }
        Ok(())
    }

    fn add_to_cuckoo(&mut self, key: u8, numbers: &[u32], reply: Option<&ParsedReply>) -> Checked {
        let Value::Cuckoo(counts) = self.ready(key, Value::Cuckoo(BTreeMap::new())) else {
            return want_error(reply, WRONG_TYPE);
        };
        let answers = answers(reply, numbers.len())?;
        for (at, number) in numbers.iter().enumerate() {
            if answers.as_ref().is_some_and(|answers| answers[at] != 1) {
                return Err(format!("{number} was not taken: {reply:?}"));
            }
            *counts.entry(*number).or_default() += 1;
        }
        Ok(())
    }

    fn add_if_absent(&mut self, key: u8, number: u32, reply: Option<&ParsedReply>) -> Checked {
        let Value::Cuckoo(counts) = self.ready(key, Value::Cuckoo(BTreeMap::new())) else {
            return want_error(reply, WRONG_TYPE);
        };
        let count = counts.get(&number).copied().unwrap_or(0);
        let answers = answers(reply, 1)?.ok_or("its reply decides")?;
        if count > 0 && answers[0] != 0 {
            return Err(format!("{number} was in, and was added"));
        }
        if answers[0] == 1 {
            counts.insert(number, 1);
        }
        Ok(())
    }

    fn add_to_counting(
        &mut self,
        key: u8,
        numbers: &[u32],
        reply: Option<&ParsedReply>,
    ) -> Checked {
        let Value::Counting(counts) = self.ready(key, Value::Counting(BTreeMap::new())) else {
            return want_error(reply, WRONG_TYPE);
        };
        let answers = answers(reply, numbers.len())?;
        for (at, number) in numbers.iter().enumerate() {
            let count = counts.entry(*number).or_default();
            if *count > 0 && answers.as_ref().is_some_and(|answers| answers[at] != 0) {
                return Err(format!("{number} was in, and is new to the filter"));
            }
            *count += 1;
        }
        Ok(())
    }

    fn rename(
        &mut self,
        from: u8,
        to: u8,
        only_if_free: bool,
        reply: Option<&ParsedReply>,
    ) -> Checked {
        if !self.keys.contains_key(&from) {
            return want_error(reply, "ERR no such key");
        }
        if only_if_free && self.keys.contains_key(&to) {
            return want_number(reply, 0);
        }
        if only_if_free {
            want_number(reply, 1)?;
        } else {
            want_ok(reply)?;
        }
        let held = self.keys.remove(&from);
        self.keys.extend(held.map(|held| (to, held)));
        Ok(())
    }

    fn merge(&mut self, to: u8, from: &[u8], reply: Option<&ParsedReply>) -> Checked {
        let mut shapes = Vec::new();
        let mut all = BTreeSet::new();
        // If several things are wrong, any of them may be reported.
        let mut wrong = Vec::new();
        // A key that is merged into itself is no source.
        let from = from.iter().filter(|key| **key != to);
        for key in from.clone().chain([&to]) {
            match self.value(*key) {
                Some(Value::Bloom { items, shape, .. }) => {
                    shapes.push(*shape);
                    all.extend(items.iter().copied());
                }
                None if *key == to && from.clone().count() > 0 => {}
                None => wrong.push("ERR not found"),
                Some(_) => wrong.push(WRONG_TYPE),
            }
        }
        if !wrong.is_empty() {
            return want(reply, "an error", |reply| {
                wrong.iter().any(|begins| reply.is_error(begins))
            });
        }
        let is_copy = shapes.len() == 1;
        let may_fail = !is_copy && shapes.iter().any(|shape| *shape != Shape::Wide);
        if may_fail && reply.is_some_and(|reply| reply.is_error("ERR filters cannot be merged")) {
            return Ok(());
        }
        want_ok(reply)?;
        let expires = self.keys.get(&to).is_some_and(|held| held.expires);
        let shape = shapes[0];
        let (items, ones) = (all, None);
        let value = Value::Bloom { items, shape, ones };
        self.keys.insert(to, Held { value, expires });
        Ok(())
    }

    fn restore(
        &mut self,
        from: u8,
        to: u8,
        payload: &[u8],
        reply: Option<&ParsedReply>,
    ) -> Checked {
        if self.keys.contains_key(&to) {
            return want_error(reply, "BUSYKEY");
        }
        let Some(value) = self.value(from).cloned() else {
            return want_error(reply, "ERR");
        };
        want_ok(reply).map_err(|error| format!("{error}, for {} bytes", payload.len()))?;
        self.put(to, value);
        Ok(())
    }
}

fn bloom(shape: Shape) -> Value {
    Value::Bloom {
        items: BTreeSet::new(),
        shape,
        ones: Some(0),
    }
}

fn take_one(counts: &mut BTreeMap<u32, u32>, number: u32, reply: Option<&ParsedReply>) -> Checked {
    let Some(count) = counts.get_mut(&number) else {
        return Err(format!("the test deletes {number}, which is not in"));
    };
    *count -= 1;
    if *count == 0 {
        counts.remove(&number);
    }
    want_number(reply, 1)
}
