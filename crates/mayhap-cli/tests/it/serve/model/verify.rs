//! Asks the server for everything that the model has.

use super::{KEYS, Model, Shape, Value, item};
use mayhap_testkit::client::{Client, ParsedReply, Words};

/// All that is asked about; the replies go to [`verify`].
fn questions(model: &Model) -> Vec<Words> {
    let mut asked = Vec::new();
    for key in 0..KEYS {
        let mut ask = |word: &str, rest: &[Vec<u8>]| {
            let mut words = vec![word.as_bytes().to_vec(), model.name(key)];
            words.extend_from_slice(rest);
            asked.push(words);
        };
        ask("TYPE", &[]);
        let Some(held) = model.keys.get(&key) else {
            continue;
        };
        ask("TTL", &[]);
        match &held.value {
            Value::Text(_) => ask("GET", &[]),
            Value::Bloom { items, .. } => {
                ask("BF.CARD", &[]);
                let items: Vec<Vec<u8>> = items.iter().map(|number| item(*number)).collect();
                if !items.is_empty() {
                    ask("BF.MEXISTS", &items);
                }
            }
            Value::Cuckoo(counts) => {
                ask("CF.INFO", &[]);
                for number in counts.keys() {
                    ask("CF.COUNT", &[item(*number)]);
                }
            }
            Value::Counting(counts) => {
                ask("CBF.INFO", &[]);
                for number in counts.keys() {
                    ask("CBF.COUNT", &[item(*number)]);
                }
            }
        }
    }
    asked
}

/// What differs, if anything does.
pub(crate) fn verify(model: &Model, client: &mut Client) -> Result<(), String> {
    let asked = questions(model);
    let replies = client.pipeline(&asked).map_err(|error| error.to_string())?;
    let mut pairs = asked.iter().zip(&replies);
    let mut next = |is_right: &dyn Fn(&ParsedReply) -> bool, what: &str| {
        let (words, reply) = pairs.next().ok_or("too few replies")?;
        if is_right(reply) {
            return Ok(());
        }
        let words: Vec<_> = words
            .iter()
            .map(|word| String::from_utf8_lossy(word))
            .collect();
        Err(format!("{words:?}: {reply:?}, not {what}"))
    };
    for key in 0..KEYS {
        let Some(held) = model.keys.get(&key) else {
            next(&|reply| reply.text() == "none", "none")?;
            continue;
        };
        // Of either layout, whichever there was when it was made.
        let (kind, also) = match &held.value {
            Value::Text(_) => ("string", "string"),
            Value::Bloom { .. } => ("mayhap-bf", "MBbloom--"),
            Value::Cuckoo(_) => ("mayhap-cf", "MBbloomCF"),
            Value::Counting(_) => ("mayhap-cb", "mayhap-cb"),
        };
        next(&|reply| [kind, also].contains(&reply.text().as_str()), kind)?;
        let has_time = |reply: &ParsedReply| {
            reply
                .number()
                .is_some_and(|time| (time > 0) == held.expires)
        };
        next(&has_time, &format!("a time: {}", held.expires))?;
        let number = |reply: &ParsedReply| reply.number().map(|number| number as u64);
        match &held.value {
            Value::Text(text) => {
                next(
                    &|reply| *reply == ParsedReply::Bulk(text.clone()),
                    "the text",
                )?;
            }
            Value::Bloom { items, ones, shape } => {
                let card = |reply: &ParsedReply| match ones {
                    Some(ones) => number(reply) == Some(*ones),
                    // A window counts repeated items again; after a merge the count is an estimate.
                    None if *shape == Shape::Window => number(reply).is_some(),
                    None => {
                        number(reply).is_some_and(|card| card <= items.len() as u64 * 11 / 10 + 8)
                    }
                };
                next(&card, &format!("{ones:?} of {} items", items.len()))?;
                if !items.is_empty() {
                    let all = |reply: &ParsedReply| {
                        let answers = reply.elements();
                        answers.len() == items.len()
                            && answers.iter().all(|answer| answer.number() == Some(1))
                    };
                    next(&all, "all of them")?;
                }
            }
            Value::Cuckoo(counts) | Value::Counting(counts) => {
                let sum: u64 = counts.values().map(|count| u64::from(*count)).sum();
                let actual = |reply: &ParsedReply| {
                    let items = reply.field("Number of items inserted");
                    items.and_then(number) == Some(sum)
                };
                next(&actual, &format!("{sum} items"))?;
                for count in counts.values() {
                    let enough = |reply: &ParsedReply| {
                        number(reply).is_some_and(|actual| actual >= u64::from(*count))
                    };
                    next(&enough, &format!("{count} at least"))?;
                }
            }
        }
    }
    Ok(())
}
