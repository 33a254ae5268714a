"""Replicas, append-only files and RDB files have the same filters, to the byte, whatever their settings and secrets."""

import random
import time
import unittest

from engine import Engine, IS_VALKEY, same, until
from sentences import LAYOUTS, STORIES, items, random_line, words_of

OTHERWISE = "layout redisbloom bf-error-rate 0.2 bf-initial-size 3 cf-initial-size 16 cf-max-expansions 1 max-filter-bytes 100"


class Pair(unittest.TestCase):
    """A primary and a replica of it that would make other filters; one writes commands into its append-only file, one an RDB file."""

    def setUp(self):
        self.primary = Engine("appendonly yes", "aof-use-rdb-preamble no")
        self.addCleanup(self.primary.end)
        self.replica = Engine("appendonly yes", "aof-use-rdb-preamble yes", arguments=OTHERWISE)
        self.addCleanup(self.replica.end)
        self.replica.follow(self.primary)

    def tell(self, words, keys=()):
        """A command to the primary; what it did is the same on the replica."""
        reply = self.primary.run(*words)
        self.primary.is_replicated()
        for key in keys:
            self.assertEqual(self.primary.run("DUMP", key), self.replica.run("DUMP", key), f"{words[:6]} {reply}")
        return reply

    def check_restarts(self):
        """Every way to come back. The replica comes back by itself: its own files are looked at."""
        expected = self.primary.dumps()
        self.assertGreater(len(expected), 5)
        same(self, expected, self.replica.dumps(), "the replica")
        fresh = Engine(arguments=OTHERWISE)
        self.addCleanup(fresh.end)
        fresh.follow(self.primary)
        same(self, expected, fresh.dumps(), "a replica with a full resync")
        for engine, what in ((self.primary, "the primary"), (self.replica, "the replica")):
            engine.restart()
            same(self, expected, engine.dumps(), f"the append-only file of {what}")
            engine.rewrite_log()
            engine.restart()
            same(self, expected, engine.dumps(), f"the rewritten append-only file of {what}")
            engine.save()
            engine.restart("appendonly no", how="NOSAVE")
            same(self, expected, engine.dumps(), f"the RDB file of {what}")


class Stories(Pair):
    def test_every_command_makes_the_same_everywhere(self):
        # Each beginning of a story has a key of its own, so that what is restarted is the state after every command.
        said, refused = set(), 0
        for layout in LAYOUTS:
            self.primary.run("CONFIG", "SET", "mayhap.layout", layout)
            for name, story in STORIES.items():
                for end in range(1, len(story) + 1):
                    key, other = f"{layout}, {name}, {end}", f"{layout}, {name}, {end}, other"
                    for line in story[: end - 1]:
                        self.primary.run(*words_of(line, key, other))
                    words = words_of(story[end - 1], key, other)
                    reply = self.tell(words, (key, other))
                    said.add(words[0])
                    refused += isinstance(reply, Exception)
        self.assertGreater(refused, 20)
        # Those that come in pieces or whole.
        files = 0
        for number, (_, key) in enumerate(list(self.primary.dumps())):
            self.carry(key.decode(), f"carried {number}")
            # A file does not tell the secret of its hash: others are told.
            file = self.primary.run("MAYHAP.FILE", key)
            if isinstance(file, bytes) and self.primary.run("TYPE", key).startswith(b"mayhap"):
                files += 1
                reply = self.tell(["MAYHAP.LOAD", f"loaded {number}", file], [f"loaded {number}"])
                self.assertEqual(reply, b"OK", f"{key} {reply}")
        self.assertGreater(files, 100)
        self.tell(["MAYHAP.LOAD", "loaded", "junk"], ["loaded"])
        missing = {name.upper() for name, tells in self.commands().items() if "write" in tells} - said
        self.assertEqual(missing, {"BF.LOADCHUNK", "CF.LOADCHUNK", "MAYHAP.LOAD"})
        self.check_restarts()

    def commands(self):
        """Our commands, with their flags."""
        ours = self.primary.run("COMMAND", "LIST", "FILTERBY", "MODULE", "mayhap")
        told = self.primary.run("COMMAND", "INFO", *ours)
        return {command[0].decode(): [flag.decode() for flag in command[2]] for command in told}

    def carry(self, key, to):
        family = {"mayhap-bf": "BF", "MBbloom--": "BF", "mayhap-cf": "CF", "MBbloomCF": "CF"}.get(self.primary.run("TYPE", key).decode())
        if family is None:
            return
        at = 0
        while True:
            reply = self.primary.run(f"{family}.SCANDUMP", key, at)
            if isinstance(reply, Exception) or not reply[0]:
                return
            at, chunk = reply
            self.tell([f"{family}.LOADCHUNK", to, at, chunk], [to])


class Sequences(Pair):
    def test_random_sequences_make_the_same_everywhere(self):
        seed = random.randrange(1 << 32)
        chance = random.Random(seed)
        keys = [f"key-{number}" for number in range(12)]
        count = 300 if IS_VALKEY else 1500
        changed = 0
        with self.subTest(seed=seed):
            for number in range(count):
                words = random_line(chance, keys)
                reply = self.tell(words, words[1:3] if words[0] in ("RENAME", "COPY") else [key for key in words[1:5] if key in keys])
                changed += not isinstance(reply, Exception)
                if number % 100 == 0:
                    same(self, self.primary.dumps(), self.replica.dumps(), "all keys")
            self.assertGreater(changed, count / 3)
            self.primary.run("CONFIG", "SET", "mayhap.max-filter-bytes", "1000000000")
            for number in range(10):
                self.tell(["BF.MADD", f"last-{number}", *items(0, 10**number // 10**5 + 10)])
            self.check_restarts()


class Windows(Pair):
    def test_windows_are_the_same_as_time_passes_and_forget(self):
        for layout in LAYOUTS:
            self.primary.run("CONFIG", "SET", "mayhap.layout", layout)
            self.assertEqual(self.tell(["BF.WINDOW", layout, "0.001", "100", "1"], [layout]), b"OK")
            first = time.monotonic()
            number = 0
            self.tell(["BF.ADD", layout, "first"], [layout])
            self.assertEqual(self.replica.run("BF.EXISTS", layout, "first"), 1)

            # Writing goes on until the first item is forgotten, so that generations come and go.
            def is_forgotten():
                nonlocal number
                number += 1
                for _ in ("new", "in already"):
                    self.tell(["BF.ADD", layout, f"item-{number}"], [layout])
                self.assertEqual(self.primary.run("BF.EXISTS", layout, f"item-{number}"), 1)
                return not self.primary.run("BF.EXISTS", layout, "first")

            until("it forgets", is_forgotten)
            self.assertGreater(time.monotonic() - first, 0.9)
            until("the replica forgets", lambda: not self.replica.run("BF.EXISTS", layout, "first"))
            self.assertGreater(number, 10)
        for number in range(10):
            self.tell(["BF.WINDOW", f"window-{number}", "0.01", "100", "1000"])
            self.tell(["BF.MADD", f"window-{number}", *items(0, 100 * number + 1)])
        until("time passes", lambda: time.monotonic() - first > 2)
        # Their logs are read when all of it is long forgotten, and have it all the same.
        self.check_restarts()
        self.assertEqual(self.primary.run("BF.EXISTS", "window-3", "item-7"), 1)
        self.assertEqual(self.primary.run("BF.EXISTS", "native", "first"), 0)


class Loading(unittest.TestCase):
    def test_replicas_load_from_memory_and_while_they_answer(self):
        primary = Engine()
        self.addCleanup(primary.end)
        for layout in LAYOUTS:
            primary.run("CONFIG", "SET", "mayhap.layout", layout)
            for number in range(20):
                primary.run("BF.MADD", f"{layout}-bf-{number}", *items(0, 100 * number + 1))
                primary.run("CF.INSERT", f"{layout}-cf-{number}", "ITEMS", *items(0, 100 * number + 1))
        for how in ("disabled", "swapdb", "on-empty-db"):
            replica = Engine(f"repl-diskless-load {how}", arguments=OTHERWISE)
            self.addCleanup(replica.end)
            if how != "on-empty-db":
                replica.run("BF.ADD", "its own", "apple")
            replica.follow(primary)
            same(self, primary.dumps(), replica.dumps(), how)
            # What was loaded so is loaded to stay, and counted; an engine may free what was there before in the background.
            until("80 filters are counted", lambda: replica.redis.info("mayhap_filters")["mayhap_count"] == 80)


if __name__ == "__main__":
    unittest.main()
