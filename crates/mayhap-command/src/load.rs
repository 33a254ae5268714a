//! `MAYHAP.LOAD key image [REPLACE]`: a whole filter at once, as [`Slot::encode`] has it. Logs and replicas get filters so when they are
//! made, with all parameters and the hash key.

use crate::words::is;
use crate::{Context, EXISTS, Limits, Outcome, Reply, Slot, WRONG_TYPE};

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Load<'a> {
    image: &'a [u8],
    replaces: bool,
}

impl<'a> Load<'a> {
    /// `words` begin after the key.
    pub(crate) fn parse(words: &[&'a [u8]]) -> Result<Self, Reply> {
        let replaces = match words.get(1) {
            Some(word) if !is(word, "replace") => return Err(Reply::error("ERR syntax error")),
            option => option.is_some(),
        };
        Ok(Self {
            image: words[0],
            replaces,
        })
    }

    pub(crate) fn apply(&self, slot: &mut Slot, context: &Context<'_>) -> Outcome {
        if matches!(slot, Slot::Other) {
            return Outcome::told(WRONG_TYPE);
        }
        if !self.replaces && !matches!(slot, Slot::Missing) {
            return Outcome::told(EXISTS);
        }
        let limits = Limits {
            most_bytes: context.most_bytes(),
        };
        match Slot::decode(self.image, limits) {
            Ok(loaded @ (Slot::Bloom(_) | Slot::Cuckoo(_) | Slot::Counting(_))) => {
                *slot = loaded;
                Outcome::done(Reply::OK)
            }
            _ => Outcome::told(Reply::error("ERR received bad data")),
        }
    }
}
