//! The arguments of a command as C structures, for `COMMAND DOCS`.

#![allow(unsafe_code, reason = "the engine's API is C")]

use super::api::{ARGUMENT_IS_MULTIPLE, ARGUMENT_IS_OPTIONAL, CommandArgument};
use super::c_string;
use mayhap_command::{Argument, ArgumentKind};
use std::ffi::{CString, c_char, c_int, c_uint};
use std::ptr::null;

/// The arguments of a command. Owns the texts and lists that the structures point to.
pub(super) struct Arguments {
    /// The last list is the command's own. Each list ends with an argument without a name.
    lists: Vec<Vec<CommandArgument>>,
    texts: Vec<CString>,
}

impl Arguments {
    pub(super) fn new(arguments: &[Argument]) -> Self {
        let mut converted = Self {
            lists: Vec::new(),
            texts: Vec::new(),
        };
        converted.add_list(arguments);
        converted
    }

    pub(super) fn as_ptr(&self) -> *const CommandArgument {
        self.lists.last().map_or(null(), Vec::as_ptr)
    }

    /// Adds a list, whose elements do not move afterwards.
    fn add_list(&mut self, arguments: &[Argument]) -> *const CommandArgument {
        let mut list: Vec<CommandArgument> =
            arguments.iter().map(|one| self.convert(one)).collect();
        list.push(CommandArgument::END);
        let start = list.as_ptr();
        self.lists.push(list);
        start
    }

    fn text(&mut self, text: &str) -> *const c_char {
        let text = c_string(text.as_bytes());
        let start = text.as_ptr();
        self.texts.push(text);
        start
    }

    fn convert(&mut self, argument: &Argument) -> CommandArgument {
        let subarguments = match argument.kind {
            ArgumentKind::OneOf(arguments) => self.add_list(arguments),
            _ => null(),
        };
        let mut flags = 0;
        if argument.is_optional {
            flags |= ARGUMENT_IS_OPTIONAL;
        }
        if argument.is_multiple {
            flags |= ARGUMENT_IS_MULTIPLE;
        }
        CommandArgument {
            name: self.text(argument.name),
            kind: kind_number(argument.kind),
            key_spec_index: match argument.kind {
                ArgumentKind::Key { is_source } => c_int::from(is_source),
                _ => -1,
            },
            token: argument.token.map_or(null(), |token| self.text(token)),
            flags,
            subarguments,
            ..CommandArgument::END
        }
    }
}

/// The numbers of redismodule.h.
const fn kind_number(kind: ArgumentKind) -> c_uint {
    match kind {
        ArgumentKind::Text => 0,
        ArgumentKind::Integer => 1,
        ArgumentKind::Double => 2,
        ArgumentKind::Key { .. } => 3,
        ArgumentKind::UnixTime => 5,
        ArgumentKind::Token => 6,
        ArgumentKind::OneOf(_) => 7,
    }
}
