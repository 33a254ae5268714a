//! The API of the page: who may use it, and what it answers.

use crate::{Running, folder};
use mayhap_server::ServerOptions;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use tempfile::TempDir;

/// A response.
struct Response {
    status: u16,
    head: String,
    body: String,
}

impl Response {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    fn error(&self) -> String {
        self.json()["error"].as_str().expect("an error").to_owned()
    }
}

/// A browser with one cookie.
struct Browser {
    address: SocketAddr,
    host: String,
    origin: Option<String>,
    cookie: String,
    content_type: &'static str,
    /// Further headers, with line ends.
    more: String,
}

impl Browser {
    fn new(address: SocketAddr) -> Self {
        Self {
            address,
            host: address.to_string(),
            origin: Some(format!("http://{address}")),
            cookie: String::new(),
            content_type: "application/json",
            more: String::new(),
        }
    }

    fn send(&self, head: &str, body: &str) -> Response {
        let mut stream = TcpStream::connect(self.address).expect("it listens");
        let (host, length) = (&self.host, body.len());
        let mut request =
            format!("{head} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {length}\r\n");
        if !self.cookie.is_empty() {
            request.push_str("Cookie: other=1; ");
            request.push_str(&self.cookie);
            request.push_str("\r\n");
        }
        if head.starts_with("POST")
            && let Some(origin) = &self.origin
        {
            let lines = format!(
                "Origin: {origin}\r\nContent-Type: {}\r\n",
                self.content_type
            );
            request.push_str(&lines);
        }
        request.extend([&self.more, "\r\n", body]);
        stream.write_all(request.as_bytes()).expect("sent");
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).expect("a response");
        let text = String::from_utf8(bytes).expect("text");
        let (head, body) = text.split_once("\r\n\r\n").expect("a head");
        Response {
            status: head[9..12].parse().expect("a status"),
            head: head.to_owned(),
            body: body.to_owned(),
        }
    }

    fn get(&self, path: &str) -> Response {
        self.send(&format!("GET {path}"), "")
    }

    fn post(&self, path: &str, body: &Value) -> Response {
        self.send(&format!("POST {path}"), &body.to_string())
    }

    fn log_in(&mut self, password: &str) -> Response {
        let response = self.post("/api/login", &json!({ "password": password }));
        let cookie = response
            .head
            .lines()
            .find_map(|line| line.strip_prefix("Set-Cookie: "));
        if let Some(cookie) = cookie {
            let pair = cookie.split(';').next().expect("a pair");
            pair.clone_into(&mut self.cookie);
        }
        response
    }

    /// The figures of a stream of events.
    fn events(&self) -> Events {
        let mut stream = TcpStream::connect(self.address).expect("it listens");
        let (host, cookie) = (&self.host, &self.cookie);
        let request =
            format!("GET /api/events HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\n\r\n");
        stream.write_all(request.as_bytes()).expect("sent");
        Events(BufReader::new(stream))
    }
}

struct Events(BufReader<TcpStream>);

impl Iterator for Events {
    type Item = Value;

    fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        while self.0.read_line(&mut line).expect("a line") > 0 {
            if let Some(data) = line.strip_prefix("data: ") {
                return Some(serde_json::from_str(data).expect("JSON"));
            }
            line.clear();
        }
        None
    }
}

fn options() -> (TempDir, ServerOptions) {
    let (folder, mut options) = folder();
    options.http = Some(([127, 0, 0, 1], 0).into());
    (folder, options)
}

fn start(options: &ServerOptions) -> (Running, Browser) {
    let server = Running::with(options);
    let browser = Browser::new(server.http.expect("an address"));
    (server, browser)
}

#[test]
fn filters_are_created_filled_queried_listed_and_deleted() {
    let (_folder, options) = options();
    let (server, browser) = start(&options);
    for (key, kind, more) in [
        ("b", "bloom", json!({ "rate": 0.01 })),
        ("fixed", "bloom", json!({ "rate": 0.01, "expansion": 0 })),
        ("c", "cuckoo", json!({})),
        ("cb", "counting", json!({ "rate": 0.01 })),
        ("w", "window", json!({ "rate": 0.01, "seconds": 60 })),
    ] {
        let mut body = json!({ "key": key, "kind": kind, "capacity": 1000 });
        for (name, value) in more.as_object().unwrap() {
            body[name] = value.clone();
        }
        let made = browser.post("/api/reserve", &body);
        assert_eq!(made.status, 200, "{}", made.body);
        assert_eq!(browser.post("/api/reserve", &body).status, 422, "twice");
        let added = browser.post("/api/add", &json!({ "key": key, "items": ["x", "y"] }));
        assert_eq!(added.json(), json!({ "added": [true, true] }), "{key}");
        let found = browser.post("/api/query", &json!({ "key": key, "items": ["y", "z"] }));
        assert_eq!(found.json(), json!({ "found": [true, false] }), "{key}");
    }
    // The same filters that Redis clients see.
    let mut client = server.client();
    client.expect("BF.EXISTS b x", ":1\r\n");
    client.expect("CF.EXISTS c y", ":1\r\n");
    client.expect("EXPIRE b 100", ":1\r\n");
    client.expect("SET text x", "+OK\r\n");
    let all = browser.get("/api/filters").json();
    assert_eq!((&all["total"], &all["matching"]), (&json!(5), &json!(5)));
    let names: Vec<_> = all["filters"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| &row["key"])
        .collect();
    assert_eq!(names, ["b", "c", "cb", "fixed", "w"]);
    let one = browser.get("/api/filter?key=b").json();
    assert_eq!(
        (&one["keys"], &one["type"]),
        (&json!(2), &json!("mayhap-bf"))
    );
    let left = one["ttl_ms"].as_u64().unwrap();
    assert!((90_000..=100_000).contains(&left), "{left}");
    assert_eq!(browser.get("/api/filter?key=text").status, 404);
    assert_eq!(browser.get("/api/filter").status, 400);
    assert_eq!(
        browser
            .post("/api/delete", &json!({ "key": "text" }))
            .status,
        409
    );
    assert_eq!(
        browser.post("/api/delete", &json!({ "key": "b" })).status,
        200
    );
    assert_eq!(
        browser.post("/api/delete", &json!({ "key": "b" })).status,
        404
    );
    let missing = browser.post("/api/add", &json!({ "key": "b", "items": ["x"] }));
    assert_eq!(missing.status, 404);
    assert!(missing.error().contains("there is no filter b"));
    client.expect("EXISTS b text", ":1\r\n");
}

#[test]
fn what_the_page_changes_survives_a_restart() {
    let (_folder, options) = options();
    let (server, browser) = start(&options);
    let body = json!({ "key": "seen", "kind": "bloom", "capacity": 1000, "rate": 0.01 });
    assert_eq!(browser.post("/api/reserve", &body).status, 200);
    assert_eq!(
        browser
            .post("/api/add", &json!({ "key": "seen", "items": ["x"] }))
            .status,
        200
    );
    server.end();
    let (server, _) = start(&options);
    server.client().expect("BF.EXISTS seen x", ":1\r\n");
}

#[test]
fn bad_bodies_get_an_explanation() {
    let (_folder, options) = options();
    let (server, browser) = start(&options);
    server
        .client()
        .expect("BF.RESERVE b 0.01 1000 NONSCALING", "+OK\r\n");
    for (path, body, status) in [
        ("/api/add", "", 400),
        ("/api/add", "{}", 400),
        ("/api/add", "[]", 400),
        ("/api/add", r#"{"key":"b"}"#, 400),
        ("/api/add", r#"{"key":"b","items":[]}"#, 400),
        ("/api/add", r#"{"key":"b","items":[1]}"#, 400),
        ("/api/add", r#"{"key":"b","items":["x"],"more":1}"#, 400),
        (
            "/api/add",
            r#"{"key":"b","items":["!"],"encoding":"base64"}"#,
            400,
        ),
        (
            "/api/add",
            r#"{"key":"b","items":["x"],"encoding":"hex"}"#,
            400,
        ),
        (
            "/api/reserve",
            r#"{"key":"","kind":"bloom","capacity":9,"rate":0.1}"#,
            400,
        ),
        (
            "/api/reserve",
            r#"{"key":"n","kind":"bloom","capacity":9}"#,
            400,
        ),
        (
            "/api/reserve",
            r#"{"key":"n","kind":"window","capacity":9,"rate":0.1}"#,
            400,
        ),
        (
            "/api/reserve",
            r#"{"key":"n","kind":"ribbon","capacity":9,"rate":0.1}"#,
            400,
        ),
        (
            "/api/reserve",
            r#"{"key":"n","kind":"bloom","capacity":-1,"rate":0.1}"#,
            400,
        ),
        (
            "/api/reserve",
            r#"{"key":"n","kind":"bloom","capacity":9,"rate":2}"#,
            422,
        ),
        (
            "/api/reserve",
            r#"{"key":"n","kind":"bloom","capacity":0,"rate":0.1}"#,
            422,
        ),
        (
            "/api/reserve",
            r#"{"key":"n","kind":"bloom","capacity":18446744073709551615,"rate":0.1}"#,
            422,
        ),
    ] {
        let response = browser.send(&format!("POST {path}"), body);
        assert_eq!(response.status, status, "{body}: {}", response.body);
        assert!(response.error().len() > 10, "{}", response.body);
    }
    let deep = "[".repeat(100_000);
    assert_eq!(browser.send("POST /api/add", &deep).status, 400);
    let large = "x".repeat((1 << 20) + 1);
    assert_eq!(browser.send("POST /api/add", &large).status, 413);
    for query in ["page=x", "sort=x", "order=x", "per=-1"] {
        assert_eq!(
            browser.get(&format!("/api/filters?{query}")).status,
            400,
            "{query}"
        );
    }
    assert_eq!(server.client().call("DBSIZE"), ":1\r\n");
}

#[test]
fn the_password_is_needed_for_everything_but_the_page() {
    let (_folder, mut options) = options();
    options.password = b"correct horse".to_vec();
    let (server, mut browser) = start(&options);
    assert_eq!(browser.get("/").status, 200);
    assert_eq!(browser.get("/metrics").status, 200);
    assert_eq!(browser.get("/api/session").json()["login"], true);
    for path in ["/api/events", "/api/filters", "/api/filter?key=x"] {
        assert_eq!(browser.get(path).status, 401, "{path}");
    }
    for path in ["/api/add", "/api/query", "/api/reserve", "/api/delete"] {
        assert_eq!(browser.post(path, &json!({})).status, 401, "{path}");
    }
    assert_eq!(browser.log_in("wrong").status, 401);
    assert_eq!(browser.get("/api/filters").status, 401);
    let response = browser.log_in("correct horse");
    assert_eq!(response.status, 200);
    let cookie = response
        .head
        .lines()
        .find(|line| line.starts_with("Set-Cookie"))
        .unwrap();
    for attribute in ["HttpOnly", "SameSite=Strict", "Path=/"] {
        assert!(cookie.contains(attribute), "{cookie}");
    }
    assert_eq!(browser.get("/api/session").json()["login"], false);
    assert_eq!(browser.get("/api/filters").status, 200);
    // Another token of the same length is not a session.
    let mut guessed = Browser::new(browser.address);
    let (name, token) = browser.cookie.split_once('=').unwrap();
    guessed.cookie = format!("{name}={}", "0".repeat(token.len()));
    assert_eq!(guessed.get("/api/filters").status, 401);
    // A new password ends all sessions, and the streams of events with them.
    let mut events = browser.events();
    assert!(events.next().is_some());
    let mut client = server.client();
    client.raw(&["AUTH", "correct horse"]);
    client.expect("CONFIG SET requirepass other", "+OK\r\n");
    assert_eq!(browser.get("/api/filters").status, 401);
    assert!(events.count() <= 1);
    assert_eq!(browser.log_in("correct horse").status, 401);
    assert_eq!(browser.log_in("other").status, 200);
    assert_eq!(browser.get("/api/filters").status, 200);
    assert_eq!(browser.post("/api/logout", &json!({})).status, 200);
    assert_eq!(browser.get("/api/filters").status, 401);
}

#[test]
fn guessing_passwords_is_slow() {
    let (_folder, mut options) = options();
    options.password = b"correct horse".to_vec();
    let (_server, mut browser) = start(&options);
    let statuses: Vec<u16> = (0..8).map(|_| browser.log_in("wrong").status).collect();
    assert_eq!(statuses.first(), Some(&401));
    assert_eq!(statuses.last(), Some(&429), "{statuses:?}");
    let early = browser.log_in("correct horse");
    assert_eq!(early.status, 429);
    assert!(early.head.contains("\r\nRetry-After: "), "{}", early.head);
}

#[test]
fn a_session_does_not_survive_a_restart() {
    let (_folder, mut options) = options();
    options.password = b"pw".to_vec();
    let (server, mut browser) = start(&options);
    browser.log_in("pw");
    assert_eq!(browser.get("/api/filters").status, 200);
    let name = browser.cookie.split('=').next().unwrap().to_owned();
    let token = browser.cookie.split('=').nth(1).unwrap().to_owned();
    server.end();
    let (_server, mut again) = start(&options);
    let port = again.address.port();
    again.cookie = format!("{}-{port}={token}", name.rsplit_once('-').unwrap().0);
    assert_eq!(again.get("/api/filters").status, 401);
}

#[test]
fn other_sites_can_neither_read_nor_change() {
    let (_folder, options) = options();
    let (server, browser) = start(&options);
    server.client().expect("BF.ADD seen x", ":1\r\n");
    let body = json!({ "key": "seen" });
    let attack = |change: &dyn Fn(&mut Browser)| {
        let mut attacker = Browser::new(browser.address);
        change(&mut attacker);
        attacker.post("/api/delete", &body).status
    };
    let attacker = |name: &str| Some(name.to_owned());
    assert_eq!(
        attack(&|from| from.origin = attacker("http://attacker.example")),
        403
    );
    assert_eq!(attack(&|from| from.origin = attacker("null")), 403);
    assert_eq!(
        attack(&|from| from.origin = attacker("http://127.0.0.1:1")),
        403
    );
    assert_eq!(attack(&|from| from.origin = None), 403);
    assert_eq!(attack(&|from| from.content_type = "text/plain"), 415);
    assert_eq!(
        attack(&|from| from.content_type = "application/x-www-form-urlencoded"),
        415
    );
    // DNS rebinding: the attacker's name leads here, and its Origin equals the Host.
    let rebound = |from: &mut Browser| {
        from.host = "attacker.example".to_owned();
        from.origin = attacker("http://attacker.example");
    };
    assert_eq!(attack(&rebound), 403);
    let mut rebinding = Browser::new(browser.address);
    rebound(&mut rebinding);
    for path in ["/", "/api/filters", "/api/session", "/api/events"] {
        assert_eq!(rebinding.get(path).status, 403, "{path}");
    }
    // A collector of metrics may use any name; a browser may not.
    assert_eq!(rebinding.get("/metrics").status, 200);
    rebinding.more = "Accept-Language: en\r\n".to_owned();
    assert_eq!(rebinding.get("/metrics").status, 403);
    // Reading across sites, as browsers mark it.
    let mut reading = Browser::new(browser.address);
    reading.more = "Sec-Fetch-Site: cross-site\r\n".to_owned();
    assert_eq!(reading.get("/api/filters").status, 403);
    // A link from another site may lead to the page.
    assert_eq!(reading.get("/").status, 200);
    server.client().expect("BF.EXISTS seen x", ":1\r\n");
    assert_eq!(browser.post("/api/delete", &body).status, 200);
}

#[test]
fn a_given_name_is_allowed() {
    let (_folder, mut options) = options();
    options.http_options.hosts = vec!["dash.example".to_owned()];
    let (_server, mut browser) = start(&options);
    browser.host = "dash.example".to_owned();
    browser.origin = Some("https://dash.example".to_owned());
    let body = json!({ "key": "b", "kind": "bloom", "capacity": 10, "rate": 0.01 });
    assert_eq!(browser.post("/api/reserve", &body).status, 200);
}

#[test]
fn a_read_only_page_changes_nothing() {
    let (_folder, mut options) = options();
    options.http_options.is_read_only = true;
    let (server, browser) = start(&options);
    server.client().expect("BF.ADD seen x", ":1\r\n");
    assert_eq!(browser.get("/api/session").json()["read_only"], true);
    for path in ["/api/add", "/api/reserve", "/api/delete"] {
        let body = json!({ "key": "seen", "items": ["y"] });
        assert_eq!(browser.post(path, &body).status, 403, "{path}");
    }
    let found = browser.post("/api/query", &json!({ "key": "seen", "items": ["x", "y"] }));
    assert_eq!(found.json(), json!({ "found": [true, false] }));
}

#[test]
fn hostile_names_and_items_are_only_text() {
    let (_folder, options) = options();
    let (server, browser) = start(&options);
    let mut client = server.client();
    let long = "<b>\u{7f}".repeat(2500);
    let names: [&[u8]; 5] = [
        b"<img src=x onerror=alert(1)>",
        b"a\r\nSet-Cookie: x=1\0\x1b[31m",
        b"\xff\xfe",
        "\u{202e}\u{2028}\"\\".as_bytes(),
        long.as_bytes(),
    ];
    for name in names {
        assert_eq!(client.raw(&[b"BF.ADD", name, b"\xff"]), b":1\r\n");
    }
    let response = browser.get("/api/filters?per=500");
    assert_eq!(response.status, 200);
    assert!(response.head.contains("\r\nContent-Type: application/json"));
    assert!(
        response
            .head
            .contains("\r\nX-Content-Type-Options: nosniff")
    );
    let all = response.json();
    let rows = all["filters"].as_array().unwrap();
    assert_eq!(rows.len(), names.len());
    for row in rows {
        let shown = row["name_shown"].as_str().unwrap();
        assert!(!shown.contains(|c: char| c.is_control()), "{shown:?}");
        // The key of the answer is the key of the next request.
        let (key, encoding) = (&row["key"], &row["encoding"]);
        let items = if encoding == "base64" {
            json!(["/w=="])
        } else {
            json!(["y"])
        };
        let body = json!({ "key": key, "encoding": encoding, "items": items });
        let found = browser.post("/api/query", &body);
        assert_eq!(
            found.json()["found"],
            json!([encoding == "base64"]),
            "{}",
            found.body
        );
    }
    let one = browser.get("/api/filter?encoding=base64&key=%2F%2F4%3D");
    assert_eq!(one.json()["key"], "//4=", "{}", one.body);
    // In a URL it takes three times the space.
    let escaped = "%3C%62%3E%7F".repeat(2500);
    let one = browser.get(&format!("/api/filter?key={escaped}"));
    assert_eq!(one.json()["key"], *long, "{}", one.body);
}

#[test]
fn names_of_megabytes_do_not_fill_the_memory() {
    let (_folder, options) = options();
    let (server, browser) = start(&options);
    let mut client = server.client();
    let enormous = |letter: u8| vec![letter; 2 << 20];
    for letter in [1, 0xff, b'x'] {
        assert_eq!(
            client.raw(&[&b"BF.ADD"[..], &enormous(letter), b"y"]),
            b":1\r\n"
        );
    }
    let wide = "\u{1f600}".repeat(5000);
    assert_eq!(client.raw(&[b"BF.ADD", wide.as_bytes(), b"y"]), b":1\r\n");
    let response = browser.get("/api/filters");
    assert!(response.body.len() < 64 << 10, "{}", response.body.len());
    let all = response.json();
    let rows = all["filters"].as_array().unwrap();
    let shown = |row: usize| rows[row]["name_shown"].as_str().unwrap();
    assert_eq!(shown(0), format!("{}…", "\\x01".repeat(1000)));
    assert_eq!(shown(1), format!("{}…", "x".repeat(1000)));
    assert_eq!(shown(2), format!("{}…", "\u{1f600}".repeat(250)));
    for row in rows {
        assert_eq!(row["encoding"], "cut", "{}", row["name_shown"]);
    }
    let metrics = browser.get("/metrics").body;
    assert!(metrics.len() < 64 << 10, "{}", metrics.len());
    assert_eq!(browser.get("/api/filter?key=x&encoding=cut").status, 400);
}

#[test]
fn the_table_is_searched_sorted_and_paged_on_the_server() {
    let (_folder, options) = options();
    let (server, browser) = start(&options);
    let mut client = server.client();
    for number in 0..300 {
        let (size, keys) = (1000 + 100 * number, number % 50);
        client.expect(
            &format!("BF.RESERVE Key:{number:03} 0.01 {size}"),
            "+OK\r\n",
        );
        for key in 0..keys {
            client.call(&format!("BF.ADD Key:{number:03} {key}"));
        }
    }
    let names = |query: &str| -> (u64, Vec<String>) {
        let found = browser.get(&format!("/api/filters?{query}")).json();
        let rows = found["filters"].as_array().unwrap();
        let name = |row: &Value| row["key"].as_str().unwrap().to_owned();
        (
            found["matching"].as_u64().unwrap(),
            rows.iter().map(name).collect(),
        )
    };
    assert_eq!(
        names("per=2"),
        (300, vec!["Key:000".into(), "Key:001".into()])
    );
    assert_eq!(
        names("per=2&page=150"),
        (300, vec!["Key:298".into(), "Key:299".into()])
    );
    assert_eq!(names("per=2&page=151"), (300, vec![]));
    assert_eq!(names("per=1&order=desc"), (300, vec!["Key:299".into()]));
    assert_eq!(names("per=1&sort=size&order=desc").1, ["Key:299"]);
    let most = &names("per=1&sort=keys&order=desc").1[0];
    assert!(most.ends_with("49") || most.ends_with("99"), "{most}");
    assert_eq!(names("search=key:07").0, 10);
    assert_eq!(names("search=*7").0, 30);
    assert_eq!(names("search=nothing").0, 0);
    assert_eq!(names("search=%3Cimg").0, 0);
    // All pages together have every name once.
    let mut all: Vec<String> = (1..=8)
        .flat_map(|page| names(&format!("per=40&sort=fill&page={page}")).1)
        .collect();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 300);
}

#[test]
fn events_follow_the_load_and_end_with_the_server() {
    let (_folder, options) = options();
    let (server, browser) = start(&options);
    let mut client = server.client();
    client.expect("CONFIG SET slowlog-log-slower-than 0", "+OK\r\n");
    let mut events = browser.events();
    let first = events.next().expect("an event");
    assert_eq!(first["commands"]["per_second"], Value::Null);
    assert_eq!(first["clients"]["event_streams"], 1);
    for _ in 0..1000 {
        client.call("BF.ADD seen x");
    }
    // The calls are in this event or the next.
    let mut calls = 0.0;
    let mut last = Value::Null;
    for _ in 0..3 {
        last = events.next().expect("an event");
        let by_name = last["commands"]["by_name"].as_array().unwrap();
        let add = by_name.iter().find(|row| row["name"] == "bf.add");
        if let Some(add) = add.filter(|add| add["per_second"].as_f64() > Some(0.0)) {
            calls += add["per_second"].as_f64().unwrap();
            let (half, most) = (add["p50_us"].as_f64(), add["max_us"].as_f64());
            assert!(half > Some(0.0) && half <= most, "{add}");
        }
    }
    assert!(calls > 0.0, "{last}");
    assert_eq!(last["keys"]["total"], 1);
    assert_eq!(last["slowlog"][0]["words"][0], "BF.ADD");
    assert_eq!(last["log"]["broken"], Value::Null);
    assert!(last["memory"]["used_bytes"].as_u64() > Some(100));
    server.end();
    assert!(events.count() <= 1);
}

#[test]
fn streams_of_events_are_counted() {
    let (_folder, options) = options();
    let (_server, browser) = start(&options);
    let mut streams: Vec<Events> = (0..64).map(|_| browser.events()).collect();
    for events in &mut streams {
        assert!(events.next().is_some());
    }
    let refused = browser.get("/api/events");
    assert_eq!(refused.status, 503, "{}", refused.body);
    // Other requests are not affected.
    assert_eq!(browser.get("/api/filters").status, 200);
    assert_eq!(browser.get("/health").status, 200);
}

#[test]
fn files_of_the_page_have_a_tag_and_a_policy() {
    let (_folder, options) = options();
    let (_server, browser) = start(&options);
    let page = browser.get("/");
    assert_eq!(page.status, 200);
    assert!(
        page.head
            .contains("\r\nContent-Type: text/html; charset=utf-8")
    );
    assert!(
        page.head
            .contains("Content-Security-Policy: default-src 'none'; script-src 'self';")
    );
    let tag = page
        .head
        .lines()
        .find_map(|line| line.strip_prefix("ETag: "))
        .unwrap();
    let mut again = Browser::new(browser.address);
    again.more = format!("If-None-Match: {tag}\r\n");
    let again = again.get("/");
    assert_eq!((again.status, again.body.as_str()), (304, ""));
    assert_eq!(browser.get("/server.js").status, 200);
    for path in [
        "/../Cargo.toml",
        "/page/index.html",
        "//index.html",
        "/index.html/",
        "/%2e%2e/",
    ] {
        assert_eq!(browser.get(path).status, 404, "{path}");
    }
    assert_eq!(browser.send("POST /", "").status, 405);
    assert_eq!(browser.send("HEAD /api/filters", "").status, 405);
    assert_eq!(browser.send("DELETE /api/filters", "").status, 405);
}
