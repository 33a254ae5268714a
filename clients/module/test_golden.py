"""What the real RedisBloom has dumped is restored, answers as it did there, and is kept."""

import unittest

from engine import Engine, same
from golden import TRAILER_BYTES, cases, damaged

# Restores, asks, adds and removes, whatever is answered.
ASK = """
local function say(...)
  local reply = redis.pcall(...)
  return type(reply) == 'table' and (reply.err or reply.ok or 'many') or tostring(reply)
end
local key, family = KEYS[1], ARGV[1]
return {
  say('RESTORE', key, 0, ARGV[2]), say(family .. '.INFO', key), say(family .. '.ADD', key, 'apple'),
  say(family .. '.EXISTS', key, 'apple'), say('DEL', key),
}
"""


class Golden(unittest.TestCase):
    def restored(self, *settings, arguments=""):
        """An engine with all of them."""
        engine = Engine(*settings, arguments=arguments)
        self.addCleanup(engine.end)
        for case in self.cases:
            self.assertEqual(engine.run("RESTORE", case.key, 0, case.payload), b"OK", case.name)
        return engine

    def setUp(self):
        self.cases = cases()
        self.assertGreaterEqual(len(self.cases), 20)

    def check(self, engine, what):
        with self.subTest(what):
            self.assertEqual(engine.run("DBSIZE"), len(self.cases))
            for case in self.cases:
                kind = {"BF": b"MBbloom--", "CF": b"MBbloomCF"}[case.family]
                self.assertEqual(engine.run("TYPE", case.key), kind)
                dump = engine.run("DUMP", case.key)
                self.assertEqual(dump[:-TRAILER_BYTES], case.payload[:-TRAILER_BYTES], case.name)
                # Behind the fields are the engine's version of RDB and a checksum, which is checked as it is restored.
                if engine.version() == "Redis 7.0":
                    self.assertEqual(dump, case.payload, case.name)
                case.check(self, engine)

    def test_dumps_are_restored_and_dumped_again(self):
        engine = self.restored()
        self.check(engine, "RESTORE")
        # Filled on, they are RedisBloom's still.
        for case in self.cases:
            engine.run(f"{case.family}.ADD", case.key, "one more")
            self.assertIn(engine.run("TYPE", case.key), (b"MBbloom--", b"MBbloomCF"))

    def test_they_outlive_restarts_and_go_to_replicas(self):
        for preamble in ("yes", "no"):
            engine = self.restored("appendonly yes", f"aof-use-rdb-preamble {preamble}")
            engine.restart()
            self.check(engine, f"append-only file, preamble {preamble}")
            engine.rewrite_log()
            engine.restart()
            self.check(engine, f"rewritten append-only file, preamble {preamble}")
        engine.save()
        engine.restart("appendonly no")
        self.check(engine, "RDB file")
        replica = Engine(arguments="layout native max-filter-bytes 100")
        self.addCleanup(replica.end)
        replica.follow(engine)
        self.check(replica, "full resync")
        # One that hears of each as it comes.
        engine.redis.flushall()
        for case in self.cases:
            engine.run("RESTORE", case.key, 0, case.payload)
        engine.is_replicated()
        self.check(replica, "replicated RESTORE")
        same(self, engine.dumps(), replica.dumps(), "dumps")

    def test_an_append_only_file_of_redisbloom(self):
        # It passes commands on as they come, and so does a primary that is followed: with its layout and settings here it comes to the same.
        engine = Engine()
        self.addCleanup(engine.end)
        engine.stop()
        with open(engine.path("appendonly.aof"), "wb") as log:
            for case in self.cases:
                for words in case.commands():
                    words = [word if isinstance(word, bytes) else word.encode() for word in words]
                    log.write(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words))
        engine.start("appendonly yes", "mayhap.layout redisbloom")
        self.check(engine, "append-only file of RedisBloom")

    def test_damage_is_refused_and_never_ends_the_engine(self):
        engine = Engine("maxmemory 400mb")
        self.addCleanup(engine.end)
        accepted = refused = 0
        for number, case in enumerate(self.cases):
            # Large ones are mostly bits: some of them will do.
            step = 1 if len(case.payload) < 5000 else len(case.payload) // 50
            with self.subTest(case.name):
                wrong, right = zip(*damaged(case.payload, 1 << number % 8, step))
                for reply in self.replies(engine, [("RESTORE", "k", 0, payload) for payload in wrong]):
                    self.assertIn("DUMP payload version or checksum are wrong", str(reply))
                commands = [("EVAL", ASK, 1, "k", case.family, payload) for payload in right]
                for restored, info, added, found, gone in self.replies(engine, commands):
                    if restored == b"OK":
                        accepted += 1
                        # There is no false negative, whatever the bits; but what is full is full.
                        self.assertTrue(gone == b"1" and (found == b"1" or not added.isdigit()), (added, found))
                    else:
                        refused += 1
                        # The last two bytes before the checksum are the version.
                        self.assertRegex(restored, b"Bad data format|DUMP payload version or checksum are wrong")
                        self.assertRegex(info, b"not found")
                self.assertTrue(engine.is_alive())
        self.assertGreater(accepted, 1000)
        self.assertGreater(refused, 300)
        self.assertLess(engine.redis.info("memory")["used_memory_peak"], 450 << 20)

    def replies(self, engine, commands):
        pipeline = engine.bare.pipeline(transaction=False)
        for words in commands:
            pipeline.execute_command(*words)
        return pipeline.execute(raise_on_error=False)


if __name__ == "__main__":
    unittest.main()
