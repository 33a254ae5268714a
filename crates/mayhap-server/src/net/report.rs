//! The one place where sockets have something to say to the operator.

/// A line on stderr, in key=value pairs.
pub(super) fn report(what: &str, error: &dyn std::fmt::Display, advice: &str) {
    eprintln!("mayhap: net what=\"{what}\" error=\"{error}\" advice=\"{advice}\"");
}
