//! The point of it all: how often the database is asked, as PostgreSQL itself counts.

use crate::client::Client;
use crate::{World, row};
use guard::Config;
use guard::service::Service;
use std::net::SocketAddr;
use std::thread;

const USERS: u64 = 1_000_000;
const QUERIES: u64 = 50_000;
const CLIENTS: u64 = 4;

#[test]
fn the_database_is_asked_for_present_users_and_the_expected_share_of_missing_ones() {
    let world = World::with_users(USERS);
    let off = Config {
        guarded: false,
        ..world.config()
    };
    world.start_with_filter().stop();
    let rate = estimated_rate(&mut world.redis.connection());
    assert!(
        rate <= world.config().false_positive_rate,
        "it has room for all users: {rate}"
    );
    eprintln!("1,000,000 users, {QUERIES} queries, rate {rate:.5}");
    eprintln!("| missing | off | on | expected |");
    for missing_percent in [90, 99] {
        let unguarded = queries(&world, &off, missing_percent);
        assert_eq!(
            unguarded, QUERIES,
            "without the guard each query is one of the database"
        );
        let guarded = queries(&world, &world.config(), missing_percent);
        let missing = QUERIES * missing_percent / 100;
        let expected = (QUERIES - missing) as f64 + rate * missing as f64;
        eprintln!("| {missing_percent} % | {unguarded} | {guarded} | {expected:.0} |");
        // Six standard deviations of a binomial count: once in 10^9 runs it is chance.
        let margin = 6.0 * (missing as f64 * rate * (1.0 - rate)).sqrt();
        let off_by = guarded as f64 - expected;
        assert!(
            off_by.abs() <= margin,
            "{guarded} queries, {expected:.0} +- {margin:.0} expected"
        );
    }
}

/// Queries that reached the database, by its own statistics.
fn queries(world: &World, config: &Config, missing_percent: u64) -> u64 {
    let before = world.postgres.index_scans();
    let service = Service::start(config).expect("it listens");
    let address = service.address();
    thread::scope(|scope| {
        for first in 0..CLIENTS {
            scope.spawn(move || {
                let numbers = (first..QUERIES).step_by(CLIENTS as usize);
                ask(address, numbers, missing_percent);
            });
        }
    });
    service.stop();
    world.postgres.index_scans() - before
}

fn ask(address: SocketAddr, numbers: impl Iterator<Item = u64>, missing_percent: u64) {
    let mut client = Client::to(address);
    for number in numbers {
        // Scattered over the table; no user twice.
        let user = number * 7_919 % USERS;
        if number % 100 < missing_percent {
            let reply = client.get(&format!("nobody-{missing_percent}-{user}"));
            assert_eq!(reply.status, 404, "{reply:?}");
        } else {
            let reply = client.get(&format!("user-{user}"));
            assert_eq!((reply.status, reply.body), (200, row(user)));
        }
    }
}

/// What the filter says of itself: one with room for more users than there are is better than asked.
fn estimated_rate(redis: &mut redis::Connection) -> f64 {
    let mut estimate = redis::cmd("BF.ESTIMATE");
    let reply: Vec<Option<String>> = estimate
        .arg("{users}:filter")
        .query(redis)
        .expect("a filter");
    let rate = reply
        .iter()
        .skip_while(|field| field.as_deref() != Some("Error rate"));
    let rate = rate.flatten().nth(1).expect("its rate");
    rate.parse().expect("a number")
}
