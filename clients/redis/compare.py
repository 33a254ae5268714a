"""The same commands to Debian's redis-server and to ours: equal replies, byte for byte.

usage: compare.py commands.txt; MAYHAP is the program, redis-server is on the path
"""

import os
import re
import socket
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "python"))
from server import Server  # noqa: E402

# Lines whose replies may differ, and why.
DIFFERENCES = {
    "SELECT 1": "there is one database",
    "CONFIG GET databases": "there is one database",
    "CONFIG GET appendonly": "there always is a log",
    "COMMAND COUNT": "we have fewer commands",
    "LPUSH list x": "there are filters and strings only",
    "PUBLISH channel x": "nobody can subscribe",
    "EVAL x 0": "there is no Lua",
    "CONFIG GET maxmemory-*": "nothing is evicted, and nothing about it can be set",
    "CLIENT TRACKING ON": "clients are not told of changes",
}


class Connection:
    def __init__(self, address):
        family = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
        self.socket = socket.socket(family)
        self.socket.connect(address)
        self.stream = self.socket.makefile("rb")

    def ask(self, words):
        request = b"*%d\r\n" % len(words)
        request += b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)
        self.socket.sendall(request)
        return self.reply()

    def reply(self):
        line = self.stream.readline()
        if not line:
            raise ConnectionError("the server closed the connection")
        kind, rest = line[:1], line[1:-2]
        if kind in b"$=" and int(rest) >= 0:
            return line + self.stream.read(int(rest) + 2)
        if kind in b"*~>%":
            count = max(int(rest), 0) * (2 if kind == b"%" else 1)
            return line + b"".join(self.reply() for _ in range(count))
        return line


def words_of(line):
    """As redis-cli reads them: quotes keep words together, and within them backslashes have a meaning."""
    words = []
    for quoted, plain in re.findall(r'"((?:[^"\\]|\\.)*)"|(\S+)', line):
        text = plain or quoted.encode().decode("unicode_escape")
        words.append(text.encode("latin-1"))
    return words


def differing(lines, redis, ours, protocol):
    """Lines whose replies differ: number, line, Redis's reply, ours."""
    both = [[Connection(address) for _ in range(2)] for address in (redis, ours)]
    if protocol == 3:
        for connections in both:
            for connection in connections:
                connection.ask([b"HELLO", b"3"])
    for number, line in lines:
        which, text = (1, line[2:]) if line.startswith("2>") else (0, line)
        replies = [connections[which].ask(words_of(text)) for connections in both]
        if replies[0] != replies[1]:
            yield number, line, *replies
        if text == "RESET" and protocol == 3:
            for connections in both:
                connections[which].ask([b"HELLO", b"3"])


def carries(redis, ours):
    """Strings travel by DUMP and RESTORE, both ways."""
    one, other = Connection(redis), Connection(ours)
    for text in (b"", b"12345", b"short", b"a" * 5000, bytes(range(256)) * 100):
        for source, target in ((one, other), (other, one)):
            source.ask([b"SET", b"s", text])
            dumped = source.ask([b"DUMP", b"s"]).split(b"\r\n", 1)[1][:-2]
            assert target.ask([b"RESTORE", b"t", b"0", dumped, b"REPLACE"]) == b"+OK\r\n", text[:10]
            assert target.ask([b"GET", b"t"]) == b"$%d\r\n%s\r\n" % (len(text), text), text[:10]


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        lines = [(number, line.rstrip("\n")) for number, line in enumerate(file, 1)]
    lines = [(number, line) for number, line in lines if line and not line.startswith("#")]
    met, unequal = set(), 0
    for protocol in (2, 3):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "socket")
            options = ["--port", "0", "--unixsocket", path, "--save", "", "--dir", folder, "--daemonize", "no"]
            redis = subprocess.Popen(["redis-server", *options], stdout=subprocess.PIPE, text=True)
            while "The server is now ready" not in (told := redis.stdout.readline()):
                assert told, "redis-server did not start"
            try:
                with Server("--max-memory", "0") as ours:
                    address = ("127.0.0.1", ours.port)
                    for number, line, theirs, mine in differing(lines, path, address, protocol):
                        if line in DIFFERENCES:
                            met.add(line)
                            continue
                        unequal += 1
                        print(f"RESP{protocol}, line {number}: {line}\n  redis  {theirs!r}\n  mayhap {mine!r}")
                    carries(path, address)
            finally:
                redis.terminate()
                redis.wait()
                redis.stdout.close()
    for line in DIFFERENCES.keys() - met:
        unequal += 1
        print(f"replies to {line!r} are equal: take it from DIFFERENCES")
    print(f"comparison with redis-server: {len(lines)} commands in two protocols, {unequal} unequal, {len(met)} known differences")
    sys.exit(unequal > 0)


if __name__ == "__main__":
    main()
