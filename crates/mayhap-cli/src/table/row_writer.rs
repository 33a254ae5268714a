//! Writes rows: fields, delimiters, and quotes where needed.

use memchr::{memchr, memchr3};

/// The delimiter, and whether quotes are special.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Dialect {
    pub(crate) delimiter: u8,
    pub(crate) has_quotes: bool,
}

impl Dialect {
    /// Appends a field.
    pub(crate) fn write_field(self, field: &[u8], row: &mut Vec<u8>) {
        let needs_quotes = memchr3(self.delimiter, b'\n', b'\r', field).is_some()
            || self.has_quotes && memchr(b'"', field).is_some();
        if !needs_quotes {
            row.extend_from_slice(field);
            return;
        }
        row.push(b'"');
        for part in field.split_inclusive(|&byte| byte == b'"') {
            row.extend_from_slice(part);
            if part.ends_with(b"\"") {
                row.push(b'"');
            }
        }
        row.push(b'"');
    }

    /// Appends a row. A single empty field is quoted, because a blank line is not a row.
    pub(crate) fn write_row<'f>(
        self,
        fields: impl IntoIterator<Item = &'f [u8]>,
        row: &mut Vec<u8>,
    ) {
        let begin = row.len();
        for (number, field) in fields.into_iter().enumerate() {
            if number > 0 {
                row.push(self.delimiter);
            }
            self.write_field(field, row);
        }
        if row.len() == begin {
            row.extend_from_slice(b"\"\"");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_only_where_they_have_to_be() {
        let comma = Dialect {
            delimiter: b',',
            has_quotes: true,
        };
        for (fields, row) in [
            (&["a", "b"][..], "a,b"),
            (&["a,b", "c"], "\"a,b\",c"),
            (&["say \"x\""], "\"say \"\"x\"\"\""),
            (&["\""], "\"\"\"\""),
            (&["two\nlines", "cr\r"], "\"two\nlines\",\"cr\r\""),
            (&["", ""], ","),
            (&[""], "\"\""),
        ] {
            let mut written = Vec::new();
            comma.write_row(fields.iter().map(|field| field.as_bytes()), &mut written);
            assert_eq!(String::from_utf8_lossy(&written), row);
        }
        let mut written = Vec::new();
        let plain = Dialect {
            delimiter: b'\t',
            has_quotes: false,
        };
        plain.write_row([&b"5\" disk"[..], b"a,b"], &mut written);
        assert_eq!(written, b"5\" disk\ta,b");
    }
}
