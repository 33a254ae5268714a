//! 27,579 commands with the replies of the real RedisBloom on Redis 8: the module's inside of redis-server 7.0 are the same, byte for
//! byte. Nothing that the engine itself answers differs either.

use crate::Engine;
use mayhap_testkit::raw_client::RawClient;
use mayhap_testkit::transcripts::expect_every_reply;

#[test]
fn every_reply_is_that_of_redisbloom() {
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
