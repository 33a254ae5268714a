//! Replaying what was replicated gives identical filters, to the bit, whatever the settings and secrets of the replica.

use crate::host::Host;
use mayhap_command::{Config, Layout, Reply, find};
use mayhap_core::{SipKey, Timestamp};
use mayhap_testkit::random_commands::{KEYS, random_write};
use mayhap_testkit::{Random, is_soak};

fn configure(random: &mut Random, config: &mut Config) {
    config.layout = random.choose(&[Layout::Native, Layout::RedisBloom]);
    config.bf_error_rate = random.choose(&[0.01, 0.1, 0.0001]);
    config.bf_initial_size = random.choose(&[1, 10, 100, 1000]);
    config.bf_expansion = random.choose(&[0, 1, 2, 7]);
    config.cf_bucket_size = random.choose(&[1, 2, 4]);
    config.cf_initial_size = random.choose(&[8, 64, 1024]);
    config.cf_max_iterations = random.choose(&[1, 20]);
    config.cf_expansion = random.choose(&[0, 1, 2]);
    config.cf_max_expansions = random.choose(&[1, 2, 32]);
}

/// Copies a filter in chunks, or only the first few of them.
fn copy(host: &mut Host, random: &mut Random) {
    let family = random.choose(&["BF", "CF"]);
    let (from, to) = (random.choose(&KEYS), random.choose(&KEYS));
    let mut iterator = 0;
    while !random.one_in(8) {
        let reply = host.run_line(&format!("{family}.SCANDUMP {from} {iterator}"));
        let Reply::Array(parts) = reply else { return };
        let [Reply::Integer(next), Reply::Bulk(chunk)] = parts.as_slice() else {
            return;
        };
        if *next == 0 {
            return;
        }
        iterator = *next;
        let load = format!("{family}.LOADCHUNK");
        host.run(&[
            load.as_bytes(),
            to.as_bytes(),
            iterator.to_string().as_bytes(),
            chunk,
        ]);
    }
}

#[test]
fn replicas_have_identical_filters() {
    let sequences = if is_soak() { 20_000 } else { 1200 };
    let (mut refused, mut grown, mut native) = (0, 0, 0);
    for seed in 0..sequences {
        let mut random = Random::new(seed);
        let mut host = Host::new(Config::default());
        configure(&mut random, &mut host.config);
        host.max_bytes = random.choose(&[300, 2000, 10_000, 1 << 30]);
        host.replicates_times = random.one_in(2);
        if random.one_in(3) {
            // Keys of older versions.
            host.load_counting_bloom(random.choose(&KEYS), 0.01, 10);
            if host.max_bytes > 1000 {
                host.load_ring(random.choose(&KEYS), 0.01, 10, 2);
            }
        }
        for _ in 0..150 {
            if random.one_in(20) {
                copy(&mut host, &mut random);
            }
            if random.one_in(40) {
                configure(&mut random, &mut host.config);
                host.secret = SipKey::new([random.below(3) as u8; 16]);
            }
            host.now = Timestamp(host.now.0 + random.below(700));
            let mut line = random_write(&mut random);
            let is_ours = find(line.split(' ').next().unwrap_or_default().as_bytes()).is_some();
            if is_ours && random.one_in(8) {
                // As in the log of another host.
                let time = host.now.0 + random.below(5000);
                line = format!("MAYHAP.AT {time} {line}");
            }
            let reply = format!("{:?}", host.run_line(&line));
            refused += usize::from(
                reply.contains("problem inserting") || reply.contains("Insufficient memory"),
            );
        }
        let mut replica = Host::new(Config::for_replay());
        configure(&mut random, &mut replica.config);
        replica.secret = SipKey::new([99; 16]);
        replica.max_bytes = u64::MAX;
        replica.replay(&host.log, host.replicates_times);
        assert!(host.images() == replica.images(), "seed {seed}");
        for slot in host.keys.values() {
            let stats = slot.stats(host.now);
            grown += usize::from(stats.is_some_and(|stats| stats.layers > 1));
            native += usize::from(slot.type_name().starts_with("mayhap"));
        }
    }
    // The sequences reach the difficult cases.
    assert!(
        refused > 1000 && grown > 200 && native > 500,
        "{refused} {grown} {native}"
    );
}
