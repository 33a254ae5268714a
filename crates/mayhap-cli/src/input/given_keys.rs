//! Keys that are arguments: `-k KEY...`.

use super::{Blocks, InputArgs};
use clap::Args;
use std::ffi::OsString;

/// Keys instead of inputs.
#[derive(Args, Debug, Clone, Default)]
pub(crate) struct GivenKeys {
    /// Keys themselves, instead of files with keys, after FILTER; may be repeated
    #[arg(short = 'k', value_name = "KEY", num_args = 1.., allow_negative_numbers = true, conflicts_with_all = ["inputs", "field"])]
    keys: Vec<OsString>,
}

impl GivenKeys {
    pub(crate) fn are_given(&self) -> bool {
        !self.keys.is_empty()
    }

    /// The given keys as lines, or the lines of the inputs. A key in the place of a file is a likely mistake.
    pub(crate) fn blocks_or(&self, input: &InputArgs) -> Blocks {
        if self.are_given() {
            let keys = self.keys.iter().map(|key| key.as_encoded_bytes());
            Blocks::from_keys(keys, input.line_end())
        } else {
            input.blocks().suggesting_keys()
        }
    }
}
