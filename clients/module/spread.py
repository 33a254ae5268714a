"""One large filter spread over the nodes of a Redis Cluster: so many Bloom filters `name:{0}`, `name:{1}` .., each item in one of them.

    spread.py --port 7000 --name seen --shards 64 reserve --error 0.001 --capacity 1000000000
    spread.py --port 7000 --name seen --shards 64 add < urls.txt        # prints the lines that were surely new
    spread.py --port 7000 --name seen --shards 64 check < urls.txt      # prints the lines that may be in
"""

import argparse
import hashlib
import math
import sys


class Spread:
    """`client` is a redis.RedisCluster, or a redis.Redis. The number of shards is for good: an item is looked for where it was put."""

    def __init__(self, client, name, shards):
        self.client, self.name, self.shards = client, name, shards

    def key(self, shard):
        """In braces is what Redis Cluster hashes: shards have slots of their own, wherever the name."""
        return f"{self.name}:{{{shard}}}"

    def shard(self, item):
        """A hash that has nothing to do with those of the filters, and never changes."""
        item = item.encode() if isinstance(item, str) else item
        return int.from_bytes(hashlib.blake2b(item, digest_size=8).digest(), "little") % self.shards

    def shard_capacity(self, capacity):
        """Shards get different numbers of items, by chance: with four standard deviations more, one in 30,000 gets more than that."""
        share = capacity / self.shards
        return math.ceil(share + 4 * math.sqrt(share))

    def reserve(self, error, capacity):
        """Each item is asked of one shard: the rate of all is the rate of one."""
        for shard in range(self.shards):
            self.client.execute_command("BF.RESERVE", self.key(shard), error, self.shard_capacity(capacity))

    def add(self, items):
        """For each item, whether it was surely new."""
        return self._each("BF.MADD", items)

    def exists(self, items):
        """For each item, whether it may be in."""
        return self._each("BF.MEXISTS", items)

    def _each(self, command, items):
        """One command a shard, all on their way at once, and answers in the order of the items."""
        places = {}
        for place, item in enumerate(items):
            places.setdefault(self.shard(item), []).append(place)
        pipeline = self.client.pipeline(transaction=False)
        for shard, of_shard in places.items():
            pipeline.execute_command(command, self.key(shard), *[items[place] for place in of_shard])
        answers = [False] * len(items)
        for of_shard, replies in zip(places.values(), pipeline.execute()):
            for place, reply in zip(of_shard, replies):
                if isinstance(reply, Exception):
                    raise reply
                answers[place] = bool(reply)
        return answers

    def total(self, command, *words):
        """The sum of a number over all shards, such as BF.CARD or MEMORY USAGE."""
        pipeline = self.client.pipeline(transaction=False)
        for shard in range(self.shards):
            pipeline.execute_command(command, *words, self.key(shard))
        return sum(reply or 0 for reply in pipeline.execute())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=7000)
    parser.add_argument("--name", default="seen")
    parser.add_argument("--shards", type=int, default=64)
    verbs = parser.add_subparsers(dest="verb", required=True)
    reserve = verbs.add_parser("reserve")
    reserve.add_argument("--error", default="0.01")
    reserve.add_argument("--capacity", type=int, required=True)
    verbs.add_parser("add")
    verbs.add_parser("check")
    said = parser.parse_args()

    import redis

    spread = Spread(redis.RedisCluster(said.host, said.port), said.name, said.shards)
    if said.verb == "reserve":
        return spread.reserve(said.error, said.capacity)
    ask = spread.add if said.verb == "add" else spread.exists
    lines = sys.stdin.buffer.read().splitlines()
    for start in range(0, len(lines), 10_000):
        some = lines[start : start + 10_000]
        for line, answer in zip(some, ask(some)):
            if answer:
                sys.stdout.buffer.write(line + b"\n")


if __name__ == "__main__":
    main()
