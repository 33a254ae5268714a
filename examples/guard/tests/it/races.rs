//! Inserts, questions and new filters at once, over several instances: no user who exists is ever denied.

use crate::client::Client;
use crate::{World, wait_for_filter};
use guard::Config;
use guard::database::{Database, User};
use guard::filter::{Answer, Filter};
use guard::rebuild::{When, rebuild};
use guard::service::Service;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

fn filter(config: &Config) -> Filter {
    Filter::connect(&config.redis, config.redis_patience).expect("Redis answers")
}

#[test]
fn a_new_user_is_found_at_once_by_every_instance_while_filters_come_and_go() {
    const WRITERS: usize = 4;
    let inserts = if std::env::var_os("MAYHAP_SOAK").is_some() {
        50_000
    } else {
        500
    };
    let world = World::with_users(20_000);
    let instances = [world.start_with_filter(), world.start()];
    let [first, second] = [instances[0].address(), instances[1].address()];
    let writing = AtomicUsize::new(WRITERS);
    let builds = thread::scope(|scope| {
        for writer in 0..WRITERS {
            let writing = &writing;
            scope.spawn(move || {
                let _done = Countdown(writing);
                let (mut here, mut there) = (Client::to(first), Client::to(second));
                for number in 0..inserts {
                    let name = format!("new-{writer}-{number}");
                    assert_eq!(here.get(&name).status, 404, "{name} is not there yet");
                    assert_eq!(here.post(&name), 201);
                    assert_eq!(there.get(&name).status, 200, "{name} is denied");
                    std::mem::swap(&mut here, &mut there);
                }
            });
        }
        // Whoever sees a row in the database asks the service before the writer has its answer.
        scope.spawn(|| {
            let (mut database, mut client) = (world.postgres.client(), Client::to(second));
            let seen = database.prepare("SELECT FROM users WHERE name = $1");
            let seen = seen.expect("a table");
            for number in 0..inserts {
                let name = format!("new-0-{number}");
                while database.execute(&seen, &[&name]).expect("an answer") == 0 {
                    if writing.load(Ordering::Acquire) < WRITERS {
                        return;
                    }
                }
                assert_eq!(client.get(&name).status, 200, "{name} is denied");
            }
        });
        let mut builds = 0;
        while writing.load(Ordering::Acquire) > 0 {
            assert!(rebuild(&world.config(), When::Always).expect("both stores are there"));
            builds += 1;
        }
        builds
    });
    assert!(builds > 1, "{builds} filters were built meanwhile");
    let mut client = Client::to(first);
    for writer in 0..WRITERS {
        for number in 0..inserts {
            assert_eq!(client.get(&format!("new-{writer}-{number}")).status, 200);
        }
    }
    instances.into_iter().for_each(Service::stop);
}

/// Counts down also when a writer fails, so that the test ends.
struct Countdown<'a>(&'a AtomicUsize);

impl Drop for Countdown<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Release);
    }
}

/// The narrowest place: an insert that looked for the new filter before there was one, and commits after all rows were read.
#[test]
fn a_builder_waits_for_inserts_that_have_missed_its_filter() {
    let world = World::with_users(10);
    let config = world.config();
    let user = User {
        name: "between".to_owned(),
        email: String::new(),
    };
    let mut database = Database::connect(&config.postgres).expect("PostgreSQL answers");
    thread::scope(|scope| {
        let inserted = database.insert(&user, || {
            filter(&config).remember(&user.name)?;
            let builder = scope.spawn(|| rebuild(&config, When::Always));
            let mut observer = world.postgres.client();
            while !a_builder_waits(&mut observer) {
                assert!(!builder.is_finished(), "it has not waited");
            }
            Ok(())
        });
        assert!(inserted.expect("both stores are there"));
    });
    let (answer, _) = filter(&config).ask(&user.name).expect("an answer");
    assert_eq!(answer, Answer::Mayhap);
}

fn a_builder_waits(observer: &mut postgres::Client) -> bool {
    let waiting = "SELECT count(*) > 0 FROM pg_locks WHERE mode = 'ShareLock' AND NOT granted";
    observer.query_one(waiting, &[]).expect("a row").get(0)
}

/// What the README tells those who load many rows at once.
#[test]
fn rows_of_others_are_found_when_they_take_the_filter_away_before_they_commit() {
    let world = World::with_users(10);
    let service = world.start_with_filter();
    let client = &mut Client::to(service.address());
    let (mut loader, mut observer) = (world.postgres.client(), world.postgres.client());
    let mut transaction = loader.transaction().expect("a transaction");
    let load = "INSERT INTO users SELECT 'loaded-' || n, '' FROM generate_series(1, 1000) n";
    transaction.batch_execute(load).expect("rows");
    let mut delete = redis::cmd("DEL");
    delete.arg("{users}:filter").arg("{users}:filter:next");
    delete.exec(&mut world.redis.connection()).expect("a reply");
    // The first question misses the filter, and a builder comes.
    assert_eq!(client.get("loaded-1").stage, "database-alone");
    while !a_builder_waits(&mut observer) {}
    transaction.commit().expect("rows");
    assert_eq!(client.get("loaded-1").status, 200);
    wait_for_filter(client);
    for number in 1..=1000 {
        assert_eq!(client.get(&format!("loaded-{number}")).status, 200);
    }
    service.stop();
}

#[test]
fn a_builder_that_was_overtaken_changes_nothing() {
    let world = World::with_users(10);
    let config = world.config();
    assert!(rebuild(&config, When::Untrusted).expect("a filter"));
    assert!(
        !rebuild(&config, When::Untrusted).expect("a filter"),
        "there is one"
    );
    let (mut slow, mut fast) = (filter(&config), filter(&config));
    slow.begin("slow", 0.01, 1000).expect("a filter");
    fast.begin("fast", 0.01, 1000).expect("a filter");
    assert!(
        !slow.finish("slow").expect("an answer"),
        "nobody has filled what it would put in place"
    );
    assert_eq!(slow.ask("user-7").expect("an answer").0, Answer::Mayhap);
    fast.fill(&["user-7"]).expect("it is there");
    assert!(fast.finish("fast").expect("an answer"));
    assert_eq!(fast.ask("user-7").expect("an answer").0, Answer::Mayhap);
    let lost = fast
        .fill(&["user-8"])
        .expect_err("there is no new filter any more");
    assert_eq!(lost.detail(), Some("not found"));
}

#[test]
fn an_insert_that_the_filter_cannot_learn_is_rolled_back() {
    let world = World::with_users(10);
    let config = Config {
        redis: "redis://127.0.0.1:1".to_owned(),
        redis_patience: Duration::from_secs(1),
        ..world.config()
    };
    let mut unlucky = guard::guard::Guard::new(&config);
    let user = User {
        name: "unlucky".to_owned(),
        email: String::new(),
    };
    assert!(unlucky.insert(&user).is_err());
    assert_eq!(
        unlucky.find("unlucky").expect("PostgreSQL answers").row,
        None
    );
    let mut lucky = guard::guard::Guard::new(&world.config());
    assert!(lucky.insert(&user).expect("both stores are there"));
    assert!(
        !lucky.insert(&user).expect("both stores are there"),
        "the name is taken"
    );
}
