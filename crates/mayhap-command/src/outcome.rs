//! The result of a write: the reply, and what logs and replicas need to make the same change.

use crate::Reply;

/// The arguments of a command, its name first.
pub(crate) type OwnedCommand = Vec<Vec<u8>>;

/// The result of a write.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// The answer.
    pub reply: Reply,
    /// What logs and replicas need.
    pub replication: Replication,
}

/// What logs and replicas need of a command, so that their filter becomes identical to the bit, whatever their settings.
#[derive(Clone, PartialEq, Debug)]
pub enum Replication {
    /// Nothing: the command changed nothing.
    None,
    /// Nothing was changed, but the reply relies on earlier changes: a client that waits for those waits for this command too.
    Unchanged,
    /// The command itself.
    Verbatim,
    /// These commands instead, in this order.
    Rewritten(Vec<Vec<Vec<u8>>>),
}

impl Outcome {
    /// The command was rejected and changed nothing.
    pub(crate) fn rejected(reply: Reply) -> Self {
        Self {
            reply,
            replication: Replication::None,
        }
    }

    /// The filter was in the requested state already.
    pub(crate) fn unchanged(reply: Reply) -> Self {
        Self {
            reply,
            replication: Replication::Unchanged,
        }
    }

    /// Replies whether anything was changed.
    pub(crate) fn changed(is_changed: bool) -> Self {
        let reply = Reply::Boolean(is_changed);
        if is_changed {
            Self::verbatim(reply)
        } else {
            Self::unchanged(reply)
        }
    }

    pub(crate) fn verbatim(reply: Reply) -> Self {
        Self {
            reply,
            replication: Replication::Verbatim,
        }
    }

    pub(crate) fn rewritten(reply: Reply, commands: Vec<OwnedCommand>) -> Self {
        let replication = if commands.is_empty() {
            Replication::None
        } else {
            Replication::Rewritten(commands)
        };
        Self { reply, replication }
    }
}

/// The arguments of a command on one key.
pub(crate) fn owned_command(name: &str, key: &[u8], rest: &[&[u8]]) -> OwnedCommand {
    let mut command = Vec::with_capacity(2 + rest.len());
    command.push(name.as_bytes().to_vec());
    command.push(key.to_vec());
    command.extend(rest.iter().map(|argument| argument.to_vec()));
    command
}
