"""Moves a filter of 1 GB from an engine with the module to `mayhap serve`, and back: `measure.py [redisbloom|native] [ITEMS]`. Prints the tool's
peak memory, how long other clients waited, and the commands that took longest. Set as for test_engines.py."""

import sys
import time

from test_engines import Watch, connect, start

from engine import Engine
from migration import url
from server import Server


def slowest(name, port):
    """Prints which commands of the tool block longest."""
    with connect(port) as client:
        client.response_callbacks.clear()
        entries = client.execute_command("SLOWLOG", "GET", 1000)
    entries = sorted(entries, key=lambda entry: entry[2], reverse=True)[:4]
    for _, _, microseconds, words, *_ in entries:
        line = b" ".join(word[:40] for word in words[:3]).decode(errors="replace")
        print(f"  {name}: {microseconds / 1000:.1f} ms: {line}", flush=True)


layout = sys.argv[1] if len(sys.argv) > 1 else "redisbloom"
items = int(sys.argv[2]) if len(sys.argv) > 2 else 300_000_000
engine, server = Engine(arguments=f"layout {layout}"), Server("--layout", layout)
try:
    engine.bare.execute_command("BF.RESERVE", "large", "0.000001", items)
    engine.bare.execute_command("BF.MADD", "large", *range(1000))
    print(f"{engine.bare.execute_command('BF.INFO', 'large', 'SIZE')[0]} bytes", flush=True)
    for port in (engine.port, server.port):
        with connect(port) as client:
            client.response_callbacks.clear()
            client.execute_command("CONFIG", "SET", "slowlog-log-slower-than", 2000)
            client.execute_command("CONFIG", "SET", "slowlog-max-len", 1000)
    for name, source, target in (("engine to server", engine.port, server.port), ("server to engine", server.port, engine.port)):
        watch, begin = Watch(source, target), time.monotonic()
        process = start(url(source), url(target))
        watch.until_ended(process)
        print(f"{name}: {time.monotonic() - begin:.0f} s, status {process.returncode}; {watch}", flush=True)
        slowest("source", source)
        slowest("target", target)
        with connect(source) as client:
            client.execute_command("UNLINK", "large")
        for port in (source, target):
            with connect(port) as client:
                client.execute_command("SLOWLOG", "RESET")
finally:
    server.end()
    engine.end()
