//! Redis gone, empty or with yesterday's filter: right answers all the time, and a filter again after.

use crate::client::Client;
use crate::{World, row, wait_for_filter};
use redis::cmd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

const USERS: u64 = 20_000;
const LIVE: &str = "{users}:filter";

/// Every hundredth user, and as many that are not there.
fn answers_are_right(client: &mut Client) {
    for number in (0..USERS).step_by(100) {
        let reply = client.get(&format!("user-{number}"));
        assert_eq!((reply.status, reply.body), (200, row(number)));
        assert_eq!(client.get(&format!("nobody-{number}")).status, 404);
    }
}

#[test]
fn answers_stay_right_while_redis_is_killed_and_comes_back_empty() {
    let mut world = World::with_users(USERS);
    let service = world.start_with_filter();
    let address = service.address();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        // Also if an assertion fails, so that the test ends.
        let _done = Done(&done);
        for _ in 0..2 {
            scope.spawn(|| {
                let client = &mut Client::to(address);
                while !done.load(Ordering::Acquire) {
                    answers_are_right(client);
                }
            });
        }
        let client = &mut Client::to(address);
        for round in 0..2 {
            let name = format!("new-{round}");
            answers_are_right(client);
            world.redis.kill();
            answers_are_right(client);
            assert_eq!(client.get("nobody").stage, "database-alone");
            let refused = client.post(&name);
            assert_eq!(refused, 503, "another instance may still see the filter");
            assert_eq!(client.get(&name).status, 404);
            world.redis.start_empty();
            answers_are_right(client);
            wait_for_filter(client);
            answers_are_right(client);
            // One worker may still leave Redis alone for a moment.
            while client.post(&name) == 503 {}
            assert_eq!(client.get(&name).status, 200);
        }
    });
    service.stop();
}

struct Done<'a>(&'a AtomicBool);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

#[test]
fn a_filter_that_was_evicted_denies_nobody_and_is_built_again() {
    let world = World::with_users(USERS);
    let service = world.start_with_filter();
    let client = &mut Client::to(service.address());
    let redis = &mut world.redis.connection();
    for _ in 0..5 {
        cmd("DEL").arg(LIVE).exec(redis).expect("a reply");
        answers_are_right(client);
        wait_for_filter(client);
    }
    // Somebody else's value under the key is no filter either.
    cmd("SET")
        .arg(LIVE)
        .arg("hello")
        .exec(redis)
        .expect("a reply");
    answers_are_right(client);
    wait_for_filter(client);
    service.stop();
}

#[test]
fn a_filter_from_before_a_restart_is_not_trusted() {
    let mut world = World::with_users(USERS);
    let service = world.start_with_filter();
    let client = &mut Client::to(service.address());
    let redis = &mut world.redis.connection();
    cmd("COPY")
        .arg(LIVE)
        .arg("old")
        .exec(redis)
        .expect("a filter");
    cmd("SAVE").exec(redis).expect("a disk");
    let late: Vec<String> = (0..100).map(|number| format!("late-{number}")).collect();
    for name in &late {
        assert_eq!(client.post(name), 201);
    }
    // The marks are in what it saved, the latest users are not.
    world.redis.kill();
    world.redis.start_with_what_it_saved();
    let redis = &mut world.redis.connection();
    let known: Vec<bool> = cmd("BF.MEXISTS")
        .arg("old")
        .arg(&late)
        .query(redis)
        .expect("a reply");
    let known = known.iter().filter(|known| **known).count();
    assert!(
        known < 50,
        "whoever believed the old filter would deny {}",
        100 - known
    );
    for name in &late {
        assert_eq!(client.get(name).status, 200, "{name} is denied");
    }
    wait_for_filter(client);
    for name in &late {
        assert_eq!(client.get(name).status, 200, "{name} is denied");
    }
    answers_are_right(client);
    service.stop();
}
