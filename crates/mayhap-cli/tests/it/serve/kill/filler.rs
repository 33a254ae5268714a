//! A client that adds to one filter as fast as it can, where a phase needs one that grows or turns.

use super::Round;
use super::aim::Phase;
use mayhap_testkit::client::{Client, ParsedReply, push_request};
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

const AT_ONCE: u64 = 16;
/// The shortest window there is.
const WINDOW: Duration = Duration::from_secs(1);

pub(super) struct Filler {
    phase: Phase,
    name: String,
    /// When the last of so many items were sent.
    acknowledged: Vec<(u64, Instant)>,
}

fn item(number: u64) -> String {
    format!("filler:{number}")
}

impl Filler {
    pub(super) fn new(phase: Phase, round: &str) -> Self {
        Self {
            phase,
            name: format!("filled:{round}"),
            acknowledged: Vec::new(),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// What the filter is like: some grow every few items, some forget.
    pub(super) fn prepare(&self, client: &mut Client) {
        let name = &self.name;
        let line = match self.phase {
            Phase::Rotation => format!("BF.WINDOW {name} 0.01 1000000 1"),
            Phase::Growth => format!("BF.RESERVE {name} 0.01 8 EXPANSION 1"),
            _ => return,
        };
        let reply = client.call_line(&line);
        assert!(reply.is_ok(), "{reply:?}");
    }

    pub(super) fn fill(&mut self, address: SocketAddr, round: &Round) {
        if !matches!(self.phase, Phase::Growth | Phase::Rotation) {
            return;
        }
        let Ok(mut client) = Client::connect(address) else {
            return;
        };
        while !round.stops.load(Ordering::Relaxed) {
            // The end of the server is the end of this.
            if self.some_more(&mut client).is_err() {
                return;
            }
        }
    }

    fn some_more(&mut self, client: &mut Client) -> io::Result<()> {
        let from = self.acknowledged.last().map_or(0, |(number, _)| number + 1);
        let mut bytes = Vec::new();
        for number in from..from + AT_ONCE {
            push_request(&mut bytes, &["BF.ADD", &self.name, &item(number)]);
        }
        let sent = Instant::now();
        client.send(&bytes)?;
        for number in from..from + AT_ONCE {
            let reply = client.read()?;
            assert!(reply.number().is_some(), "{reply:?}");
            self.acknowledged.push((number, sent));
        }
        Ok(())
    }

    pub(super) fn verify(&self, client: &mut Client) -> Result<(), String> {
        for items in self.acknowledged.chunks(256) {
            let mut words = vec!["BF.MEXISTS".to_owned(), self.name.clone()];
            words.extend(items.iter().map(|(number, _)| item(*number)));
            let reply = client.call(&words).map_err(|error| error.to_string())?;
            for ((number, sent), answer) in items.iter().zip(reply.elements()) {
                // No limit of time: what is older than the window is to be forgotten.
                let may_be_forgotten = self.phase == Phase::Rotation && sent.elapsed() >= WINDOW;
                if answer.number() != Some(1) && !may_be_forgotten {
                    return Err(format!("{} has lost item {number}", self.name));
                }
            }
            if reply.elements().len() != items.len() {
                return Err(format!("{reply:?}"));
            }
        }
        // It goes, so that folders stay small.
        match client.call_line(&format!("DEL {}", self.name)) {
            ParsedReply::Integer(_) => Ok(()),
            other => Err(format!("{other:?}")),
        }
    }
}
