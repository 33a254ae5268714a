//! 27,579 commands with the replies of RedisBloom on Redis 8: the module's replies in redis-server 7.0 are identical, byte for byte, and so
//! are the engine's own.

use crate::Engine;
use mayhap_testkit::raw_client::RawClient;
use mayhap_testkit::transcripts::expect_every_reply;

#[test]
fn every_reply_is_identical_to_redisbloom() {
    let engine = Engine::start(&["layout", "redisbloom"], &[]);
    let connect = |protocol| {
        let mut client = engine.client();
        client.call(&format!("HELLO {protocol}"));
        client.expect("FLUSHALL", "+OK\r\n");
        client
    };
    expect_every_reply(connect, RawClient::raw);
    engine.expect_health();
}
