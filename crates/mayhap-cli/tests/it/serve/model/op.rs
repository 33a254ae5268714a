//! What a client does, and how it is spelt.

use super::{Model, item};
use mayhap_testkit::client::Words;
use std::time::{SystemTime, UNIX_EPOCH};

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Op {
    Set(u8, Vec<u8>),
    Del(u8),
    BfReserve(u8),
    BfReserveSmall(u8),
    BfWindow(u8),
    /// With more than one item it is BF.MADD.
    BfAdd(u8, Vec<u32>),
    CfReserve(u8),
    /// With more than one item it is CF.INSERT.
    CfAdd(u8, Vec<u32>),
    CfAddNx(u8, u32),
    CfDel(u8, u32),
    CbfReserve(u8),
    CbfAdd(u8, Vec<u32>),
    CbfDel(u8, u32),
    Rename {
        from: u8,
        to: u8,
        only_if_free: bool,
    },
    Copy {
        from: u8,
        to: u8,
        replaces: bool,
    },
    Merge(u8, Vec<u8>),
    Expire(u8),
    ExpireAtOnce(u8),
    Persist(u8),
    /// RESTORE of what DUMP gave of another key.
    Restore {
        from: u8,
        to: u8,
        payload: Vec<u8>,
    },
    /// Behind MAYHAP.AT and the time: a command whose key is not its first word.
    At(Box<Op>),
    /// FLUSHALL, for a client that has the server for itself. What else it needs is made again with it.
    Flush,
    Exec(Vec<Op>),
}

impl Op {
    /// The requests; the reply to the last one tells what came of it.
    pub(crate) fn requests(&self, model: &Model) -> Vec<Words> {
        if let Self::Exec(ops) = self {
            let mut requests = vec![vec![b"MULTI".to_vec()]];
            requests.extend(ops.iter().map(|op| op.request(model)));
            requests.push(vec![b"EXEC".to_vec()]);
            return requests;
        }
        vec![self.request(model)]
    }

    fn request(&self, model: &Model) -> Words {
        let spelt = |word: &str, key: u8, rest: &[&[u8]]| {
            let mut words = vec![word.as_bytes().to_vec(), model.name(key)];
            words.extend(rest.iter().map(|word| word.to_vec()));
            words
        };
        let with_items = |word: &str, key: u8, before: &[&[u8]], items: &[u32]| {
            let mut words = spelt(word, key, before);
            words.extend(items.iter().map(|number| item(*number)));
            words
        };
        match self {
            Self::Set(key, text) => spelt("SET", *key, &[text]),
            Self::Del(key) => spelt("DEL", *key, &[]),
            Self::BfReserve(key) => spelt("BF.RESERVE", *key, &[b"0.01", b"5000"]),
            Self::BfReserveSmall(key) => {
                spelt("BF.RESERVE", *key, &[b"0.01", b"8", b"EXPANSION", b"1"])
            }
            Self::BfWindow(key) => spelt("BF.WINDOW", *key, &[b"0.01", b"5000", b"3600"]),
            Self::BfAdd(key, items) if items.len() == 1 => with_items("BF.ADD", *key, &[], items),
            Self::BfAdd(key, items) => with_items("BF.MADD", *key, &[], items),
            Self::CfReserve(key) => spelt("CF.RESERVE", *key, &[b"64"]),
            Self::CfAdd(key, items) if items.len() == 1 => with_items("CF.ADD", *key, &[], items),
            Self::CfAdd(key, items) => with_items("CF.INSERT", *key, &[b"ITEMS"], items),
            Self::CfAddNx(key, number) => with_items("CF.ADDNX", *key, &[], &[*number]),
            Self::CfDel(key, number) => with_items("CF.DEL", *key, &[], &[*number]),
            Self::CbfReserve(key) => spelt("CBF.RESERVE", *key, &[b"0.01", b"5000"]),
            Self::CbfAdd(key, items) if items.len() == 1 => with_items("CBF.ADD", *key, &[], items),
            Self::CbfAdd(key, items) => with_items("CBF.MADD", *key, &[], items),
            Self::CbfDel(key, number) => with_items("CBF.DEL", *key, &[], &[*number]),
            Self::Rename {
                from,
                to,
                only_if_free,
            } => {
                let word = if *only_if_free { "RENAMENX" } else { "RENAME" };
                spelt(word, *from, &[&model.name(*to)])
            }
            Self::Copy { from, to, replaces } => {
                let name = model.name(*to);
                let mut words = spelt("COPY", *from, &[&name]);
                if *replaces {
                    words.push(b"REPLACE".to_vec());
                }
                words
            }
            Self::Merge(to, from) => {
                let mut words = spelt("BF.MERGE", *to, &[]);
                words.extend(from.iter().map(|key| model.name(*key)));
                words
            }
            Self::Expire(key) => spelt("EXPIRE", *key, &[b"1000000"]),
            Self::ExpireAtOnce(key) => spelt("PEXPIREAT", *key, &[b"1000"]),
            Self::Persist(key) => spelt("PERSIST", *key, &[]),
            Self::Restore { to, payload, .. } => spelt("RESTORE", *to, &[b"0", payload]),
            Self::At(op) => {
                let now = SystemTime::now().duration_since(UNIX_EPOCH);
                let now = now.map_or(0, |now| now.as_millis());
                let mut words = vec![b"MAYHAP.AT".to_vec(), now.to_string().into_bytes()];
                words.extend(op.request(model));
                words
            }
            Self::Flush => vec![b"FLUSHALL".to_vec()],
            // Never one inside another.
            Self::Exec(_) => vec![b"PING".to_vec()],
        }
    }
}
