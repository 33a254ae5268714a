//! 27,579 commands, good and bad, with the replies of the real RedisBloom: the server's must be the same, byte for byte.

use crate::recorded::sequences;
use crate::{Running, folder, redisbloom};

#[test]
fn every_reply_is_that_of_redisbloom() {
    let (_folder, mut options) = folder();
    redisbloom(&mut options);
    let server = Running::with(&options);
    let mut count = 0;
    for sequence in sequences() {
        let mut client = server.client();
        client.ask(&format!("HELLO {}", sequence.protocol));
        client.expect("FLUSHALL", "+OK\r\n");
        for (at, step) in sequence.steps.iter().enumerate() {
            let reply = client.raw(&step.words);
            assert!(
                reply == step.reply,
                "{} step {at}: {}\n ours   {}\n theirs {}",
                sequence.id,
                step.words.join(&b' ').escape_ascii(),
                reply.escape_ascii(),
                step.reply.escape_ascii(),
            );
            count += 1;
        }
    }
    assert_eq!(count, 27_579);
}
