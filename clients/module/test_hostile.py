"""Bytes that somebody has changed: refused, or a filter that answers; the engine goes on, and takes no more memory than it may."""

import unittest

from engine import IS_VALKEY, Engine
from golden import crc64, damaged
from sentences import LAYOUTS, items

# Restores or loads in pieces, asks, adds, removes, dumps and restores again, whatever is answered.
ASK = """
local key, family, how = KEYS[1], ARGV[1], ARGV[2]
local function say(...)
  local reply = redis.pcall(...)
  return type(reply) == 'table' and (reply.err or reply.ok or 'many') or tostring(reply)
end
local made
if how == 'RESTORE' then
  made = say('RESTORE', key, 0, ARGV[3])
else
  for at = 3, #ARGV, 2 do
    made = say(how, key, ARGV[at], ARGV[at + 1])
  end
end
local replies = {made, say(family .. '.INFO', key), say(family .. '.ADD', key, 'apple'), say(family .. '.EXISTS', key, 'apple')}
local dump = redis.call('DUMP', key)
local again = 'none'
if dump then
  again = say('RESTORE', key, 0, dump, 'REPLACE')
  again = again .. (redis.call('DUMP', key) == dump and ', the same' or ', another')
end
replies[5] = again
redis.call('DEL', key)
return replies
"""

MOST_MEMORY = 200 << 20


class Hostile(unittest.TestCase):
    def setUp(self):
        self.engine = Engine(f"maxmemory {MOST_MEMORY}")
        self.addCleanup(self.engine.end)
        self.families = {}
        for layout in LAYOUTS:
            self.engine.run("CONFIG", "SET", "mayhap.layout", layout)
            for family, words in (
                ("BF", ("BF.MADD",)),
                ("BF", ("BF.RESERVE", "0.01", "40", "NONSCALING")),
                ("CF", ("CF.INSERT", "CAPACITY", "40")),
                ("CF", ("CF.RESERVE", "40", "EXPANSION", "0")),
                ("CBF", ("CBF.RESERVE", "0.01", "40")),
                ("BF", ("BF.WINDOW", "0.01", "20", "1000")),
            ):
                key = f"{layout} {len(self.families)}"
                self.families[key] = family
                if "RESERVE" in words[0] or "WINDOW" in words[0]:
                    self.engine.run(words[0], key, *words[1:])
                add = {"BF": ("BF.MADD", key), "CF": ("CF.INSERT", key, "ITEMS"), "CBF": ("CBF.MADD", key)}[family]
                self.engine.run(*add, *items(0, 150))
        self.engine.run("CONFIG", "SET", "mayhap.layout", "native")

    def say(self, commands):
        """What came of them: how many were accepted."""
        pipeline = self.engine.bare.pipeline(transaction=False)
        for words in commands:
            pipeline.execute_command("EVAL", ASK, 1, "k", *words)
        accepted = 0
        for words, (made, _, added, found, again) in zip(commands, pipeline.execute()):
            if made == b"OK":
                accepted += 1
                # There is no false negative, whatever the bits; but what is full is full.
                self.assertTrue(found == b"1" or not added.isdigit(), (words[:2], made, added, found))
            self.assertIn(again, (b"OK, the same", b"none"), (words, made, added))
        self.assertTrue(self.engine.is_alive())
        return accepted

    def end_within_memory(self):
        self.assertLess(self.engine.redis.info("memory")["used_memory_peak"], MOST_MEMORY + (50 << 20))

    def test_damaged_dumps(self):
        accepted = total = 0
        for key, family in self.families.items():
            payload = self.engine.run("DUMP", key)
            for change in (1, 128) if IS_VALKEY else (1, 16, 255):
                with self.subTest(key, change=change):
                    # What is large is mostly bits.
                    step = 1 + len(payload) // 1000 * 10
                    commands = [(family, "RESTORE", right) for _, right in damaged(payload, change, step)]
                    accepted += self.say(commands)
                    total += len(commands)
        self.assertIn(accepted, range(total // 10, total - total // 100), total)
        self.end_within_memory()

    def test_damaged_and_missing_chunks(self):
        accepted = total = 0
        for key, family in self.families.items():
            if family == "CBF":
                continue
            chunks, at = [], 0
            while True:
                at, chunk = self.engine.run(f"{family}.SCANDUMP", key, at)
                if not at:
                    break
                chunks.append((at, chunk))
            loading = lambda pieces: (family, f"{family}.LOADCHUNK", *[word for piece in pieces for word in piece])
            self.assertEqual(self.say([loading(chunks)]), 1)
            (first, header), rest = chunks[0], chunks[1:]
            commands = []
            step = 1 + sum(len(chunk) for _, chunk in rest) // 10_000
            for change in (1, 255):
                for place in range(0, len(header), step):
                    changed = header[:place] + bytes([header[place] ^ change]) + header[place + 1 :]
                    commands.append(loading([(first, changed), *rest]))
            commands += [loading([(first, header[:end])]) for end in range(len(header))]
            for at, chunk in rest:
                commands += [loading([(first, header), (place, chunk)]) for place in (0, -1, 1, 2, at - 1, at + 1, 2**62, 2**63 - 1, "x", "")]
                commands += [loading([(first, header), (at, chunk + b"x")]), loading([(first, header), (at, b"")])]
            with self.subTest(key):
                accepted += self.say(commands)
                total += len(commands)
        self.assertIn(accepted, range(total // 20, total - total // 10), total)
        self.end_within_memory()

    def test_images_of_other_kinds(self):
        # A dump says its type twice for our own: by name, and in the image.
        native = [self.engine.run("DUMP", key) for key in self.families if self.engine.run("TYPE", key).startswith(b"mayhap")]
        bodies = {dump[1:10] for dump in native}
        self.assertEqual(len(bodies), 3)
        for dump in native:
            for name in bodies - {dump[1:10]}:
                body = dump[:1] + name + dump[10:-8]
                reply = self.engine.run("RESTORE", "k", 0, body + crc64(body).to_bytes(8, "little"))
                self.assertIn("Bad data format", str(reply))


if __name__ == "__main__":
    unittest.main()
