//! The service with a real PostgreSQL and a real Redis, in processes that come and go.

mod away;
mod client;
mod postgres;
mod races;
mod redis;
mod share;
mod stages;

use crate::client::Client;
use crate::postgres::Postgres;
use crate::redis::Redis;
use guard::Config;
use guard::service::Service;
use std::time::Duration;

/// The stores of one test.
struct World {
    postgres: Postgres,
    redis: Redis,
}

impl World {
    fn with_users(users: u64) -> Self {
        Self {
            postgres: Postgres::with_users(users),
            redis: Redis::start(),
        }
    }

    fn config(&self) -> Config {
        Config {
            listen: "127.0.0.1:0".to_owned(),
            postgres: self.postgres.address(),
            redis: self.redis.url(),
            guarded: true,
            false_positive_rate: 0.01,
            cache_for: None,
            // A busy machine is not a lost Redis.
            redis_patience: Duration::from_secs(10),
            workers: 4,
        }
    }

    fn start(&self) -> Service {
        Service::start(&self.config()).expect("it listens")
    }

    /// A service whose filter is complete.
    fn start_with_filter(&self) -> Service {
        let service = self.start();
        wait_for_filter(&mut Client::to(service.address()));
        service
    }
}

/// Asks for missing users until the filter is what denies one.
fn wait_for_filter(client: &mut Client) {
    for number in 0_u64.. {
        let reply = client.get(&format!("waiting-{number}"));
        assert_eq!(reply.status, 404, "nobody is called so");
        if reply.stage == "filter" {
            return;
        }
    }
}

/// The row of a loaded user.
fn row(number: u64) -> String {
    format!("{{\"name\":\"user-{number}\",\"email\":\"{number}@example.org\"}}")
}
