//! The row that describes a command: its name, how many arguments it takes, its flags and where its keys are. The filter commands
//! ([`crate::COMMANDS`]) and a host's own commands use the same row, so `COMMAND INFO`, access rules and locking read one type.

use crate::{Argument, Command, Config, Reply, wrong_arity};

/// What a host has to know about a command without running it.
#[derive(Clone, Copy, Debug)]
pub struct CommandSpec {
    /// In lower case.
    pub name: &'static str,
    /// How many arguments it takes, the name included.
    pub arity: Arity,
    /// What it may do.
    pub flags: Flags,
    /// The ACL categories that it belongs to.
    pub categories: Categories,
    /// Which of its arguments are keys.
    pub keys: KeyPositions,
    /// The group of commands that `COMMAND DOCS` lists it in.
    pub group: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// What it costs, in one line; empty if not documented.
    pub complexity: &'static str,
    /// The version that introduced it: RedisBloom's for its commands, mayhap's for ours.
    pub since: &'static str,
    /// Its arguments, in order; empty if not documented.
    pub arguments: &'static [Argument],
}

impl CommandSpec {
    /// Whether it may change keys.
    pub const fn writes(&self) -> bool {
        self.flags.contains(Flags::WRITE) || self.flags.contains(Flags::UNDECLARED_WRITE)
    }
}

/// A row of [`crate::COMMANDS`].
#[derive(Clone, Copy, Debug)]
pub struct FilterCommand {
    /// What hosts have to know about it.
    pub spec: CommandSpec,
    /// The position of the name of another command that this one runs. Hosts with access rules check the caller's rights to that command too.
    pub carried_command: Option<usize>,
    pub(crate) parse: Parse,
}

/// Turns the arguments of a command into its struct.
pub(crate) type Parse = for<'a> fn(&Args<'_, 'a>) -> Result<Command<'a>, Reply>;

/// The arguments of a command, their number already checked, and the settings to parse them with.
#[derive(Clone, Copy)]
pub(crate) struct Args<'w, 'a> {
    /// The command's name first.
    pub(crate) argv: &'w [&'a [u8]],
    pub(crate) config: &'w Config,
}

impl<'w, 'a> Args<'w, 'a> {
    pub(crate) fn key(&self) -> &'a [u8] {
        self.argv[1]
    }

    /// The arguments after the key.
    pub(crate) fn rest(&self) -> &'w [&'a [u8]] {
        &self.argv[2..]
    }
}

impl FilterCommand {
    /// Parses the arguments of this command, its name first. Errors that do not depend on the key's value are reported here.
    ///
    /// # Errors
    /// The error reply.
    pub fn parse<'a>(&self, argv: &[&'a [u8]], config: &Config) -> Result<Command<'a>, Reply> {
        if !self.spec.arity.accepts(argv.len()) {
            return Err(wrong_arity(self.spec.name));
        }
        (self.parse)(&Args { argv, config })
    }
}

/// How many arguments a command takes, its name included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arity {
    min: usize,
    max: usize,
    reported: i32,
}

impl Arity {
    /// This number and no other.
    pub const fn exactly(count: usize) -> Self {
        Self {
            min: count,
            max: count,
            reported: count.cast_signed() as i32,
        }
    }

    /// This number or more.
    pub const fn at_least(count: usize) -> Self {
        Self::between(count, usize::MAX)
    }

    /// A number in this range.
    pub const fn between(min: usize, max: usize) -> Self {
        Self {
            min,
            max,
            reported: -(min.cast_signed() as i32),
        }
    }

    /// The same, but `COMMAND INFO` reports another number: RedisBloom's, where it differs from what RedisBloom accepts.
    pub(crate) const fn reported_as(self, reported: i32) -> Self {
        Self { reported, ..self }
    }

    /// Whether a command may have this number of arguments.
    pub const fn accepts(self, count: usize) -> bool {
        self.min <= count && count <= self.max
    }

    /// As `COMMAND INFO` reports it: the number of arguments, or the minimum with a minus sign if there may be more.
    pub const fn reported(self) -> i32 {
        self.reported
    }
}

/// Which arguments of a command are keys, as `COMMAND INFO` reports it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KeyPositions {
    /// The first key, the command's name being 0; 0 if there are no keys.
    pub first: i32,
    /// The last key; -1 is the last argument.
    pub last: i32,
    /// The distance between keys.
    pub step: i32,
}

impl KeyPositions {
    /// No keys.
    pub const NONE: Self = Self {
        first: 0,
        last: 0,
        step: 0,
    };
    /// The first argument after the name.
    pub const ONE: Self = Self::at(1);
    /// The first two arguments after the name.
    pub const TWO: Self = Self {
        last: 2,
        ..Self::ONE
    };
    /// All arguments after the name.
    pub const ALL: Self = Self {
        last: -1,
        ..Self::ONE
    };

    /// One key at this position.
    pub const fn at(position: i32) -> Self {
        Self {
            first: position,
            last: position,
            step: 1,
        }
    }

    /// Whether there may be more than one key.
    pub const fn are_several(self) -> bool {
        self.first != self.last
    }

    /// The keys among the arguments of a command, its name included. Positions beyond the last argument are left out.
    pub fn select<'w>(self, argv: &'w [&'w [u8]]) -> impl Iterator<Item = &'w [u8]> {
        let end = match usize::try_from(self.last) {
            Ok(last) => argv.len().min(last + 1),
            Err(_) => (argv.len() + 1).saturating_sub(self.last.unsigned_abs() as usize),
        };
        let first = usize::try_from(self.first).unwrap_or(0);
        let keys = argv.get(..end).filter(|_| first > 0);
        let keys = keys.and_then(|argv| argv.get(first..));
        let step = usize::try_from(self.step).unwrap_or(1).max(1);
        keys.unwrap_or_default().iter().step_by(step).copied()
    }
}

/// Declares a set of named bits.
macro_rules! named_set {
    ($(#[$documentation:meta])* $set:ident { $($(#[$about:meta])* $member:ident = $bit:literal $name:literal,)* }) => {
        $(#[$documentation])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub struct $set(u32);

        impl $set {
            /// The empty set.
            pub const NONE: Self = Self(0);
            $($(#[$about])* pub const $member: Self = Self(1 << $bit);)*

            /// All members of both.
            #[must_use]
            pub const fn with(self, other: Self) -> Self {
                Self(self.0 | other.0)
            }

            /// Whether all members of the other set are in this one.
            pub const fn contains(self, other: Self) -> bool {
                self.0 & other.0 == other.0
            }

            /// The names of the members that `COMMAND INFO` shows, in a fixed order.
            pub fn names(self) -> impl Iterator<Item = &'static str> {
                const NAMES: &[($set, &str)] = &[$(($set::$member, $name)),*];
                let members = NAMES.iter().filter(move |(member, name)| !name.is_empty() && self.contains(*member));
                members.map(|(_, name)| *name)
            }
        }
    };
}

named_set! {
    /// What a command may do, by the names of `COMMAND INFO`.
    Flags {
        /// Changes keys.
        WRITE = 0 "write",
        /// Only reads keys.
        READONLY = 1 "readonly",
        /// Is rejected when memory is used up.
        DENYOOM = 2 "denyoom",
        /// Comes from a module.
        MODULE = 3 "module",
        /// Administers the server.
        ADMIN = 4 "admin",
        /// Not for scripts.
        NOSCRIPT = 5 "noscript",
        /// Runs while the server loads its data.
        LOADING = 6 "loading",
        /// Runs on a replica with stale data.
        STALE = 7 "stale",
        /// Takes constant or logarithmic time.
        FAST = 8 "fast",
        /// Runs before the client has authenticated.
        NO_AUTH = 9 "no-auth",
        /// Not allowed in a transaction.
        NO_MULTI = 10 "no-multi",
        /// May block the client.
        BLOCKING = 11 "blocking",
        /// Reads or writes all bits of its filters, so that its time grows with their size. Not shown.
        WHOLE_FILTER = 16 "",
        /// One of its arguments may be a whole filter, or a large part of one. Not shown.
        LARGE_ARGUMENT = 17 "",
        /// Runs at once after MULTI, instead of being queued. Not shown.
        NOT_QUEUED = 18 "",
        /// Changes keys, although RedisBloom declares the command READONLY. Not shown.
        UNDECLARED_WRITE = 19 "",
        /// Runs other commands, which may change keys. Not shown.
        RUNS_COMMANDS = 20 "",
        /// Runs although `CLIENT PAUSE` holds commands back. Not shown.
        IGNORES_PAUSE = 21 "",
        /// Changes all keys. Not shown.
        ALL_KEYS = 22 "",
    }
}

named_set! {
    /// ACL categories, without their `@`.
    Categories {
        /// Reads keys.
        READ = 0 "read",
        /// Writes keys.
        WRITE = 1 "write",
        /// Administers the server.
        ADMIN = 2 "admin",
        /// Takes constant or logarithmic time.
        FAST = 3 "fast",
        /// Takes longer.
        SLOW = 4 "slow",
        /// May block the client.
        BLOCKING = 5 "blocking",
        /// May do damage in the wrong hands.
        DANGEROUS = 6 "dangerous",
        /// Bloom filters, counting ones included.
        BLOOM = 7 "bloom",
        /// Cuckoo filters.
        CUCKOO = 8 "cuckoo",
        /// Connections.
        CONNECTION = 9 "connection",
        /// Keys of any type.
        KEYSPACE = 10 "keyspace",
        /// The server.
        SERVER = 11 "server",
        /// Strings.
        STRING = 12 "string",
        /// Transactions.
        TRANSACTIONS = 13 "transactions",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_positions_select_words_and_ignore_missing_ones() {
        let words: [&[u8]; 4] = [b"name", b"a", b"b", b"c"];
        let select = |keys: KeyPositions| keys.select(&words).collect::<Vec<_>>().concat();
        assert_eq!(select(KeyPositions::NONE), b"");
        assert_eq!(select(KeyPositions::ONE), b"a");
        assert_eq!(select(KeyPositions::TWO), b"ab");
        assert_eq!(select(KeyPositions::ALL), b"abc");
        assert_eq!(select(KeyPositions::at(3)), b"c");
        assert_eq!(select(KeyPositions::at(4)), b"");
        let odd = KeyPositions {
            step: 2,
            ..KeyPositions::ALL
        };
        assert_eq!(select(odd), b"ac");
    }

    #[test]
    fn names_are_listed_in_a_fixed_order_without_our_own_flags() {
        let flags = Flags::FAST.with(Flags::WHOLE_FILTER).with(Flags::WRITE);
        assert!(flags.names().eq(["write", "fast"]));
        assert!(flags.contains(Flags::WRITE) && !flags.contains(Flags::DENYOOM));
    }
}
