//! Requests: split anywhere, hostile, and as Redis itself reads them. The law that pieces make no difference is with the fuzz targets.

mod hostile;
mod quotes;
mod random;
mod redis;
mod splits;

use mayhap_server::resp::{ParseResult, Parser, ProtocolError, RequestLimits};

/// The words of all complete requests, and the error that they end with.
fn read(bytes: &[u8], limits: &RequestLimits) -> (Vec<Vec<Vec<u8>>>, Option<ProtocolError>) {
    let mut parser = Parser::default();
    let mut all = Vec::new();
    let mut rest = bytes;
    loop {
        match parser.parse(rest, limits) {
            Ok(ParseResult::Complete { consumed }) => {
                all.push(parser.words(rest).map(<[u8]>::to_vec).collect());
                rest = &rest[consumed..];
            }
            Ok(ParseResult::Incomplete { .. }) => return (all, None),
            Err(error) => return (all, Some(error)),
        }
    }
}

fn array(words: &[&[u8]]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        bytes.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
        bytes.extend_from_slice(word);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes
}
