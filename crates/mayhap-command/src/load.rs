//! `MAYHAP.LOAD key image [REPLACE]`: a whole filter at once, as [`Slot::encode`] has it, or as the bytes of a file of ours. Logs and
//! replicas get filters so when they are made, with all parameters and the hash key.

use crate::command::words;
use crate::words::is;
use crate::{Context, EXISTS, Limits, Outcome, Reply, Slot, WRONG_TYPE, file};

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

    pub(crate) fn apply(&self, key: &[u8], slot: &mut Slot, context: &Context<'_>) -> Outcome {
        if matches!(slot, Slot::Other) {
            return Outcome::told(WRONG_TYPE);
        }
        if !self.replaces && !matches!(slot, Slot::Missing) {
            return Outcome::told(EXISTS);
        }
        if file::is_file(self.image) {
            return match file::read(self.image, context) {
                Ok((loaded, image)) => {
                    *slot = loaded;
                    // Its secret may not be known elsewhere; and what the key had is gone.
                    let mut command = words("MAYHAP.LOAD", key, &[]);
                    // Moved: it is as large as the filter.
                    command.push(image);
                    command.push(b"REPLACE".to_vec());
                    Outcome::instead(Reply::OK, vec![command])
                }
                Err(reply) => Outcome::told(reply),
            };
        }
        let limits = Limits {
            max_bytes: context.max_bytes(),
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
