//! 27,579 commands with the replies of the real RedisBloom on Redis 8: the module's inside of redis-server 7.0 are the same, byte for
//! byte. Nothing that the engine itself answers differs either.

use crate::Engine;
use crate::recorded::sequences;

#[test]
fn every_reply_is_that_of_redisbloom() {
    let engine = Engine::start(&["layout", "redisbloom"], &[]);
    let mut count = 0;
    for sequence in sequences() {
        let mut client = engine.client();
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
    engine.expect_health();
}
