//! The arguments of commands, as `COMMAND DOCS` describes them. For RedisBloom's commands, names and structure are those that Redis documents,
//! because clients generate code from them.

/// An argument of a command, as `COMMAND DOCS` describes it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Argument {
    /// In lower case.
    pub name: &'static str,
    /// What kind of value it is.
    pub kind: ArgumentKind,
    /// The word before the value, or the argument itself.
    pub token: Option<&'static str>,
    /// Whether it may be omitted.
    pub is_optional: bool,
    /// Whether it may be repeated.
    pub is_multiple: bool,
}

/// What kind of value an argument is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArgumentKind {
    /// A key.
    Key {
        /// Whether the command only reads this key, to change another one.
        is_source: bool,
    },
    /// Any bytes.
    Text,
    /// An integer.
    Integer,
    /// A floating-point number.
    Double,
    /// A time since 1970.
    UnixTime,
    /// Only its token.
    Token,
    /// One of several arguments.
    OneOf(&'static [Argument]),
}

const fn argument(name: &'static str, kind: ArgumentKind) -> Argument {
    Argument {
        name,
        kind,
        token: None,
        is_optional: false,
        is_multiple: false,
    }
}

const fn token(name: &'static str, token: &'static str) -> Argument {
    Argument {
        token: Some(token),
        ..argument(name, ArgumentKind::Token)
    }
}

const fn option(name: &'static str, token: &'static str, kind: ArgumentKind) -> Argument {
    Argument {
        token: Some(token),
        ..argument(name, kind).optional()
    }
}

impl Argument {
    const fn optional(self) -> Self {
        Self {
            is_optional: true,
            ..self
        }
    }

    const fn multiple(self) -> Self {
        Self {
            is_multiple: true,
            ..self
        }
    }
}

pub(crate) const KEY: Argument = argument("key", ArgumentKind::Key { is_source: false });
pub(crate) const ITEM: Argument = argument("item", ArgumentKind::Text);
pub(crate) const MANY_ITEMS: Argument = ITEM.multiple();
pub(crate) const ERROR_RATE: Argument = argument("error_rate", ArgumentKind::Double);
pub(crate) const CAPACITY: Argument = argument("capacity", ArgumentKind::Integer);
pub(crate) const ITERATOR: Argument = argument("iterator", ArgumentKind::Integer);
pub(crate) const DATA: Argument = argument("data", ArgumentKind::Text);
pub(crate) const CAPACITY_OPTION: Argument = option("capacity", "CAPACITY", ArgumentKind::Integer);
pub(crate) const EXPANSION_OPTION: Argument =
    option("expansion", "EXPANSION", ArgumentKind::Integer);
pub(crate) const ERROR_OPTION: Argument = option("error", "ERROR", ArgumentKind::Double);
pub(crate) const NO_CREATE: Argument = token("nocreate", "NOCREATE").optional();
pub(crate) const NON_SCALING: Argument = token("nonscaling", "NONSCALING").optional();
pub(crate) const ITEMS: Argument = token("items", "ITEMS");

pub(crate) const SECONDS: Argument = argument("seconds", ArgumentKind::Integer);
pub(crate) const BUCKET_SIZE: Argument = option("bucketsize", "BUCKETSIZE", ArgumentKind::Integer);
pub(crate) const MAX_ITERATIONS: Argument =
    option("maxiterations", "MAXITERATIONS", ArgumentKind::Integer);
pub(crate) const INFO_FIELD: Argument = argument(
    "single_value",
    ArgumentKind::OneOf(&[
        token("capacity", "CAPACITY"),
        token("size", "SIZE"),
        token("filters", "FILTERS"),
        token("items", "ITEMS"),
        token("expansion", "EXPANSION"),
    ]),
)
.optional();
pub(crate) const SOURCES: Argument =
    argument("source", ArgumentKind::Key { is_source: true }).multiple();
pub(crate) const REPLACE: Argument = token("replace", "REPLACE").optional();
pub(crate) const UNIX_TIME: Argument = argument("unix-time-milliseconds", ArgumentKind::UnixTime);
pub(crate) const COMMAND: Argument = argument("command", ArgumentKind::Text);
pub(crate) const COMMAND_ARGUMENTS: Argument =
    argument("arg", ArgumentKind::Text).optional().multiple();

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{COMMANDS, Command, Config, FilterCommand};

    /// The minimum number of words of an argument, and whether it may have more.
    fn count(argument: &Argument) -> (usize, bool) {
        let value = usize::from(!matches!(argument.kind, ArgumentKind::Token));
        let words = value + usize::from(argument.token.is_some());
        if argument.is_optional {
            (0, true)
        } else {
            (words, argument.is_multiple)
        }
    }

    #[test]
    fn arguments_agree_with_the_arity_and_the_position_of_keys() {
        for FilterCommand { spec, .. } in &COMMANDS {
            let (name, arity, arguments) = (spec.name, spec.arity, spec.arguments);
            let min = 1 + arguments.iter().map(|one| count(one).0).sum::<usize>();
            let is_open = arguments.iter().any(|one| count(one).1);
            assert!(arity.accepts(min) && !arity.accepts(min - 1), "{name}");
            assert_eq!(is_open, arity.accepts(min + 1), "{name}");
            let is_key = |one: &Argument| matches!(one.kind, ArgumentKind::Key { .. });
            let first = arguments
                .iter()
                .position(is_key)
                .map(|at| at.cast_signed() as i32 + 1);
            assert_eq!(first, Some(spec.keys.first), "{name}");
            let sources = arguments.iter().filter(|one| is_key(one)).count() - 1;
            assert_eq!(sources > 0, spec.keys.last < 0, "{name}");
        }
    }

    /// A valid value of an argument, or for a number an invalid one.
    fn value(argument: &Argument, is_number: bool) -> Vec<&'static str> {
        let value = match argument.kind {
            ArgumentKind::Key { .. } | ArgumentKind::Text => Some("x"),
            ArgumentKind::Token => None,
            ArgumentKind::OneOf(arguments) => return value(&arguments[0], is_number),
            _ if !is_number => Some("x"),
            ArgumentKind::Integer if argument.token.is_some() => Some("10"),
            ArgumentKind::Integer | ArgumentKind::UnixTime => Some("100"),
            ArgumentKind::Double => Some("0.01"),
        };
        argument.token.into_iter().chain(value).collect()
    }

    #[test]
    fn commands_accept_every_option_and_reject_invalid_numbers() {
        let config = Config::default();
        let mut rejected = 0;
        for command in &COMMANDS {
            if command.carried_command.is_some() {
                continue;
            }
            let (name, all) = (command.spec.name, command.spec.arguments);
            // With the required arguments and one option, if there is one.
            let parse = |chosen: Option<&Argument>, is_number: bool| {
                let given = all
                    .iter()
                    .filter(|one| !one.is_optional || Some(*one) == chosen);
                let mut argv = vec![name];
                argv.extend(given.flat_map(|one| value(one, is_number || Some(one) != chosen)));
                let argv: Vec<&[u8]> = argv.iter().map(|word| word.as_bytes()).collect();
                let parsed = command.parse(&argv, &config);
                parsed.map(|parsed| matches!(parsed, Command::Write(_)))
            };
            let expected = Ok(command.spec.writes());
            assert_eq!(parse(None, true), expected, "{name}");
            for option in all.iter().filter(|one| one.is_optional) {
                let what = format!("{name} {}", option.name);
                assert_eq!(parse(Some(option), true), expected, "{what}");
                // Some commands ignore unknown words. The error shows that they know the token.
                if matches!(option.kind, ArgumentKind::Integer | ArgumentKind::Double) {
                    assert!(parse(Some(option), false).is_err(), "{what}");
                    rejected += 1;
                }
            }
        }
        assert_eq!(rejected, 10);
    }
}
