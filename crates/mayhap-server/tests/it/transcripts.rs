//! 27,579 commands, good and bad, with the replies of the real RedisBloom: the server's must be the same, byte for byte.

use crate::{Running, folder, redisbloom};
use mayhap_testkit::raw_client::RawClient;
use mayhap_testkit::transcripts::expect_every_reply;

#[test]
fn every_reply_is_that_of_redisbloom() {
    let (_folder, mut options) = folder();
    redisbloom(&mut options);
    let server = Running::with(&options);
    let connect = |protocol| {
        let mut client = server.client();
        client.call(&format!("HELLO {protocol}"));
        client.expect("FLUSHALL", "+OK\r\n");
        client
    };
    expect_every_reply(connect, RawClient::raw);
}
