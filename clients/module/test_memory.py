"""The memory of filters is the engine's: counted, limited, given back."""

import os
import unittest

import redis

from engine import DEFRAGMENTS, Engine, until
from sentences import LAYOUTS, items
from test_keys import Alone

# Ten million items at 1 %: about 12 MB.
LARGE = ("0.01", "10000000", "NONSCALING")
LARGE_BYTES = 10_000_000 * 9 / 8


class Memory(Alone):
    # Engines differ in this.
    settings = ("lazyfree-lazy-user-del no", "lazyfree-lazy-user-flush no")

    def used(self):
        return self.engine.redis.info("memory")["used_memory"]

    def test_unlink_gives_memory_back_in_the_background(self):
        self.engine.run("CONFIG", "RESETSTAT")
        empty = self.used()
        for number in range(3):
            self.assertEqual(self.engine.run("BF.RESERVE", f"large-{number}", *LARGE), b"OK")
        self.assertGreater(self.used(), empty + 3 * LARGE_BYTES)
        self.assertEqual(self.engine.run("UNLINK", "large-0", "large-1"), 2)
        freed = lambda: self.engine.redis.info("memory")["lazyfree_pending_objects"] == 0
        until("it is given back", freed)
        self.assertEqual(self.engine.redis.info("memory")["lazyfreed_objects"], 2)
        self.assertLess(self.used(), empty + 1.5 * LARGE_BYTES)
        # At once, and what is small is not worth another thread.
        self.engine.run("DEL", "large-2")
        self.engine.run("BF.ADD", "small", "x")
        self.engine.run("UNLINK", "small")
        self.assertEqual(self.engine.redis.info("memory")["lazyfreed_objects"], 2)
        self.assertLess(self.used(), empty + 0.5 * LARGE_BYTES)
        self.engine.run("BF.RESERVE", "large", *LARGE)
        self.engine.run("FLUSHALL", "ASYNC")
        until("it is given back", lambda: freed() and self.used() < empty + 0.5 * LARGE_BYTES)
        self.assertEqual(self.engine.redis.info("mayhap_filters")["mayhap_count"], 0)

    def test_memory_usage_is_what_was_taken(self):
        for words in (("BF.RESERVE", "k", *LARGE), ("CF.RESERVE", "k", "10000000"), ("CBF.RESERVE", "k", "0.01", "3000000")):
            before = self.used()
            self.assertEqual(self.engine.run(*words), b"OK")
            taken, told = self.used() - before, self.engine.run("MEMORY", "USAGE", "k")
            self.assertLess(abs(taken - told), 0.1 * taken, words)
            self.engine.run("DEL", "k")
        # As RedisBloom has it: what BF.INFO tells and what the engine adds for a key.
        self.engine.run("CONFIG", "SET", "mayhap.layout", "redisbloom")
        self.addCleanup(self.engine.run, "CONFIG", "SET", "mayhap.layout", "native")
        self.engine.run("BF.RESERVE", "k", "0.001", "1000000")
        size = self.engine.run("BF.INFO", "k", "SIZE")[0]
        self.assertEqual(size, 1977632)
        self.assertIn(self.engine.run("MEMORY", "USAGE", "k") - size, range(100))


class Limited(unittest.TestCase):
    def engine(self, *settings):
        engine = Engine(*settings)
        self.addCleanup(engine.end)
        return engine

    def test_what_does_not_fit_is_refused_and_the_engine_goes_on(self):
        engine = self.engine("maxmemory 30mb", "maxmemory-policy noeviction")
        self.assertEqual(engine.run("BF.RESERVE", "fits", *LARGE), b"OK")
        for words in (
            ("BF.RESERVE", "large", "0.01", "30000000"),
            ("BF.RESERVE", "large", "0.001", "1073741824"),
            ("BF.WINDOW", "large", "0.01", "30000000", "60"),
            ("BF.INSERT", "large", "CAPACITY", "30000000", "ITEMS", "x"),
            ("CF.RESERVE", "large", "60000000"),
            ("CBF.RESERVE", "large", "0.01", "30000000"),
        ):
            self.assertEqual(str(engine.run(*words)), "Insufficient memory to create filter", words)
            self.assertEqual(engine.run("EXISTS", "large"), 0)
        self.assertIsInstance(engine.run("COPY", "fits", "copy"), (bytes, int))
        self.assertIsInstance(engine.run("COPY", "fits", "another copy"), redis.ResponseError)
        dump = engine.run("DUMP", "fits")
        self.assertIsInstance(engine.run("RESTORE", "restored", 0, dump), redis.ResponseError)
        self.assertEqual(engine.run("BF.ADD", "fits", "apple"), 1)
        # Growth stops where memory does, and what is in stays in.
        most = engine.redis.info("memory")["used_memory"] + (3 << 20)
        engine.run("CONFIG", "SET", "maxmemory", most)
        engine.run("BF.RESERVE", "growing", "0.01", "100000")
        added, number = [], 0
        while not any(isinstance(reply, Exception) for reply in added):
            items = [f"item-{number + place}" for place in range(10_000)]
            added = engine.run("BF.MADD", "growing", *items)
            if isinstance(added, Exception):
                break
            number += len(items)
            self.assertLess(number, 5_000_000)
        refused = added if isinstance(added, Exception) else next(reply for reply in added if isinstance(reply, Exception))
        self.assertRegex(str(refused), "problem inserting into filter|OOM|used memory")
        self.assertLess(engine.redis.info("memory")["used_memory"], most + (1 << 20))
        self.assertEqual(set(engine.run("BF.MEXISTS", "growing", *[f"item-{place}" for place in range(10_000)])), {1})
        # With less than is used, the engine refuses by itself, and answers on.
        engine.run("CONFIG", "SET", "maxmemory", "5mb")
        self.assertIsInstance(engine.run("BF.ADD", "fits", "pear"), redis.exceptions.OutOfMemoryError)
        self.assertIsInstance(engine.run("BF.ADD", "new", "pear"), redis.exceptions.OutOfMemoryError)
        self.assertEqual(engine.run("BF.EXISTS", "fits", "apple"), 1)
        # The setting is followed while it changes.
        engine.run("CONFIG", "SET", "maxmemory", "0")
        self.assertEqual(engine.run("BF.RESERVE", "large", "0.01", "30000000"), b"OK")

    def test_an_engine_that_forgets_makes_room(self):
        # What is freed on another thread is not there when it is needed, and an engine that frees so (Valkey does) forgets too much.
        engine = self.engine("maxmemory 30mb", "maxmemory-policy allkeys-lru", "lazyfree-lazy-eviction no")
        for number in range(10):
            self.assertEqual(engine.run("BF.RESERVE", f"key-{number}", *LARGE), b"OK")
            self.assertEqual(engine.run("BF.ADD", f"key-{number}", "apple"), 1)
        self.assertLessEqual(engine.redis.dbsize(), 2)
        self.assertGreaterEqual(engine.redis.info("stats")["evicted_keys"], 8)
        # But for none that would not fit alone.
        self.assertEqual(str(engine.run("BF.RESERVE", "larger", "0.01", "100000000")), "Insufficient memory to create filter")
        self.assertGreaterEqual(engine.redis.dbsize(), 1)

    def test_a_replica_takes_what_its_primary_took(self):
        primary, replica = self.engine(), self.engine("maxmemory 5mb", "maxmemory-policy noeviction")
        replica.follow(primary)
        primary.run("BF.RESERVE", "large", *LARGE)
        primary.run("BF.ADD", "large", "apple")
        primary.is_replicated()
        self.assertEqual(replica.run("BF.EXISTS", "large", "apple"), 1)
        fresh = self.engine("maxmemory 5mb", "maxmemory-policy noeviction")
        fresh.follow(primary)
        self.assertEqual(fresh.run("BF.EXISTS", "large", "apple"), 1)

    def peak_beyond(self, engine, run):
        """How much more memory the engine has at the most while it does something. The system counts, so that nothing is missed."""
        pid = engine.process.pid
        with open(f"/proc/{pid}/clear_refs", "w", encoding="utf-8") as refs:
            refs.write("5")
        before = resident(pid, "VmHWM")
        run()
        return resident(pid, "VmHWM") - before

    def test_a_large_filter_is_saved_and_loaded_without_a_copy(self):
        # The strings of RedisBloom's layout are as large as its layers, and an engine that packs strings takes as much for each.
        for layout, settings in (("native", ()), ("redisbloom", ("rdbcompression no",))):
            with self.subTest(layout):
                engine = self.engine(f"mayhap.layout {layout}", *settings)
                self.assertEqual(engine.run("BF.RESERVE", "k", "0.01", "200000000", "NONSCALING"), b"OK")
                self.assertEqual(engine.run("BF.ADD", "k", "apple"), 1)
                # Bits that cannot be packed, in all of it but the end.
                chunk, position = os.urandom(16 << 20), 1
                size = engine.run("MEMORY", "USAGE", "k")
                while position + len(chunk) <= size - 1000:
                    position += len(chunk)
                    self.assertEqual(engine.run("BF.LOADCHUNK", "k", position, chunk), b"OK")
                # Random bits answer at random, but always the same.
                questions = ("BF.MEXISTS", "k", "apple", *items(0, 20_000))
                answers = engine.run(*questions)
                self.assertIn(sum(answers), range(20, 2000))
                self.assertGreater(size, 200 << 20)
                self.assertLess(self.peak_beyond(engine, engine.save), 64 << 20)
                engine.restart(f"mayhap.layout {layout}", how="NOSAVE")
                self.assertEqual(engine.run(*questions), answers)
                if layout == "native":
                    engine.restart(f"mayhap.layout {layout}", how="NOSAVE")
                    self.assertLess(resident(engine.process.pid, "VmHWM"), size + (64 << 20))


def resident(pid, field):
    """Memory of a process, by a field of its status."""
    with open(f"/proc/{pid}/status", encoding="utf-8") as status:
        line = next(line for line in status if line.startswith(f"{field}:"))
    return int(line.split()[1]) << 10


@unittest.skipUnless(DEFRAGMENTS, "this engine has no allocator that defragments")
class Defragmentation(Alone):
    """Only an engine with the allocator of its own source defragments: Debian's have the system's."""

    settings = ("lazyfree-lazy-user-del no",)

    def test_defragmentation_leaves_filters(self):
        run, bare = self.engine.run, self.engine.bare
        for layout in LAYOUTS:
            run("CONFIG", "SET", "activedefrag", "no")
            run("FLUSHALL")
            run("CONFIG", "SET", "mayhap.layout", layout)
            pipeline = bare.pipeline(transaction=False)
            families = ("BF", "CF", "CBF")
            for number in range(20_000):
                for family in families:
                    pipeline.execute_command(f"{family}.ADD", f"{family}-{number}", "apple")
            # One that has pages of its own, and one with many layers.
            pipeline.execute_command("BF.RESERVE", "large", "0.01", "1000000")
            pipeline.execute_command("BF.MADD", "large", *items(0, 1000))
            pipeline.execute_command("BF.INSERT", "grown", "CAPACITY", "1", "ITEMS", *items(0, 1000))
            pipeline.execute()
            pipeline.execute_command("DEL", *[f"{family}-{number}" for family in families for number in range(20_000) if number % 8])
            pipeline.execute()
            run("CONFIG", "RESETSTAT")
            for name, value in (
                ("active-defrag-threshold-lower", "0"),
                ("active-defrag-ignore-bytes", "1"),
                ("active-defrag-cycle-min", "50"),
                ("active-defrag-cycle-max", "75"),
                ("activedefrag", "yes"),
            ):
                self.assertEqual(run("CONFIG", "SET", name, value), b"OK")
            until("filters were moved", lambda: self.engine.redis.info("stats")["active_defrag_key_hits"] > 1000)
            for number in range(0, 20_000, 8):
                for family in families:
                    pipeline.execute_command(f"{family}.MEXISTS", f"{family}-{number}", "apple", "pear")
            self.assertEqual({tuple(reply) for reply in pipeline.execute()}, {(1, 0)})
            for key in ("large", "grown"):
                self.assertEqual(set(run("BF.MEXISTS", key, *items(0, 1000))), {1})
            # What was moved can be changed, saved and freed.
            for family in families:
                self.assertEqual(run(f"{family}.ADD", f"{family}-8", "plum"), 1)
            self.assertEqual(run("DEBUG", "RELOAD"), b"OK")
            self.assertEqual(run("BF.MEXISTS", "BF-8", "apple", "plum", "fig"), [1, 1, 0])


if __name__ == "__main__":
    unittest.main()
