//! A client that does everything, on keys of its own and on some that others write to as well, and remembers what was acknowledged.
//!
//! After each operation it sets a string to the number of it, and adds the number to a cuckoo filter, which counts: a record that is
//! replayed twice shows there. What is recovered is the operations up to some number, and perhaps the next
//! one without its number: the server does what one connection asks for in order, and the log has it in that order.

use super::Round;
use super::aim::BALLAST;
use crate::serve::model::{Draw, Model, Op, verify};
use mayhap_testkit::Random;
use mayhap_testkit::client::{Client, ParsedReply, Words, push_request, words};
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
    /// Numbers in the filter that counts, and the operation that they go to.
    counted: (u64, u64),
    /// Items in filters that others fill as well, and the first that is still there.
    shared: u64,
    shared_from: u64,
    /// Nobody else is there, so that it may remove everything.
    is_alone: bool,
    pub(crate) acknowledged: u64,
    pub(crate) flushes: u64,
}

impl Writer {
    pub(crate) fn new(number: u64, seed: u64) -> Self {
        let name = format!("writer{number}");
        Self {
            model: Model::new(&format!("{name}:")),
            name,
            random: Random::new(seed),
            number: 0,
            numbered: 0,
            unsure: VecDeque::new(),
            counted: (0, 0),
            shared: 0,
            shared_from: 0,
            is_alone: false,
            acknowledged: 0,
            flushes: 0,
        }
    }

    /// One that has the server for itself.
    pub(crate) fn without_company(self) -> Self {
        Self {
            is_alone: true,
            ..self
        }
    }

    fn number_key(&self) -> String {
        format!("{}:number", self.name)
    }

    fn counting_key(&self) -> String {
        format!("{}:counted", self.name)
    }

    fn shared_item(&self, number: u64) -> String {
        format!("{}:{number}", self.name)
    }

    pub(super) fn write(&mut self, address: SocketAddr, round: &Round) {
        let Ok(mut client) = Client::connect(address) else {
            return;
        };
        // The first time.
        if client.call(&words(&self.room())).is_err() {
            return;
        }
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
        let mut expected = Vec::new();
        let draw = Draw {
            needs_reply: false,
            flushes: self.is_alone,
        };
        for step in 1..=count {
            let op = draw.op(&ahead, &mut self.random);
            let number = (self.number + step).to_string();
            let requests = if op == Op::Flush {
                self.flush_requests(&number)
            } else {
                op.requests(&ahead)
            };
            for words in &requests {
                push_request(&mut bytes, words);
            }
            push_request(&mut bytes, &["SET", &self.number_key(), &number]);
            push_request(&mut bytes, &["CF.ADD", &self.counting_key(), &number]);
            let _ = ahead.apply(&op, None);
            expected.push(requests.len());
            self.unsure.push_back(op);
        }
        for (word, key) in SHARED {
            let item = self.shared_item(self.shared);
            push_request(&mut bytes, &[word, key, &item]);
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

    /// Removes everything, and makes at once what the test needs to find its way.
    fn flush_requests(&self, number: &str) -> Vec<Words> {
        let mut lines = vec![
            "MULTI".to_owned(),
            "FLUSHALL".to_owned(),
            format!("SET {} {number}", self.number_key()),
            self.room(),
        ];
        lines.extend(BALLAST.map(str::to_owned));
        lines.push("EXEC".to_owned());
        lines.iter().map(|line| words(line)).collect()
    }

    /// Room for all numbers.
    fn room(&self) -> String {
        format!("CF.RESERVE {} 200000", self.counting_key())
    }

    /// An operation was done.
    fn did(&mut self, op: &Op, reply: Option<&ParsedReply>) -> Result<(), String> {
        self.model.apply(op, reply)?;
        self.number += 1;
        if *op == Op::Flush {
            // Its number is counted after it.
            self.counted = (0, self.number - 1);
            self.shared_from = self.shared;
            self.flushes += 1;
        }
        Ok(())
    }

    /// The replies to an operation and to the number of it.
    fn follow(&mut self, client: &mut Client, requests: usize) -> io::Result<()> {
        let replies: Vec<ParsedReply> = (0..requests)
            .map(|_| client.read())
            .collect::<io::Result<_>>()?;
        let op = self.unsure.pop_front().unwrap_or(Op::Exec(Vec::new()));
        if let Err(error) = self.did(&op, replies.last()) {
            panic!("{}: {op:?}: {error}", self.name);
        }
        self.acknowledged += 1;
        let reply = client.read()?;
        assert!(reply.is_ok(), "{reply:?}");
        self.numbered = self.number;
        let reply = client.read()?;
        assert_eq!(reply.number(), Some(1), "{reply:?}");
        Ok(())
    }

    /// Asks a server that was started again for everything.
    pub(crate) fn verify(&mut self, client: &mut Client) -> Result<(), String> {
        let actual = client.call_line(&format!("GET {}", self.number_key()));
        let found: u64 = actual.text().parse().unwrap_or(0);
        if found < self.numbered {
            return Err(format!(
                "{} had {} acknowledged, {found} are there",
                self.name, self.numbered
            ));
        }
        while self.number < found {
            let op = self.unsure.pop_front().ok_or("more than was asked for")?;
            self.did(&op, None)?;
        }
        if let Err(error) = verify(&self.model, client) {
            // Perhaps the next one was done as well, and its number was not set; not if that had its answer.
            let next = self.unsure.pop_front().filter(|_| self.number == found);
            let next = next.ok_or_else(|| format!("{}: {error}", self.name))?;
            self.did(&next, None)?;
            verify(&self.model, client)
                .map_err(|other| format!("{}: {error}; or after {next:?}: {other}", self.name))?;
        }
        self.unsure.clear();
        self.numbered = self.number.min(found);
        self.verify_counted(client, found)?;
        self.verify_shared(client)
    }

    /// Each operation that has its number is counted once, but for the last, which may not have got so far.
    fn verify_counted(&mut self, client: &mut Client, found: u64) -> Result<(), String> {
        let actual = client.call_line(&format!("CF.INFO {}", self.counting_key()));
        let items = actual.field("Number of items inserted");
        let items = items.and_then(ParsedReply::number).unwrap_or(0) as u64;
        let (before, number) = self.counted;
        let most = before + found.saturating_sub(number);
        if !(most.saturating_sub(1).max(before)..=most).contains(&items) {
            return Err(format!(
                "{} counted {most}, and {items} are there",
                self.name
            ));
        }
        self.counted = (items, self.number);
        Ok(())
    }

    fn verify_shared(&self, client: &mut Client) -> Result<(), String> {
        for (word, key) in [("BF.MEXISTS", "shared:bf"), ("CF.MEXISTS", "shared:cf")] {
            let mut words = vec![word.to_owned(), key.to_owned()];
            let items = self.shared_from..self.shared;
            let count = items.end - items.start;
            words.extend(items.map(|number| self.shared_item(number)));
            if count == 0 {
                continue;
            }
            let reply = client.call(&words).map_err(|error| error.to_string())?;
            let answers = reply.elements();
            let all = answers.iter().all(|answer| answer.number() == Some(1));
            if !all || answers.len() as u64 != count {
                return Err(format!("{key} has lost an item of {}", self.name));
            }
        }
        Ok(())
    }
}
