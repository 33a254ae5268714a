//! What clients of others were found to expect, beyond what the generic commands say.

use crate::{Running, folder};

#[test]
fn unknown_subcommands_get_redis_errors() {
    let (_folder, options) = folder();
    let server = Running::with(&options);
    let mut client = server.client();
    for (line, reply) in [
        (
            "CLIENT NONSENSE",
            "unknown subcommand 'NONSENSE'. Try CLIENT HELP.",
        ),
        (
            "config nonsense",
            "unknown subcommand 'nonsense'. Try CONFIG HELP.",
        ),
        (
            "CLIENT SETNAME",
            "wrong number of arguments for 'client|setname' command",
        ),
        (
            "client ID x",
            "wrong number of arguments for 'client|id' command",
        ),
        (
            "CONFIG SET maxmemory 1 maxmemory 2",
            "CONFIG SET failed (possibly related to argument 'maxmemory') - duplicate parameter",
        ),
        ("CONFIG SET maxmemory 1 maxclients", "syntax error"),
        ("CLIENT TRACKING maybe", "syntax error"),
        (
            "CLIENT LIST TYPE nonsense",
            "Unknown client type 'nonsense'",
        ),
        ("CLIENT KILL USER nobody", "No such user 'nobody'"),
        (
            "MEMORY USAGE",
            "wrong number of arguments for 'memory|usage' command",
        ),
        (
            "MEMORY USAGE k SAMPLES x",
            "value is not an integer or out of range",
        ),
        (
            "RESTORE k 0 x FREQ 300",
            "Invalid FREQ value, must be >= 0 and <= 255",
        ),
        (
            "RESTORE k 0 x IDLETIME -1",
            "Invalid IDLETIME value, must be >= 0",
        ),
        ("EXPIRE k 10 Nonsense", "Unsupported option Nonsense"),
        (
            "COMMAND GETKEYS GET a b",
            "Invalid number of arguments specified for command",
        ),
    ] {
        client.expect(line, &format!("-ERR {reply}\r\n"));
    }
    // Also when it is queued: the whole is not done then.
    client.expect("MULTI", "+OK\r\n");
    client.expect(
        "CLIENT SETNAME",
        "-ERR wrong number of arguments for 'client|setname' command\r\n",
    );
    client.expect(
        "EXEC",
        "-EXECABORT Transaction discarded because of previous errors.\r\n",
    );
}

#[test]
fn an_existing_key_is_reported_before_its_ttl_is_parsed() {
    let (_folder, options) = folder();
    let server = Running::with(&options);
    let mut client = server.client();
    client.expect("SET s 12", "+OK\r\n");
    client.expect(
        "RESTORE s x y",
        "-BUSYKEY Target key name already exists.\r\n",
    );
    client.expect(
        "RESTORE t x y",
        "-ERR value is not an integer or out of range\r\n",
    );
    client.expect("OBJECT ENCODING s", "$3\r\nint\r\n");
    client.expect("COMMAND INFO nonsense", "*1\r\n$-1\r\n");
}

#[test]
fn a_client_sees_itself_listing() {
    let (_folder, options) = folder();
    let server = Running::with(&options);
    let mut client = server.client();
    assert!(client.call("CLIENT LIST").contains(" cmd=client|list "));
    assert!(client.call("CLIENT INFO").contains(" cmd=client|info "));
}

#[test]
fn a_client_that_was_killed_is_not_listed_any_more() {
    let (_folder, options) = folder();
    let server = Running::with(&options);
    let mut client = server.client();
    for _ in 0..100 {
        let mut other = server.client();
        let id = other.call("CLIENT ID");
        let id = id.trim_start_matches(':').trim_end();
        client.expect(&format!("CLIENT KILL ID {id}"), ":1\r\n");
        client.expect(&format!("CLIENT KILL ID {id}"), ":0\r\n");
        let listed = client.call("CLIENT LIST");
        assert!(!listed.contains(&format!("id={id} ")), "{listed}");
        assert!(other.is_closed());
    }
}

#[test]
fn the_slowlog_records_everything_at_threshold_zero_and_no_passwords() {
    let (_folder, options) = folder();
    let server = Running::with(&options);
    let mut client = server.client();
    client.expect("CONFIG SET slowlog-log-slower-than 0", "+OK\r\n");
    client.expect("SLOWLOG RESET", "+OK\r\n");
    client.expect("ECHO some-word", "$9\r\nsome-word\r\n");
    client.expect("AUTH default very-secret", "+OK\r\n");
    client.expect("CONFIG SET requirepass very-secret", "+OK\r\n");
    let told = client.call("SLOWLOG GET -1");
    assert!(told.contains("some-word"), "{told}");
    assert!(!told.contains("very-secret"), "{told}");
    client.expect("CONFIG SET slowlog-log-slower-than -1", "+OK\r\n");
    client.expect("SLOWLOG RESET", "+OK\r\n");
    client.expect("PING", "+PONG\r\n");
    client.expect("SLOWLOG LEN", ":0\r\n");
}
