"""The module in a real cluster: nothing that a replica has confirmed is lost by moving slots, by a dead master or by restarts."""

import os
import threading
import unittest

import redis

from cluster import SETTINGS, Cluster, Writer
from engine import IS_VALKEY, same, until
from spread import Spread

KEYS = 240

# How a key of each kind is made, and what adds to it.
KINDS = (
    (None, "BF.ADD"),
    (("BF.RESERVE", "0.001", "100"), "BF.MADD"),
    (("BF.WINDOW", "0.001", "100", "100000"), "BF.MADD"),
    (None, "CF.ADD"),
    (("CF.RESERVE", "1000"), "CF.ADDNX"),
    (("CBF.RESERVE", "0.001", "500"), "CBF.MADD"),
)


class Background:
    """Writes to all keys, round after round, until it is stopped."""

    def __init__(self, writer):
        self.writer, self.rounds, self.failure = writer, 0, None
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        try:
            while not self.is_over.is_set():
                self.rounds += 1
                for number in range(KEYS):
                    if self.is_over.is_set():
                        return
                    _, command = KINDS[number % len(KINDS)]
                    self.writer.write(command, f"key-{number}", f"{id(self)}-{self.rounds}")
        except BaseException as failure:
            self.failure = failure

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.is_over.set()
        self.thread.join()
        if self.failure:
            raise AssertionError(self.writer.cluster.describe()) from self.failure

    def goes_on(self, count):
        """Waits until so many more writes are acknowledged."""
        before = self.writer.count()
        until("writing goes on", lambda: self.failure or self.writer.count() >= before + count)


@unittest.skipIf(IS_VALKEY and "MAYHAP_SOAK" not in os.environ, "with Valkey in the long version")
class InCluster(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(masters=3, replicas=1)
        cls.addClassCleanup(cls.cluster.end)

    def setUp(self):
        self.cluster.is_whole()

    def test_nothing_that_was_acknowledged_is_lost(self):
        cluster = self.cluster
        writer = Writer(cluster)
        # Both layouts.
        cluster.masters()[0].run("CONFIG", "SET", "mayhap.layout", "redisbloom")
        for number in range(KEYS):
            reserve, command = KINDS[number % len(KINDS)]
            key = f"key-{number}"
            if reserve:
                writer.client.execute_command(reserve[0], key, *reserve[1:])
            writer.write(command, key, f"first-{number}")
        types = {node.run("TYPE", key) for node in cluster.masters() for _, key in node.dumps()}
        self.assertEqual(types, {b"mayhap-bf", b"mayhap-cf", b"mayhap-cb", b"MBbloom--", b"MBbloomCF"})

        with self.subTest("slots move"):
            source, target = cluster.masters()[:2]
            before = source.redis.dbsize()
            with Background(writer) as background:
                background.goes_on(20)
                words = ["--cluster-from", cluster.id_of(source), "--cluster-to", cluster.id_of(target), "--cluster-slots", "700"]
                cluster.say("reshard", f"127.0.0.1:{source.port}", *words, "--cluster-yes")
                background.goes_on(20)
            self.assertLess(source.redis.dbsize(), before)
            cluster.is_whole()
            self.assertEqual(writer.lost(), [])

        with self.subTest("a master dies"):
            dead = cluster.masters()[1]
            for tag in range(12):
                writer.write("BF.ADD", f"old {{{tag}}}", "apple")
            identity = cluster.id_of(dead)
            with Background(writer) as background:
                background.goes_on(20)
                dead.kill()
                cluster.is_whole(without=identity)
                background.goes_on(20)
                dead.start()
                until("it comes back", lambda: dead.redis.info("replication")["role"] == "slave")
                background.goes_on(KEYS)
            cluster.is_whole()
            self.assertEqual(writer.lost(), [])
            # The new master hashes as the old one did, where all have one secret.
            for tag in range(12):
                writer.write("BF.ADD", f"new {{{tag}}}", "pear")
                self.assertTrue(writer.client.execute_command("BF.MERGE", f"new {{{tag}}}", f"old {{{tag}}}"))
                self.assertEqual(writer.client.execute_command("BF.MEXISTS", f"new {{{tag}}}", "apple", "pear"), [1, 1])

        for what, settings in (("append-only files", ("appendonly yes",)), ("RDB files", ("appendonly no",))):
            with self.subTest(what):
                expected = cluster.dumps()
                self.assertEqual(len(expected), KEYS + 24)
                for node in cluster.nodes:
                    node.save()
                for node in cluster.nodes:
                    node.stop()
                for node in cluster.nodes:
                    node.start(*SETTINGS, *settings)
                cluster.is_whole()
                same(self, expected, cluster.dumps(), what)
                self.assertEqual(writer.lost(), [])
        self.assertGreater(writer.count(), 2 * KEYS)

    def test_merging_needs_one_slot(self):
        with self.cluster.client() as client:
            client.execute_command("BF.MADD", "{one}a", "apple")
            client.execute_command("BF.MADD", "{one}b", "pear")
            client.execute_command("BF.MADD", "two", "plum")
            with self.assertRaisesRegex(redis.exceptions.RedisClusterException, "same key slot"):
                client.execute_command("BF.MERGE", "{one}a", "two")
            # The client has read the table of commands; the engine says so too.
            owner = next(node for node in self.cluster.nodes if node.port == client.get_node_from_key("{one}a").port)
            self.assertIsInstance(owner.run("BF.MERGE", "{one}a", "two"), redis.exceptions.ClusterCrossSlotError)
            self.assertTrue(client.execute_command("BF.MERGE", "{one}a", "{one}b"))
            self.assertEqual(client.execute_command("BF.MEXISTS", "{one}a", "apple", "pear", "plum"), [1, 1, 0])
            client.delete("{one}a", "{one}b", "two")

    def test_one_filter_spread_over_all_nodes(self):
        with self.cluster.client() as client:
            spread = Spread(client, "seen", 24)
            spread.reserve(0.01, 50_000)
            items = [f"item-{number}" for number in range(50_000)]
            new = [answer for start in range(0, 50_000, 5000) for answer in spread.add(items[start : start + 5000])]
            self.assertGreater(sum(new), 49_500)
            self.assertTrue(all(spread.exists(items[:20_000])))
            # The rate of all is the rate of one: 1 %, of 20,000 with four standard deviations.
            wrong = sum(spread.exists([f"absent-{number}" for number in range(20_000)]))
            self.assertLess(wrong, 200 + 4 * 14)
            self.assertGreater(wrong, 10)
            self.assertEqual(spread.total("BF.CARD"), sum(new))
            # Memory sums: about 11 bits an item, as one filter takes that grows.
            self.assertLess(spread.total("MEMORY USAGE"), 50_000 * 14 / 8)
            nodes = {client.get_node_from_key(spread.key(shard)).port for shard in range(24)}
            self.assertEqual(len(nodes), 3)
            # Shards are about equal, so that none has grown.
            self.assertEqual(client.execute_command("BF.INFO", spread.key(0), "FILTERS"), [1])
            # Answers are in the order of the items, repetitions included.
            mixed = [*items[:50], "", *[f"absent-{number}" for number in range(50)], "item-1", b"item-2"]
            one_by_one = [spread.exists([item])[0] for item in mixed]
            self.assertEqual(spread.exists(mixed), one_by_one)
            self.assertIn(False, one_by_one)
            for shard in range(24):
                client.delete(spread.key(shard))


if __name__ == "__main__":
    unittest.main()
