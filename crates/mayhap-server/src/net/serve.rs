//! From bytes to the service, request by request.

use super::{AfterReply, Service};
use crate::resp::{ParseResult, Parser};

/// Requests of one connection in one round; the others have to wait for them.
const MAX_REQUESTS: usize = 1024;

/// Requests have few words as a rule, which need no memory of their own.
const FEW_WORDS: usize = 16;

/// What was served of some bytes.
pub(super) struct ServeResult {
    /// Bytes of the requests that were served.
    pub(super) consumed: usize,
    pub(super) served: usize,
    pub(super) why: StopReason,
}

/// Why no more requests are served in this round.
pub(super) enum StopReason {
    Incomplete {
        at_least: usize,
    },
    OutputFull,
    /// The next request was not served, and is still there.
    Postponed(Postponed),
    Ending {
        shuts_down: bool,
    },
}

/// How a request is served that its service did not want to serve now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Postponed {
    Offload,
    Retry,
}

/// Who serves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Thread {
    /// A worker: others wait behind each request.
    Worker,
    /// A thread for one long request.
    Offload,
}

/// Serves one request after the other, as far as they are complete.
pub(super) fn serve_each<S: Service>(
    (service, thread): (&S, Thread),
    session: &mut S::Session,
    input: &[u8],
    parser: &mut Parser,
    out: &mut Vec<u8>,
    max_output: usize,
) -> ServeResult {
    let (mut consumed, mut served) = (0, 0);
    let max_requests = match thread {
        Thread::Worker => MAX_REQUESTS,
        Thread::Offload => 1,
    };
    let why = loop {
        if served == max_requests || out.len() > max_output {
            break StopReason::OutputFull;
        }
        let request = input.get(consumed..).unwrap_or_default();
        let length = match parser.parse(request, service.limits(session)) {
            Ok(ParseResult::Complete { consumed }) => consumed,
            Ok(ParseResult::Incomplete { at_least }) => break StopReason::Incomplete { at_least },
            Err(error) => {
                service.refuse(session, error);
                error.write(out);
                served += 1;
                break StopReason::Ending { shuts_down: false };
            }
        };
        let next = serve_one((service, thread), session, parser.words(request), out);
        match next {
            AfterReply::Offload => break StopReason::Postponed(Postponed::Offload),
            AfterReply::Retry => break StopReason::Postponed(Postponed::Retry),
            AfterReply::GoOn | AfterReply::CloseAfterReply | AfterReply::ShutDown => {}
        }
        consumed += length;
        served += 1;
        match next {
            AfterReply::CloseAfterReply => break StopReason::Ending { shuts_down: false },
            AfterReply::ShutDown => break StopReason::Ending { shuts_down: true },
            AfterReply::GoOn | AfterReply::Offload | AfterReply::Retry => {}
        }
    };
    ServeResult {
        consumed,
        served,
        why,
    }
}

fn serve_one<'a, S: Service>(
    (service, thread): (&S, Thread),
    session: &mut S::Session,
    words: impl ExactSizeIterator<Item = &'a [u8]>,
    out: &mut Vec<u8>,
) -> AfterReply {
    let serve = |session: &mut S::Session, words: &[&[u8]], out: &mut Vec<u8>| match thread {
        Thread::Worker => service.serve(session, words, out),
        Thread::Offload => service.serve_offloaded(session, words, out),
    };
    let count = words.len();
    if count == 0 {
        return AfterReply::GoOn;
    }
    let mut few: [&[u8]; FEW_WORDS] = [&[]; FEW_WORDS];
    if let Some(few) = few.get_mut(..count) {
        for (place, word) in few.iter_mut().zip(words) {
            *place = word;
        }
        return serve(session, few, out);
    }
    let many: Vec<&[u8]> = words.collect();
    serve(session, &many, out)
}
