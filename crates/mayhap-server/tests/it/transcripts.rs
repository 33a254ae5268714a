//! 27,579 commands, good and bad, with the replies of the real RedisBloom: the server's must be the same, byte for byte.

use crate::client::Client;
use crate::recorded::expect_every_reply;
use crate::{Running, folder, redisbloom};

#[test]
fn every_reply_is_that_of_redisbloom() {
    let (_folder, mut options) = folder();
    redisbloom(&mut options);
    let server = Running::with(&options);
    let connect = |protocol| {
        let mut client = server.client();
        client.ask(&format!("HELLO {protocol}"));
        client.expect("FLUSHALL", "+OK\r\n");
        client
    };
    expect_every_reply(connect, Client::raw);
}
