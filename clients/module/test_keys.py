"""Filters are keys like others: what the engine does with keys leaves them as they are."""

import unittest

import redis

from engine import Engine, same, until
from sentences import LAYOUTS, items


class Alone(unittest.TestCase):
    """One engine for all tests, empty before each."""

    settings = ()

    @classmethod
    def setUpClass(cls):
        cls.engine = Engine(*cls.settings)
        cls.addClassCleanup(cls.engine.end)

    def setUp(self):
        # Valkey's default is to free in the background, and tests count what is alive.
        self.engine.run("FLUSHALL", "SYNC")
        self.run_ = self.engine.run

    def fill(self):
        """A filter of each kind and layout; their names."""
        for layout in LAYOUTS:
            self.engine.run("CONFIG", "SET", "mayhap.layout", layout)
            self.engine.run("BF.MADD", f"{layout} bf", *items(0, 300))
            self.engine.run("CF.INSERT", f"{layout} cf", "ITEMS", *items(0, 300))
        self.engine.run("CONFIG", "SET", "mayhap.layout", "native")
        self.engine.run("CBF.MADD", "cbf", *items(0, 300))
        self.engine.run("BF.WINDOW", "window", "0.01", "100", "100000")
        self.engine.run("BF.MADD", "window", *items(0, 300))
        return [key.decode() for _, key in self.engine.dumps()]

    def ask(self, key, item="item-7"):
        family = {b"mayhap-bf": "BF", b"MBbloom--": "BF", b"mayhap-cf": "CF", b"MBbloomCF": "CF", b"mayhap-cb": "CBF"}
        return self.engine.run(f"{family[self.engine.run('TYPE', key)]}.EXISTS", key, item)


class Keys(Alone):
    def test_rename_copy_move_and_expire_keep_filters(self):
        run = self.engine.run
        for key in self.fill():
            dump = run("DUMP", key)
            self.assertEqual(run("RENAME", key, "renamed"), b"OK")
            self.assertEqual(run("COPY", "renamed", key), 1)
            self.assertEqual(run("COPY", "renamed", "in another", "DB", "1"), 1)
            self.assertEqual(run("MOVE", "renamed", "2"), 1)
            self.assertIsNone(run("DUMP", "renamed"))
            self.assertEqual(run("PEXPIRE", key, "1000000"), 1)
            self.assertEqual(run("DUMP", key), dump)
            for base, name in ((1, "in another"), (2, "renamed")):
                with self.engine.client(db=base) as other:
                    self.assertEqual(other.dump(name), dump)
                    other.delete(name)
            # A copy is a filter of its own.
            self.assertEqual(run("COPY", key, "copy"), 1)
            kind = run("TYPE", key)
            add = {b"mayhap-cf": "CF.ADD", b"MBbloomCF": "CF.ADD", b"mayhap-cb": "CBF.ADD"}.get(kind, "BF.ADD")
            absent = next(item for item in items(1000, 100) if not self.ask(key, item))
            self.assertEqual(run(add, "copy", absent), 1)
            self.assertEqual((self.ask("copy", absent), self.ask(key, absent)), (1, 0))
            self.assertGreater(run("PTTL", "copy"), 0)
            # What is added to a key leaves its time.
            run(add, key, "one more")
            self.assertGreater(run("PTTL", key), 0)
            self.assertEqual(run("PEXPIRE", key, "1"), 1)
            until("it expires", lambda: run("EXISTS", key) == 0)
            self.assertEqual(run(add, key, "new"), 1)
            self.assertEqual(self.ask(key), 0)
            run("DEL", "copy", key)

    def test_transactions_do_all_or_nothing(self):
        client = self.engine.client()
        self.addCleanup(client.close)
        with client.pipeline(transaction=True) as pipeline:
            pipeline.execute_command("BF.ADD", "b", "apple")
            pipeline.execute_command("BF.EXISTS", "b", "apple")
            pipeline.execute_command("CF.ADD", "c", "apple")
            pipeline.execute_command("CF.DEL", "c", "apple")
            pipeline.execute_command("CF.EXISTS", "c", "apple")
            self.assertEqual(pipeline.execute(), [1, 1, 1, 1, 0])
        # A watched filter that somebody else has changed.
        for change in (("BF.ADD", "b", "pear"), ("CF.DEL", "c", "apple"), ("BF.MERGE", "b", "b2"), ("DEL", "b")):
            self.engine.run("BF.ADD", "b", "x")
            self.engine.run("BF.ADD", "b2", "x")
            self.engine.run("CF.ADD", "c", "apple")
            with client.pipeline(transaction=True) as pipeline:
                pipeline.watch("b", "c")
                pipeline.multi()
                pipeline.execute_command("BF.ADD", "b", "plum")
                self.assertFalse(isinstance(self.engine.run(*change), Exception))
                with self.assertRaises(redis.WatchError, msg=change):
                    pipeline.execute()
        # One that was only asked.
        with client.pipeline(transaction=True) as pipeline:
            pipeline.watch("b", "c")
            self.engine.run("BF.EXISTS", "b", "pear")
            self.engine.run("CF.INFO", "c")
            pipeline.multi()
            pipeline.execute_command("BF.ADD", "b", "plum")
            self.assertEqual(pipeline.execute(), [1])

    def test_scripts(self):
        run = self.engine.run
        script = "redis.call('BF.RESERVE', KEYS[1], 0.01, 100) redis.call('BF.MADD', KEYS[1], 'a', 'b') return redis.call('BF.MEXISTS', KEYS[1], 'a', 'c')"
        self.assertEqual(run("EVAL", script, 1, "b"), [1, 0])
        self.assertIn("item exists", str(run("EVAL", script, 1, "b")))
        self.assertEqual(run("EVAL", "redis.setresp(3) return redis.call('BF.EXISTS', KEYS[1], 'a') == true and 'yes'", 1, "b"), b"yes")
        self.assertEqual(run("EVAL_RO", "return redis.call('BF.EXISTS', KEYS[1], 'a')", 1, "b"), 1)
        self.assertIn("Write commands are not allowed", str(run("EVAL_RO", "return redis.call('BF.ADD', KEYS[1], 'a')", 1, "b")))
        self.assertEqual(run("EVAL", "return redis.pcall('BF.RESERVE', KEYS[1], 2, 100).err", 1, "x").split()[:5], b"ERR error rate must be".split())

    def test_scan_by_type_and_object(self):
        run = self.engine.run
        keys = self.fill()
        self.assertEqual(len(keys), 6)
        for kind, names in ((b"mayhap-bf", {"native bf", "window"}), (b"MBbloom--", {"redisbloom bf"}), (b"mayhap-cf", {"native cf"})):
            self.assertEqual({key.decode() for key in self.engine.redis.scan_iter(_type=kind.decode())}, names)
        for key in keys:
            self.assertEqual(run("OBJECT", "ENCODING", key), b"raw")
            self.assertEqual(run("OBJECT", "REFCOUNT", key), 1)
            self.assertIsInstance(run("OBJECT", "IDLETIME", key), int)
            self.assertIn("WRONGTYPE", str(run("GET", key)))
            self.assertIn("WRONGTYPE", str(run("APPEND", key, "x")))

    def test_debug_reload_and_digest(self):
        run = self.engine.run
        keys = self.fill()
        self.engine.save()
        before, digest = self.engine.dumps(), run("DEBUG", "DIGEST")
        self.assertEqual(run("DEBUG", "RELOAD"), b"OK")
        same(self, before, self.engine.dumps(), "DEBUG RELOAD")
        self.assertEqual(run("DEBUG", "DIGEST"), digest)
        for key in keys:
            digest = run("DEBUG", "DIGEST-VALUE", key)
            run({"native cf": "CF.ADD", "redisbloom cf": "CF.ADD", "cbf": "CBF.ADD"}.get(key, "BF.ADD"), key, "one more")
            self.assertNotEqual(run("DEBUG", "DIGEST-VALUE", key), digest, key)
        replica = Engine(arguments="layout redisbloom")
        self.addCleanup(replica.end)
        replica.follow(self.engine)
        self.assertEqual(replica.run("DEBUG", "DIGEST"), run("DEBUG", "DIGEST"))

    def test_a_replica_takes_changes_from_its_primary_only(self):
        keys = self.fill()
        replica = Engine()
        self.addCleanup(replica.end)
        replica.follow(self.engine)
        before = replica.dumps()
        for words in (
            ["CF.COMPACT", "native cf"],
            ["CF.COMPACT", "redisbloom cf"],
            ["EVAL", "return redis.call('CF.COMPACT', KEYS[1])", 1, "native cf"],
            ["EVAL_RO", "return redis.call('CF.COMPACT', KEYS[1])", 1, "native cf"],
            ["CF.DEL", "native cf", "item-1"],
            ["BF.ADD", "native bf", "x"],
            ["BF.ADD", "missing", "x"],
            ["MAYHAP.LOAD", "missing", "x"],
            ["MAYHAP.AT", "5", "BF.ADD", "window", "x"],
        ):
            reply = replica.run(*words)
            self.assertRegex(type(reply).__name__ + str(reply), "ReadOnlyError|READONLY|not allowed from read-only scripts", words)
        same(self, before, replica.dumps(), "the replica")
        self.assertEqual(replica.run("BF.EXISTS", "native bf", "item-1"), 1)
        # It is no replica any more.
        replica.run("REPLICAOF", "NO", "ONE")
        self.assertEqual(replica.run("CF.COMPACT", "native cf"), b"OK")
        self.assertEqual(len(keys), 6)

    def test_a_pause_of_writing_holds_all_that_writes(self):
        # CF.COMPACT is among those that read, as RedisBloom has it, and is passed on: an engine that is not told so ends itself.
        self.fill()
        replica = Engine()
        self.addCleanup(replica.end)
        replica.follow(self.engine)
        waiting = self.engine.client()
        self.addCleanup(waiting.close)
        self.engine.run("CLIENT", "PAUSE", "1000000", "WRITE")
        connection = waiting.connection_pool.get_connection()
        connection.send_command("CF.COMPACT", "native cf")
        until("it is held", lambda: self.engine.redis.info("clients")["blocked_clients"] >= 1)
        self.assertIn("not allowed", str(self.engine.run("EVAL_RO", "return redis.call('CF.COMPACT', KEYS[1])", 1, "native cf")))
        self.assertEqual(self.engine.run("BF.EXISTS", "native bf", "item-1"), 1)
        self.engine.run("CLIENT", "UNPAUSE")
        self.assertEqual(connection.read_response(), b"OK")
        waiting.connection_pool.release(connection)
        self.assertTrue(self.engine.is_alive())


if __name__ == "__main__":
    unittest.main()
