//! Redis's own commands, as far as we have them.

use crate::{Running, folder};

#[test]
fn greetings() {
    let (_folder, options) = folder();
    let server = Running::with(&options);
    let mut client = server.client();
    client.expect("PING", "+PONG\r\n");
    client.expect("ping hi", "$2\r\nhi\r\n");
    client.expect("ECHO x", "$1\r\nx\r\n");
    client.expect("SELECT 0", "+OK\r\n");
    client.expect("SELECT 1", "-ERR DB index is out of range\r\n");
    client.expect(
        "GET",
        "-ERR wrong number of arguments for 'get' command\r\n",
    );
    client.expect(
        "FROB a b",
        "-ERR unknown command 'FROB', with args beginning with: 'a' 'b' \r\n",
    );
    assert!(client.call("HELLO 3").starts_with("%7\r\n$6\r\nserver\r\n"));
    client.expect("GET nothing", "_\r\n");
    client.expect("HELLO 4", "-NOPROTO unsupported protocol version\r\n");
    client.expect("RESET", "+RESET\r\n");
    client.expect("GET nothing", "$-1\r\n");
    client.expect("QUIT", "+OK\r\n");
    assert!(client.is_closed());
}

#[test]
fn strings_and_types() {
    let (_folder, options) = folder();
    let server = Running::with(&options);
    let mut client = server.client();
    client.expect("SET s hello", "+OK\r\n");
    client.expect("GET s", "$5\r\nhello\r\n");
    client.expect("STRLEN s", ":5\r\n");
    client.expect("SET s x NX", "$-1\r\n");
    client.expect("SET s x XX GET", "$5\r\nhello\r\n");
    client.expect(
        "BF.ADD s a",
        "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n",
    );
    client.expect("BF.ADD b a", ":1\r\n");
    client.expect(
        "GET b",
        "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n",
    );
    client.expect("TYPE b", "+mayhap-bf\r\n");
    client.expect("TYPE s", "+string\r\n");
    client.expect("TYPE none", "+none\r\n");
    client.expect("EXISTS b s b none", ":3\r\n");
    client.expect("DBSIZE", ":2\r\n");
    client.expect("RENAME b c", "+OK\r\n");
    client.expect("BF.EXISTS c a", ":1\r\n");
    client.expect("RENAMENX c s", ":0\r\n");
    client.expect("COPY c d", ":1\r\n");
    client.expect("COPY c d", ":0\r\n");
    client.expect("COPY c d REPLACE", ":1\r\n");
    client.expect("BF.ADD d b", ":1\r\n");
    client.expect("BF.EXISTS c b", ":0\r\n");
    client.expect("UNLINK c d none", ":2\r\n");
    client.expect("RENAME none x", "-ERR no such key\r\n");
    client.expect("FLUSHALL", "+OK\r\n");
    client.expect("DBSIZE", ":0\r\n");
}

#[test]
fn keys_expire() {
    let (_folder, options) = folder();
    let server = Running::with(&options);
    let mut client = server.client();
    client.expect("BF.ADD b a", ":1\r\n");
    client.expect("TTL b", ":-1\r\n");
    client.expect("TTL none", ":-2\r\n");
    client.expect("EXPIRE b 100", ":1\r\n");
    client.expect("TTL b", ":100\r\n");
    client.expect("EXPIRE b 50 GT", ":0\r\n");
    client.expect("EXPIRE b 200 NX", ":0\r\n");
    client.expect(
        "EXPIRE b 50 NX XX",
        "-ERR NX and XX, GT or LT options at the same time are not compatible\r\n",
    );
    client.expect("EXPIREAT b 4102444800", ":1\r\n");
    client.expect("EXPIRETIME b", ":4102444800\r\n");
    client.expect("PERSIST b", ":1\r\n");
    client.expect("TTL b", ":-1\r\n");
    client.expect("PEXPIRE b 1", ":1\r\n");
    while client.call("EXISTS b") != ":0\r\n" {}
    client.expect("BF.EXISTS b a", ":0\r\n");
    client.expect("BF.ADD b z", ":1\r\n");
    client.expect("TTL b", ":-1\r\n");
    client.expect("EXPIRE b -1", ":1\r\n");
    client.expect("EXISTS b", ":0\r\n");
    client.expect(
        "SET s x EX 0",
        "-ERR invalid expire time in 'set' command\r\n",
    );
    client.expect("SET s x EX 100", "+OK\r\n");
    client.expect("SET s y KEEPTTL", "+OK\r\n");
    client.expect("TTL s", ":100\r\n");
    client.expect("SET s y", "+OK\r\n");
    client.expect("TTL s", ":-1\r\n");
    client.expect(
        "EXPIRE s 9223372036854775807",
        "-ERR invalid expire time in 'expire' command\r\n",
    );
    // One that nobody asks for is removed all the same.
    client.expect("SET gone x PX 1", "+OK\r\n");
    while client.call("DBSIZE") != ":1\r\n" {}
}

#[test]
fn transactions() {
    let (_folder, options) = folder();
    let server = Running::with(&options);
    let (mut one, mut other) = (server.client(), server.client());
    one.expect("MULTI", "+OK\r\n");
    one.expect("BF.ADD b x", "+QUEUED\r\n");
    one.expect("BF.EXISTS b x", "+QUEUED\r\n");
    one.expect("GET b", "+QUEUED\r\n");
    other.expect("EXISTS b", ":0\r\n");
    one.expect(
        "EXEC",
        "*3\r\n:1\r\n:1\r\n-WRONGTYPE Operation against a key holding the wrong kind of value\r\n",
    );
    one.expect("EXEC", "-ERR EXEC without MULTI\r\n");
    one.expect("MULTI", "+OK\r\n");
    one.expect(
        "FROB",
        "-ERR unknown command 'FROB', with args beginning with: \r\n",
    );
    one.expect(
        "EXEC",
        "-EXECABORT Transaction discarded because of previous errors.\r\n",
    );
    one.expect("WATCH b", "+OK\r\n");
    other.expect("BF.ADD b y", ":1\r\n");
    one.expect("MULTI", "+OK\r\n");
    one.expect("BF.ADD b z", "+QUEUED\r\n");
    one.expect("EXEC", "*-1\r\n");
    one.expect("BF.EXISTS b z", ":0\r\n");
    one.expect("WATCH b", "+OK\r\n");
    one.expect("MULTI", "+OK\r\n");
    one.expect("MULTI", "-ERR MULTI calls can not be nested\r\n");
    one.expect("BF.ADD b z", "+QUEUED\r\n");
    one.expect("EXEC", "*1\r\n:1\r\n");
    one.expect("MULTI", "+OK\r\n");
    one.expect("SAVE", "-ERR Command not allowed inside a transaction\r\n");
    one.expect("DISCARD", "+OK\r\n");
}

#[test]
fn all_keys_are_scanned() {
    let (_folder, options) = folder();
    let server = Running::with(&options);
    let mut client = server.client();
    for key in 0..500 {
        client.expect(&format!("SET key:{key} x"), "+OK\r\n");
    }
    client.expect("BF.ADD filter a", ":1\r\n");
    let (mut cursor, mut seen) = ("0".to_owned(), std::collections::HashSet::new());
    loop {
        let reply = client.call(&format!("SCAN {cursor} COUNT 7 MATCH key:*"));
        let lines: Vec<&str> = reply.split("\r\n").collect();
        cursor = lines[2].to_owned();
        seen.extend(
            lines
                .iter()
                .filter(|line| line.starts_with("key:"))
                .map(|line| (*line).to_owned()),
        );
        if cursor == "0" {
            break;
        }
    }
    assert_eq!(seen.len(), 500);
    assert!(
        client
            .call("SCAN 0 COUNT 100000 TYPE mayhap-bf")
            .contains("*1\r\n$6\r\nfilter\r\n")
    );
    assert!(client.call("KEYS key:49?").starts_with("*10\r\n"));
    client.expect("SCAN x", "-ERR invalid cursor\r\n");
}

#[test]
fn values_travel() {
    let (_folder, options) = folder();
    let server = Running::with(&options);
    let mut client = server.client();
    client.expect("SET s hello", "+OK\r\n");
    client.expect("BF.MADD b x y", "*2\r\n:1\r\n:1\r\n");
    client.expect("CF.ADD c x", ":1\r\n");
    for key in ["s", "b", "c"] {
        let dumped = client.raw(&["DUMP", key]);
        let start = dumped
            .iter()
            .position(|byte| *byte == b'\n')
            .expect("a bulk")
            + 1;
        let payload = &dumped[start..dumped.len() - 2];
        let mut words = vec![
            b"RESTORE".to_vec(),
            b"back".to_vec(),
            b"0".to_vec(),
            payload.to_vec(),
        ];
        assert_eq!(client.raw(&words), b"+OK\r\n", "{key}");
        assert_eq!(
            client.raw(&words),
            b"-BUSYKEY Target key name already exists.\r\n"
        );
        assert_eq!(client.raw(&["DUMP", "back"]), dumped, "{key}");
        words.push(b"REPLACE".to_vec());
        assert_eq!(client.raw(&words), b"+OK\r\n", "{key}");
        let last = words[3].len() - 1;
        words[3][last] ^= 1;
        assert_eq!(
            client.raw(&words),
            b"-ERR DUMP payload version or checksum are wrong\r\n"
        );
        client.expect("DEL back", ":1\r\n");
    }
    client.expect("DUMP none", "$-1\r\n");
}

#[test]
fn settings_are_shown_and_set() {
    let (_folder, options) = folder();
    let server = Running::with(&options);
    let mut client = server.client();
    client.expect(
        "CONFIG GET bf-error-rate",
        "*2\r\n$13\r\nbf-error-rate\r\n$4\r\n0.01\r\n",
    );
    client.expect("CONFIG SET bf-error-rate 0.001 cf-bucket-size 4", "+OK\r\n");
    client.expect(
        "CONFIG GET bf-error-rate",
        "*2\r\n$13\r\nbf-error-rate\r\n$5\r\n0.001\r\n",
    );
    client.expect("CONFIG SET mayhap-layout redisbloom", "+OK\r\n");
    client.expect("BF.ADD r x", ":1\r\n");
    client.expect("TYPE r", "+MBbloom--\r\n");
    client.expect("CONFIG SET mayhap.layout native", "+OK\r\n");
    client.expect("BF.ADD n x", ":1\r\n");
    client.expect("TYPE n", "+mayhap-bf\r\n");
    assert!(
        client
            .call("CONFIG SET bf-error-rate 7")
            .starts_with("-ERR CONFIG SET failed")
    );
    assert!(
        client
            .call("CONFIG SET frob 7")
            .starts_with("-ERR Unknown option")
    );
    assert!(client.call("CONFIG SET port 7").contains("immutable"));
    client.expect("CONFIG SET maxmemory 1", "+OK\r\n");
    client.expect(
        "BF.ADD n y",
        "-OOM command not allowed when used memory > 'maxmemory'.\r\n",
    );
    client.expect("BF.EXISTS n x", ":1\r\n");
}

#[test]
fn commands_require_the_password() {
    let (_folder, mut options) = folder();
    options.password = b"open sesame".to_vec();
    let server = Running::with(&options);
    let mut client = server.client();
    client.expect("PING", "-NOAUTH Authentication required.\r\n");
    client.expect(
        "AUTH wrong",
        "-WRONGPASS invalid username-password pair or user is disabled.\r\n",
    );
    assert!(client.call("HELLO 3").starts_with("-NOAUTH HELLO"));
    assert_eq!(client.raw(&["AUTH", "open sesame"]), b"+OK\r\n");
    client.expect("PING", "+PONG\r\n");
    client.expect("RESET", "+RESET\r\n");
    client.expect("PING", "-NOAUTH Authentication required.\r\n");
    let hello = client.raw(&["HELLO", "3", "AUTH", "default", "open sesame"]);
    assert!(hello.starts_with(b"%7\r\n"));
    client.expect("PING", "+PONG\r\n");
}

#[test]
fn clients_are_listed_and_can_be_killed() {
    let (_folder, options) = folder();
    let server = Running::with(&options);
    let (mut one, mut other) = (server.client(), server.client());
    one.expect("CLIENT SETNAME boss", "+OK\r\n");
    one.expect("CLIENT GETNAME", "$4\r\nboss\r\n");
    one.expect("CLIENT SETINFO LIB-NAME test", "+OK\r\n");
    assert!(one.call("CLIENT LIST").contains("name=boss"));
    let id = other.call("CLIENT ID");
    let id = id.trim_start_matches(':').trim().to_owned();
    one.expect(&format!("CLIENT KILL ID {id}"), ":1\r\n");
    assert!(other.is_closed());
}

#[test]
fn info_reports_the_state_of_the_server() {
    let (_folder, mut options) = folder();
    options.http = Some(([127, 0, 0, 1], 0).into());
    let server = Running::with(&options);
    let mut client = server.client();
    client.expect("BF.RESERVE seen 0.01 1000", "+OK\r\n");
    client.expect("BF.ADD seen x", ":1\r\n");
    let (info, all) = (client.call("INFO"), client.call("INFO everything"));
    for part in ["redis_version:7.", "# Persistence\r\n", "db0:keys=1,"] {
        assert!(info.contains(part), "{part} in {info}");
    }
    // To tell it means to read all of the filter: only for who asks.
    assert!(all.contains("filter_seen:type=mayhap-bf") && !info.contains("filter_seen"));
    assert!(!client.call("INFO server").contains("# Keyspace"));
    assert!(client.call("COMMAND COUNT").starts_with(':'));
    assert!(
        client
            .call("COMMAND INFO bf.add get")
            .starts_with("*2\r\n*10\r\n$6\r\nbf.add\r\n:3\r\n")
    );
    assert!(
        client
            .call("COMMAND DOCS bf.add")
            .starts_with("*2\r\n$6\r\nbf.add\r\n")
    );
    client.expect(
        "COMMAND GETKEYS BF.MERGE a b c",
        "*3\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n",
    );
    assert!(client.call("MODULE LIST").contains("$2\r\nbf\r\n"));
    assert!(client.call("MEMORY USAGE seen").starts_with(":1"));
    client.expect("OBJECT ENCODING seen", "$3\r\nraw\r\n");
    client.expect("SLOWLOG LEN", ":0\r\n");
    let page = get(server.http.expect("an address"), "/metrics");
    assert!(page.starts_with("HTTP/1.1 200 "), "{page}");
    assert!(
        page.contains("mayhap_filter_rate_asked{key=\"seen\",type=\"mayhap-bf\"} 0.01\n"),
        "{page}"
    );
    assert!(get(server.http.expect("an address"), "/health").ends_with("ok\n"));
    assert!(get(server.http.expect("an address"), "/frob").starts_with("HTTP/1.1 404 "));
}

fn get(address: std::net::SocketAddr, path: &str) -> String {
    use std::io::{Read, Write};
    let mut stream = std::net::TcpStream::connect(address).expect("it listens");
    let head = format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).expect("sent");
    let mut page = String::new();
    stream.read_to_string(&mut page).expect("a page");
    page
}

#[test]
fn an_exported_file_does_not_contain_the_secret() {
    let (folder, options) = folder();
    let server = Running::with(&options);
    let mut client = server.client();
    client.expect("BF.MADD seen apple pear", "*2\r\n:1\r\n:1\r\n");
    assert!(
        client
            .call("MAYHAP.EXPORT seen out.mayhap")
            .starts_with(':')
    );
    client.expect("BF.MEXISTS out.mayhap apple plum", "*2\r\n:1\r\n:0\r\n");
    assert!(
        client
            .call("MAYHAP.EXPORT seen out.mayhap")
            .starts_with("-ERR the file out.mayhap exists")
    );
    assert!(
        client
            .call("MAYHAP.EXPORT seen out.mayhap REPLACE")
            .starts_with(':')
    );
    for bad in ["../out", ".out", "a/b", "store"] {
        assert!(
            client
                .call(&format!("MAYHAP.EXPORT seen {bad}"))
                .starts_with("-ERR"),
            "{bad}"
        );
    }
    client.expect("MAYHAP.EXPORT none x.mayhap", "-ERR not found\r\n");
    let bytes = std::fs::read(folder.path().join("out.mayhap")).expect("the file");
    let limits = mayhap_codec::Limits::default();
    assert!(
        mayhap_codec::native::decode(&bytes, limits).is_err(),
        "it has no key inside"
    );
    let key = std::fs::read_to_string(folder.path().join("store/secret.key")).expect("the key");
    let key = u128::from_str_radix(key.trim(), 16)
        .expect("digits")
        .to_be_bytes();
    assert!(!bytes.windows(16).any(|part| part == key));
    let key = mayhap_core::SipKey::new(key);
    let filter = mayhap_codec::native::decode_with_key(&bytes, limits, key).expect("a filter");
    assert!(filter.contains("apple") && !filter.contains("plum"));
}
