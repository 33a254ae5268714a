//! Parses requests and passes them to the service.

use super::{AfterReply, Service};
use crate::resp::{ParseResult, Parser};

/// The maximum number of requests of one connection per round, so that other connections get their turn.
const MAX_REQUESTS: usize = 1024;

/// Most requests have few words, which fit on the stack.
const FEW_WORDS: usize = 16;

/// What was served of the input.
pub(super) struct ServeResult {
    /// The bytes of the served requests.
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
    /// The next request was not served and stays in the input.
    Postponed(Postponed),
    Ending {
        shuts_down: bool,
    },
}

/// What to do with a request that the service did not serve.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Postponed {
    Offload,
    Retry,
}

/// The kind of thread that serves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Thread {
    /// A worker, on which other clients wait.
    Worker,
    /// An offload thread for one long request.
    Offload,
}

/// Serves all complete requests in order.
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
