//! `MAYHAP.LOAD key image [REPLACE]`: loads a whole filter from an image ([`Slot::encode`]) or the bytes of a mayhap file. Logs and
//! replicas receive new filters in this form, with all parameters and the hash key.

use super::file;
use crate::command::ApplyWrite;
use crate::outcome::owned_command;
use crate::parse::is;
use crate::spec::Args;
use crate::{Context, EXISTS, Limits, Outcome, Reply, Slot, WRONG_TYPE};

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Load<'a> {
    image: &'a [u8],
    replaces: bool,
}

impl<'a> Load<'a> {
    pub(crate) fn parse(args: &Args<'_, 'a>) -> Result<Self, Reply> {
        let replaces = match args.rest().get(1) {
            Some(option) if !is(option, "replace") => return Err(Reply::error("ERR syntax error")),
            option => option.is_some(),
        };
        Ok(Self {
            image: args.rest()[0],
            replaces,
        })
    }
}

impl<'a> ApplyWrite<'a> for Load<'a> {
    fn apply(
        &self,
        key: &[u8],
        slot: &mut Slot,
        _sources: &[&Slot],
        context: &Context<'_>,
    ) -> Outcome {
        if matches!(slot, Slot::Other) {
            return Outcome::rejected(WRONG_TYPE);
        }
        if !self.replaces && !matches!(slot, Slot::Missing) {
            return Outcome::rejected(EXISTS);
        }
        if file::is_file(self.image) {
            return match file::read(self.image, context) {
                Ok((loaded, image)) => {
                    *slot = loaded;
                    // Replicas may not know the file's secret, and have to replace the old value too.
                    let mut command = owned_command("MAYHAP.LOAD", key, &[]);
                    // Moved, not copied: the image is as large as the filter.
                    command.push(image);
                    command.push(b"REPLACE".to_vec());
                    Outcome::rewritten(Reply::OK, vec![command])
                }
                Err(reply) => Outcome::rejected(reply),
            };
        }
        let limits = Limits {
            max_bytes: context.max_bytes(),
        };
        match Slot::decode(self.image, limits) {
            Ok(loaded @ (Slot::Bloom(_) | Slot::Cuckoo(_) | Slot::Counting(_))) => {
                *slot = loaded;
                Outcome::verbatim(Reply::OK)
            }
            Ok(Slot::Missing | Slot::Other) | Err(_) => {
                Outcome::rejected(Reply::error("ERR received bad data"))
            }
        }
    }

    fn may_grow(&self, _slot: &Slot) -> bool {
        true
    }
}
