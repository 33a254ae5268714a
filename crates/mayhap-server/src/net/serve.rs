//! From bytes to the service, request by request.

use super::{Next, Service};
use crate::resp::{Parsed, Parser};

/// Requests of one connection in one round; the others have to wait for them.
const MOST_REQUESTS: usize = 1024;

/// Requests have few words as a rule, which need no memory of their own.
const FEW_WORDS: usize = 16;

/// What was served of some bytes.
pub(super) struct Stop {
    /// Bytes of the requests that were served.
    pub(super) consumed: usize,
    pub(super) served: usize,
    pub(super) why: Why,
}

/// Why no more requests are served in this round.
pub(super) enum Why {
    Incomplete { at_least: usize },
    Enough,
    Ending { shuts_down: bool },
}

/// Serves one request after the other, as far as they are complete.
pub(super) fn serve_each<S: Service>(
    service: &S,
    session: &mut S::Session,
    input: &[u8],
    parser: &mut Parser,
    out: &mut Vec<u8>,
    most_output: usize,
) -> Stop {
    let (mut consumed, mut served) = (0, 0);
    let why = loop {
        if served == MOST_REQUESTS || out.len() > most_output {
            break Why::Enough;
        }
        let request = input.get(consumed..).unwrap_or_default();
        match parser.parse(request, service.limits(session)) {
            Ok(Parsed::Complete { consumed: length }) => consumed += length,
            Ok(Parsed::Incomplete { at_least }) => break Why::Incomplete { at_least },
            Err(error) => {
                error.write(out);
                served += 1;
                break Why::Ending { shuts_down: false };
            }
        }
        served += 1;
        match serve_one(service, session, parser.words(request), out) {
            Next::GoOn => {}
            Next::CloseAfterReply => break Why::Ending { shuts_down: false },
            Next::ShutDown => break Why::Ending { shuts_down: true },
        }
    };
    Stop {
        consumed,
        served,
        why,
    }
}

fn serve_one<'a, S: Service>(
    service: &S,
    session: &mut S::Session,
    words: impl ExactSizeIterator<Item = &'a [u8]>,
    out: &mut Vec<u8>,
) -> Next {
    let count = words.len();
    if count == 0 {
        return Next::GoOn;
    }
    let mut few: [&[u8]; FEW_WORDS] = [&[]; FEW_WORDS];
    if let Some(few) = few.get_mut(..count) {
        for (place, word) in few.iter_mut().zip(words) {
            *place = word;
        }
        return service.serve(session, few, out);
    }
    let many: Vec<&[u8]> = words.collect();
    service.serve(session, &many, out)
}
