//! A client that does everything, on keys of its own and on some that others write to as well, and remembers what was acknowledged.
//!
//! After each operation it sets a string to the number of it. What is recovered is the operations up to some number, and perhaps the next
//! one without its number: the server does what one connection asks for in order, and the log has it in that order.

use super::Round;
use crate::client::{Client, Reply, Words, push_request};
use crate::model::{Draw, Model, Op, verify};
use crate::random::Random;
use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::Ordering;

/// Operations that are sent at once, at most.
const LONGEST: u64 = 24;
const SHARED: [(&str, &str); 2] = [("BF.ADD", "shared:bf"), ("CF.ADD", "shared:cf")];

pub(crate) struct Writer {
    name: String,
    model: Model,
    random: Random,
    /// The last operation that the model has.
    number: u64,
    /// The last one whose number was acknowledged.
    numbered: u64,
    /// Operations without an answer.
    unsure: VecDeque<Op>,
    /// Items in filters that others fill as well.
    shared: u64,
    pub(crate) acknowledged: u64,
}

impl Writer {
    pub(crate) fn new(number: u64, seed: u64) -> Self {
        let name = format!("writer{number}");
        Self {
            model: Model::new(&format!("{name}:")),
            name,
            random: Random(seed),
            number: 0,
            numbered: 0,
            unsure: VecDeque::new(),
            shared: 0,
            acknowledged: 0,
        }
    }

    fn number_key(&self) -> String {
        format!("{}:number", self.name)
    }

    fn shared_item(&self, number: u64) -> String {
        format!("{}:{number}", self.name)
    }

    pub(super) fn write(&mut self, address: SocketAddr, round: &Round) {
        let Ok(mut client) = Client::to(address) else {
            return;
        };
        while !round.stops.load(Ordering::Relaxed) {
            let count = 1 + self.random.below(LONGEST);
            match self.pipeline(&mut client, count) {
                Ok(()) => round.done.fetch_add(1, Ordering::Relaxed),
                Err(error) if error.kind() == io::ErrorKind::InvalidData => panic!("{error}"),
                Err(_) => return,
            };
        }
    }

    /// Sends some operations at once, and follows the answers.
    fn pipeline(&mut self, client: &mut Client, count: u64) -> io::Result<()> {
        let mut ahead = self.model.clone();
        let mut bytes = Vec::new();
        let mut push = |words: &Words| push_request(&mut bytes, words);
        let mut expected = Vec::new();
        let draw = Draw { needs_reply: false };
        for step in 1..=count {
            let op = draw.op(&ahead, &mut self.random);
            let requests = op.requests(&ahead);
            requests.iter().for_each(&mut push);
            let number = (self.number + step).to_string();
            push(
                &["SET", &self.number_key(), &number]
                    .map(|word| word.as_bytes().to_vec())
                    .to_vec(),
            );
            let _ = ahead.apply(&op, None);
            expected.push(requests.len());
            self.unsure.push_back(op);
        }
        for (word, key) in SHARED {
            let item = self.shared_item(self.shared);
            push(
                &[word, key, &item]
                    .map(|word| word.as_bytes().to_vec())
                    .to_vec(),
            );
        }
        client.send(&bytes)?;
        for requests in expected {
            self.follow(client, requests)?;
        }
        for _ in SHARED {
            let reply = client.read()?;
            assert!(reply.number().is_some(), "{reply:?}");
        }
        self.shared += 1;
        Ok(())
    }

    /// The replies to an operation and to the number of it.
    fn follow(&mut self, client: &mut Client, requests: usize) -> io::Result<()> {
        let replies: Vec<Reply> = (0..requests)
            .map(|_| client.read())
            .collect::<io::Result<_>>()?;
        let op = self.unsure.pop_front().unwrap_or(Op::Exec(Vec::new()));
        if let Err(error) = self.model.apply(&op, replies.last()) {
            panic!("{}: {op:?}: {error}", self.name);
        }
        self.number += 1;
        self.acknowledged += 1;
        let reply = client.read()?;
        assert!(reply.is_ok(), "{reply:?}");
        self.numbered = self.number;
        Ok(())
    }

    /// Asks a server that was started again for everything.
    pub(crate) fn verify(&mut self, client: &mut Client) -> Result<(), String> {
        let told = client.ask(&format!("GET {}", self.number_key()));
        let found: u64 = told.text().parse().unwrap_or(0);
        if found < self.numbered {
            return Err(format!(
                "{} had {} acknowledged, {found} are there",
                self.name, self.numbered
            ));
        }
        while self.number < found {
            let op = self.unsure.pop_front().ok_or("more than was asked for")?;
            self.model.apply(&op, None)?;
            self.number += 1;
        }
        if let Err(error) = verify(&self.model, client) {
            // Perhaps the next one was done as well, and its number was not set; not if that had its answer.
            let next = self.unsure.pop_front().filter(|_| self.number == found);
            let next = next.ok_or_else(|| format!("{}: {error}", self.name))?;
            self.model.apply(&next, None)?;
            self.number += 1;
            verify(&self.model, client)
                .map_err(|other| format!("{}: {error}; or after {next:?}: {other}", self.name))?;
        }
        self.unsure.clear();
        self.numbered = self.number.min(found);
        self.verify_shared(client)
    }

    fn verify_shared(&self, client: &mut Client) -> Result<(), String> {
        for (word, key) in [("BF.MEXISTS", "shared:bf"), ("CF.MEXISTS", "shared:cf")] {
            let mut words = vec![word.to_owned(), key.to_owned()];
            words.extend((0..self.shared).map(|number| self.shared_item(number)));
            if self.shared == 0 {
                continue;
            }
            let reply = client.call(&words).map_err(|error| error.to_string())?;
            let answers = reply.elements();
            let all = answers.iter().all(|answer| answer.number() == Some(1));
            if !all || answers.len() as u64 != self.shared {
                return Err(format!("{key} has lost an item of {}", self.name));
            }
        }
        Ok(())
    }
}
