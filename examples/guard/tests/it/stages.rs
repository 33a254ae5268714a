//! Which stage answers what, through HTTP.

use crate::World;
use crate::client::Client;
use guard::Config;
use guard::rebuild::{When, rebuild};
use guard::service::Service;
use std::time::Duration;

#[test]
fn the_first_stage_that_knows_answers() {
    let world = World::with_users(1000);
    let config = Config {
        cache_for: Some(Duration::from_secs(3600)),
        ..world.config()
    };
    world.start_with_filter().stop();
    let service = Service::start(&config).expect("it listens");
    let client = &mut Client::to(service.address());
    let stages = |client: &mut Client, name| (client.get(name).status, client.get(name).stage);
    assert_eq!(client.get("user-1").stage, "database");
    assert_eq!(stages(client, "user-1"), (200, "cache".to_owned()));
    assert_eq!(client.post("user-1"), 409);
    // Gone from cache and database, and the filter does not know.
    assert_eq!(client.delete("user-1").status, 200);
    assert_eq!(client.delete("user-1").status, 404);
    assert_eq!(stages(client, "user-1"), (404, "database".to_owned()));
    assert!(rebuild(&config, When::Always).expect("both stores are there"));
    assert_eq!(stages(client, "user-1"), (404, "filter".to_owned()));
    assert_eq!(client.post("user-1"), 201);
    assert_eq!(client.get("user-1").status, 200);
    let metrics = client.ask("GET", "/metrics", "").body;
    for line in [
        "{stage=\"filter\"} 2",
        "{stage=\"cache\"} 2",
        "{stage=\"database\"} 4",
    ] {
        assert!(metrics.contains(line), "{line} in {metrics}");
    }
    service.stop();
}

#[test]
fn what_is_no_user_is_refused() {
    let world = World::with_users(0);
    let service = world.start();
    let client = &mut Client::to(service.address());
    let long = "x".repeat(65);
    for path in [
        "/users/",
        "/users/a%00b",
        "/users/a/b",
        &format!("/users/{long}"),
    ] {
        assert_eq!(client.ask("GET", path, "").status, 400, "{path}");
    }
    let bodies = [
        "",
        "{}",
        "[1, 2]",
        "{\"name\": \"\", \"email\": \"\"}",
        "{\"name\": \"a\", \"email\": \"\\u0000\"}",
    ];
    for body in bodies {
        assert_eq!(client.ask("POST", "/users", body).status, 400, "{body}");
    }
    let endless = format!("{{\"name\": \"a\", \"email\": \"{}\"}}", "x".repeat(5000));
    assert_eq!(client.ask("POST", "/users", &endless).status, 400);
    assert_eq!(client.ask("PUT", "/users/a", "").status, 404);
    assert_eq!(client.ask("GET", "/", "").status, 404);
    service.stop();
}
