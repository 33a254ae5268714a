//! What `COMMAND DOCS` says about a command besides its summary: its arguments, its complexity, and since when it exists. The names and the
//! structure of the arguments of RedisBloom's commands are those that Redis documents, because clients generate code from them.

use crate::table::Verb;

/// An argument of a command, as `COMMAND DOCS` describes it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Argument {
    /// In lower case.
    pub name: &'static str,
    /// What kind of value it is.
    pub kind: ArgumentKind,
    /// The word that stands before the value, or is the argument itself.
    pub token: Option<&'static str>,
    /// Whether it may be left out.
    pub is_optional: bool,
    /// Whether it may be repeated.
    pub is_multiple: bool,
}

/// What kind of value an argument is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArgumentKind {
    /// A key. `is_source` tells keys that are read from the key that is changed.
    Key {
        /// Whether the command reads this key to change another one.
        is_source: bool,
    },
    /// Any bytes.
    Text,
    /// A whole number.
    Integer,
    /// A number with a fraction.
    Double,
    /// A time since 1970.
    UnixTime,
    /// Nothing but its token.
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

const KEY: Argument = argument("key", ArgumentKind::Key { is_source: false });
const ITEM: Argument = argument("item", ArgumentKind::Text);
const MANY_ITEMS: Argument = ITEM.multiple();
const RATE: Argument = argument("error_rate", ArgumentKind::Double);
const CAPACITY: Argument = argument("capacity", ArgumentKind::Integer);
const ITERATOR: Argument = argument("iterator", ArgumentKind::Integer);
const DATA: Argument = argument("data", ArgumentKind::Text);
const CAPACITY_OPTION: Argument = option("capacity", "CAPACITY", ArgumentKind::Integer);
const EXPANSION_OPTION: Argument = option("expansion", "EXPANSION", ArgumentKind::Integer);
const ERROR_OPTION: Argument = option("error", "ERROR", ArgumentKind::Double);
const NO_CREATE: Argument = token("nocreate", "NOCREATE").optional();
const NON_SCALING: Argument = token("nonscaling", "NONSCALING").optional();
const ITEMS: Argument = token("items", "ITEMS");

impl Verb {
    /// The arguments, in their order.
    pub(crate) const fn arguments(self) -> &'static [Argument] {
        match self {
            Self::BfReserve => &[KEY, RATE, CAPACITY, EXPANSION_OPTION, NON_SCALING],
            Self::CbfReserve => &[KEY, RATE, CAPACITY],
            Self::BfWindow => {
                const SECONDS: Argument = argument("seconds", ArgumentKind::Integer);
                &[KEY, RATE, CAPACITY, SECONDS]
            }
            Self::CfReserve => {
                const BUCKET_SIZE: Argument =
                    option("bucketsize", "BUCKETSIZE", ArgumentKind::Integer);
                const MAX_ITERATIONS: Argument =
                    option("maxiterations", "MAXITERATIONS", ArgumentKind::Integer);
                &[
                    KEY,
                    CAPACITY,
                    BUCKET_SIZE,
                    MAX_ITERATIONS,
                    EXPANSION_OPTION,
                    ERROR_OPTION,
                ]
            }
            Self::BfInsert => &[
                KEY,
                CAPACITY_OPTION,
                ERROR_OPTION,
                EXPANSION_OPTION,
                NO_CREATE,
                NON_SCALING,
                ITEMS,
                MANY_ITEMS,
            ],
            Self::CfInsert | Self::CfInsertnx => {
                &[KEY, CAPACITY_OPTION, NO_CREATE, ITEMS, MANY_ITEMS]
            }
            Self::BfAdd
            | Self::BfExists
            | Self::CfAdd
            | Self::CfAddnx
            | Self::CfExists
            | Self::CfCount
            | Self::CfDel
            | Self::CbfAdd
            | Self::CbfDel
            | Self::CbfCount
            | Self::CbfExists => &[KEY, ITEM],
            Self::BfMadd | Self::BfMexists | Self::CfMexists | Self::CbfMadd | Self::CbfMexists => {
                &[KEY, MANY_ITEMS]
            }
            Self::BfInfo => {
                const FIELD: Argument = argument(
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
                &[KEY, FIELD]
            }
            Self::BfCard
            | Self::BfDebug
            | Self::BfEstimate
            | Self::CfCompact
            | Self::CfInfo
            | Self::CfDebug
            | Self::CbfInfo
            | Self::MayhapFile => &[KEY],
            Self::BfScandump | Self::CfScandump => &[KEY, ITERATOR],
            Self::BfLoadchunk | Self::CfLoadchunk => &[KEY, ITERATOR, DATA],
            Self::BfMerge => {
                const SOURCES: Argument =
                    argument("source", ArgumentKind::Key { is_source: true }).multiple();
                &[KEY, SOURCES]
            }
            Self::MayhapLoad => {
                const REPLACE: Argument = token("replace", "REPLACE").optional();
                &[KEY, DATA, REPLACE]
            }
            Self::MayhapAt => {
                const TIME: Argument = argument("unix-time-milliseconds", ArgumentKind::UnixTime);
                const COMMAND: Argument = argument("command", ArgumentKind::Text);
                const WORDS: Argument = argument("arg", ArgumentKind::Text).optional().multiple();
                &[TIME, COMMAND, KEY, WORDS]
            }
        }
    }

    /// What it costs.
    pub(crate) const fn complexity(self) -> &'static str {
        match self {
            Self::BfReserve
            | Self::BfWindow
            | Self::CfReserve
            | Self::CbfReserve
            | Self::BfCard
            | Self::BfInfo
            | Self::BfDebug
            | Self::CfInfo
            | Self::CfDebug => "O(1)",
            Self::BfAdd
            | Self::BfExists
            | Self::CbfAdd
            | Self::CbfDel
            | Self::CbfCount
            | Self::CbfExists => "O(k), where k is the number of hash functions",
            Self::BfMadd | Self::BfInsert | Self::BfMexists | Self::CbfMadd | Self::CbfMexists => {
                "O(k * n), where k is the number of hash functions and n is the number of items"
            }
            Self::CfAdd | Self::CfAddnx => {
                "O(t + i), where t is the number of tables and i is MAXITERATIONS"
            }
            Self::CfInsert | Self::CfInsertnx => {
                "O(n * (t + i)), where n is the number of items, t is the number of tables and i is MAXITERATIONS"
            }
            Self::CfExists | Self::CfCount | Self::CfDel => "O(t), where t is the number of tables",
            Self::CfMexists => {
                "O(n * t), where n is the number of items and t is the number of tables"
            }
            Self::BfScandump | Self::BfLoadchunk | Self::CfScandump | Self::CfLoadchunk => {
                "O(n), where n is the size of the piece"
            }
            Self::BfEstimate
            | Self::CfCompact
            | Self::CbfInfo
            | Self::MayhapFile
            | Self::MayhapLoad => "O(n), where n is the size of the filter",
            Self::BfMerge => "O(n), where n is the size of all filters together",
            Self::MayhapAt => "The complexity of the command that it carries",
        }
    }

    /// Since when it exists: for commands of RedisBloom the version of RedisBloom, for ours the version of mayhap.
    pub(crate) const fn since(self) -> &'static str {
        match self {
            Self::BfReserve
            | Self::BfAdd
            | Self::BfMadd
            | Self::BfInsert
            | Self::BfExists
            | Self::BfMexists
            | Self::BfInfo
            | Self::BfDebug
            | Self::BfScandump
            | Self::BfLoadchunk
            | Self::CfReserve
            | Self::CfAdd
            | Self::CfAddnx
            | Self::CfInsert
            | Self::CfInsertnx
            | Self::CfExists
            | Self::CfMexists
            | Self::CfCount
            | Self::CfDel
            | Self::CfCompact
            | Self::CfInfo
            | Self::CfDebug
            | Self::CfScandump
            | Self::CfLoadchunk => "1.0.0",
            Self::BfCard => "2.4.4",
            Self::BfMerge
            | Self::BfEstimate
            | Self::BfWindow
            | Self::CbfReserve
            | Self::CbfAdd
            | Self::CbfMadd
            | Self::CbfDel
            | Self::CbfCount
            | Self::CbfExists
            | Self::CbfMexists
            | Self::CbfInfo
            | Self::MayhapFile
            | Self::MayhapLoad
            | Self::MayhapAt => "0.1.0",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{COMMANDS, Command, Config};

    /// How many words an argument has at least, and whether it may have more.
    fn words_of(argument: &Argument) -> (usize, bool) {
        let value = usize::from(!matches!(argument.kind, ArgumentKind::Token));
        let words = value + usize::from(argument.token.is_some());
        if argument.is_optional {
            (0, true)
        } else {
            (words, argument.is_multiple)
        }
    }

    #[test]
    fn arguments_agree_with_the_number_of_words_and_the_place_of_keys() {
        for command in &COMMANDS {
            let fewest: usize = command.arguments.iter().map(|one| words_of(one).0).sum();
            let is_open = command.arguments.iter().any(|one| words_of(one).1);
            assert_eq!(1 + fewest, command.fewest, "{}", command.name);
            assert_eq!(is_open, command.most > command.fewest, "{}", command.name);
            let is_key = |one: &Argument| matches!(one.kind, ArgumentKind::Key { .. });
            let first = command.arguments.iter().position(is_key).map(|at| at + 1);
            assert_eq!(
                first.map(|at| at.cast_signed() as i64),
                Some(command.first_key),
                "{}",
                command.name
            );
            let sources = command.arguments.iter().filter(|one| is_key(one)).count() - 1;
            assert_eq!(sources > 0, command.last_key < 0, "{}", command.name);
        }
    }

    /// A value that an argument takes, or for a number one that it does not take.
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
    fn commands_take_every_option_and_refuse_numbers_that_are_none() {
        let config = Config::default();
        let mut refused = 0;
        for command in &COMMANDS {
            if command.carried_command.is_some() {
                continue;
            }
            let all = command.arguments;
            // With the required arguments and one option, if there is one.
            let parse = |chosen: Option<&Argument>, is_number: bool| {
                let given = all
                    .iter()
                    .filter(|one| !one.is_optional || Some(*one) == chosen);
                let mut words = vec![command.name];
                words.extend(given.flat_map(|one| value(one, is_number || Some(one) != chosen)));
                let words: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
                Command::parse(&words, &config).map(|_| ())
            };
            assert_eq!(parse(None, true), Ok(()), "{}", command.name);
            for option in all.iter().filter(|one| one.is_optional) {
                let what = format!("{} {}", command.name, option.name);
                assert_eq!(parse(Some(option), true), Ok(()), "{what}");
                // Some commands ignore words that they do not know: so this shows that they know the token.
                if matches!(option.kind, ArgumentKind::Integer | ArgumentKind::Double) {
                    assert!(parse(Some(option), false).is_err(), "{what}");
                    refused += 1;
                }
            }
        }
        assert_eq!(refused, 10);
    }
}
