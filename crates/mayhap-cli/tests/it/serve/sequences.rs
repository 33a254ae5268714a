//! Long random sequences against the exact model, in both protocols, with restarts: no false negative, no reply that cannot be.

use crate::serve::model::{Draw, KEYS, Model, Op, verify};
use crate::serve::process::{Home, Server};
use crate::serve::rounds;
use mayhap_testkit::Random;
use mayhap_testkit::client::{Client, ParsedReply};
use std::thread;

const CLIENTS: u64 = 4;
/// Commands of a client between two restarts, and between two looks at everything.
const A_RUN: u64 = 5000;
const A_LOOK: u64 = 1000;
/// Questions until it is given up.
const MAX_LOOKS: u64 = 100_000;

struct Player {
    model: Model,
    random: Random,
    is_new_protocol: bool,
}

impl Player {
    fn play(&mut self, client: &mut Client, count: u64) {
        let protocol = if self.is_new_protocol {
            "HELLO 3"
        } else {
            "HELLO 2"
        };
        assert!(!client.call_line(protocol).elements().is_empty());
        for step in 0..count {
            let op = self.draw(client);
            let replies = client.pipeline(&op.requests(&self.model)).expect("replies");
            let before = self.model.clone();
            if let Err(error) = self.model.apply(&op, replies.last()) {
                panic!("step {step}: {op:?} on {before:?}: {error}");
            }
            if step % A_LOOK == A_LOOK - 1 {
                self.look(client);
            }
        }
    }

    fn look(&self, client: &mut Client) {
        verify(&self.model, client).unwrap_or_else(|error| panic!("{error}"));
    }

    fn draw(&mut self, client: &mut Client) -> Op {
        let random = &mut self.random;
        let (from, to) = (
            random.below(KEYS.into()) as u8,
            random.below(KEYS.into()) as u8,
        );
        if random.one_in(40) {
            let actual = client
                .call(&[&b"DUMP"[..], &self.model.name(from)])
                .expect("a reply");
            if let ParsedReply::Bulk(payload) = actual {
                return Op::Restore { from, to, payload };
            }
            assert!(!self.model.keys.contains_key(&from), "{actual:?}");
        }
        if random.one_in(400) {
            self.let_expire(client, to);
        }
        let draw = Draw {
            needs_reply: true,
            flushes: false,
        };
        draw.op(&self.model, &mut self.random)
    }

    /// A string that is gone after a millisecond.
    fn let_expire(&mut self, client: &mut Client, key: u8) {
        let name = self.model.name(key);
        let set = client
            .call(&[&b"SET"[..], &name, b"x", b"PX", b"1"])
            .expect("a reply");
        assert!(set.is_ok(), "{set:?}");
        while client
            .call(&[&b"EXISTS"[..], &name])
            .expect("a reply")
            .number()
            != Some(0)
        {}
        self.model.keys.remove(&key);
    }
}

/// What INFO tells of all keys together.
fn look_at_sums(server: &Server<'_>, players: &[Player]) {
    let mut client = server.client();
    let keys: usize = players.iter().map(|player| player.model.keys.len()).sum();
    let held = players.iter().flat_map(|player| player.model.keys.values());
    let expiring = held.filter(|held| held.expires).count();
    assert_eq!(client.call_line("KEYS *").elements().len(), keys);
    // Keys whose time has come are counted until they are taken away, which is some ticks later.
    let line = format!("db0:keys={keys},expires={expiring},");
    let is_told = |client: &mut Client| {
        let actual = client.call_line("INFO keyspace").text();
        actual.contains(&line) || (keys == 0 && !actual.contains("db0"))
    };
    let is_told = (0..MAX_LOOKS).any(|_| is_told(&mut client));
    assert!(
        is_told,
        "{}, not {line}",
        client.call_line("INFO keyspace").text()
    );
    assert_eq!(
        client.call_line("DBSIZE").number(),
        i64::try_from(keys).ok()
    );
}

#[test]
fn everything_is_as_the_model_says() {
    let home = Home::new();
    let mut players: Vec<Player> = (0..CLIENTS)
        .map(|number| Player {
            model: Model::new(&format!("p{number}:")),
            random: Random::new(number),
            is_new_protocol: number % 2 == 1,
        })
        .collect();
    let runs = rounds(100_000, 1_000_000) / CLIENTS / A_RUN;
    for run in 0..runs {
        // New filters have the other layout in every other run, and those of the run before stay.
        let layout = ["native", "redisbloom"][usize::from(run / 2 % 2 == 1)];
        let mut server = home.start(&format!("--fsync no --layout {layout}"));
        let address = server.address;
        for player in &players {
            player.look(&mut server.client());
        }
        if run > 0 {
            look_at_sums(&server, &players);
        }
        thread::scope(|scope| {
            for player in &mut players {
                scope.spawn(move || {
                    let mut client = Client::connect(address).expect("it listens");
                    player.play(&mut client, A_RUN);
                });
            }
            // Every other run with snapshots in between.
            if run % 2 == 1 {
                let mut client = server.client();
                for _ in 0..5 {
                    assert!(client.call_line("SAVE").is_ok());
                }
            }
        });
        look_at_sums(&server, &players);
        server.signal("TERM");
        assert_eq!(server.ended().code(), Some(0));
    }
}
