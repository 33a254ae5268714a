"""DUMP payloads that the real RedisBloom has written, with what it answered."""

import json
import pathlib

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "golden" / "redisbloom"

# Version of RDB and checksum.
TRAILER_BYTES = 10

COUNT = """
local counts = {}
for number, item in ipairs(ARGV) do counts[number] = redis.call('CF.COUNT', KEYS[1], item) end
return counts
"""

_POLYNOMIAL = 0x95AC9329AC4BC9B5


def _entry(byte):
    for _ in range(8):
        byte = byte >> 1 ^ (_POLYNOMIAL if byte & 1 else 0)
    return byte


_TABLE = [_entry(byte) for byte in range(256)]


def crc64(data):
    """The checksum of a DUMP."""
    state = 0
    for byte in data:
        state = _TABLE[(state ^ byte) & 0xFF] ^ state >> 8
    return state


def damaged(payload, change, step):
    """A payload for every `step`-th byte behind the first, which is changed there; once with the checksum as it was, and once with
    the right one. The checksum is linear: a change of one byte changes it in a way that depends on how far from the end it is."""
    size = len(payload) - 8
    checksum = int.from_bytes(payload[size:], "little")
    assert checksum == crc64(payload[:size])
    moved = _TABLE[change]
    for at in range(size - 1, 0, -1):
        if at % step == 0:
            body = payload[:at] + bytes([payload[at] ^ change]) + payload[at + 1 : size]
            yield body + payload[size:], body + (checksum ^ moved).to_bytes(8, "little")
        moved = _TABLE[moved & 0xFF] ^ moved >> 8


def keys(rule):
    """The keys of a rule, with their numbers."""
    start = rule.get("start", 0)
    make = {
        "prefix": lambda number: f"{rule.get('prefix')}{number}".encode(),
        "le64": lambda number: number.to_bytes(8, "little"),
        "tail": lambda number: bytes((31 * number + 7 * place) % 256 for place in range(number)),
    }[rule["rule"]]
    return [(number, make(number)) for number in range(start, start + rule["count"])]


class Case:
    def __init__(self, path):
        told = json.loads(path.read_text())
        self.name, self.family, self.told = told["case"], told["family"], told
        self.key = self.name.encode()
        self.absent = keys(told["absent_rule"])
        self.used = list(dict.fromkeys(key for step in told["steps"] for _, key in keys(step["keys"])))
        dump = (FOLDER / told["dump"]["file"]).read_bytes()
        self.payload = dump[:-TRAILER_BYTES] + bytes.fromhex(told["dump_rdb10"]["trailer_hex"])

    def commands(self):
        """The filter as commands, which RedisBloom passes on as they come."""
        for command, _, *rest in self.told["setup"]:
            if command.endswith("LOADCHUNK"):
                rest = [rest[0], bytes.fromhex(rest[1])]
            yield [command, self.key, *rest]
        for step in self.told["steps"]:
            of_step = [key for _, key in keys(step["keys"])]
            command = step["op"]
            if "INSERT" in command:
                yield [command, self.key, "ITEMS", *of_step]
            elif command == "BF.MADD":
                yield [command, self.key, *of_step]
            else:
                yield from ([command, self.key, key] for key in of_step)

    def check(self, test, engine):
        """All that is listed of the filter."""
        told, run = self.told, engine.run
        info = [word.decode() if isinstance(word, bytes) else word for word in run(f"{self.family}.INFO", self.key)]
        test.assertEqual(info, told["info"], self.name)
        debug = run(f"{self.family}.DEBUG", self.key)
        debug = debug.decode() if isinstance(debug, bytes) else [line.decode() for line in debug]
        test.assertEqual(debug, told["debug"], self.name)
        absent = self.absent
        found = run(f"{self.family}.MEXISTS", self.key, *[key for _, key in absent])
        test.assertEqual([number for (number, _), yes in zip(absent, found) if yes], told["false_positives"], self.name)
        used = self.used
        if self.family == "CF":
            counts = run("EVAL", COUNT, 1, self.key, *used[:2000])
            test.assertEqual(counts, told["count_of_first_2000_distinct_keys"], self.name)
        elif used:
            test.assertEqual(set(run("BF.MEXISTS", self.key, *used)), {1}, self.name)


def cases():
    """Those that an engine of 7.0 takes."""
    paths = sorted(FOLDER.glob("*.json"))
    return [Case(path) for path in paths if "dump_rdb10" in json.loads(path.read_text())]
