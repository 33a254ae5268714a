"""`mayhap migrate` with clusters, TLS, users and passwords."""

import os
import random
import subprocess
import tempfile
import unittest

from migration import chunks, migrate, temporaries, url

import redis
from cluster import Cluster
from engine import Engine
from server import Server

ITEMS = [f"item-{number}" for number in range(3000)]
# Hash tags in all their forms.
KEYS = [
    b"plain", b"{tag}a", b"b{tag}", b"{}empty", b"a}b{c}", b"}{", b"{open", b"{{x}}y", b"\xff\x00binary", b"with space",
    *[f"seen:{number}".encode() for number in range(20)],
]


class Clusters(unittest.TestCase):
    def setUp(self):
        self.cluster = Cluster(masters=3, replicas=0)
        self.addCleanup(self.cluster.end)
        self.server = Server("--layout", "redisbloom")
        self.addCleanup(self.server.end)
        self.single = redis.Redis(port=self.server.port, protocol=2)
        self.single.response_callbacks.clear()
        self.addCleanup(self.single.close)

    def node_of(self, key):
        """The node that answers for the key."""
        for node in self.cluster.nodes:
            if not isinstance(node.run("TYPE", key), redis.ResponseError):
                return node
        raise AssertionError(f"no node has {key}")

    def assertAllThere(self):
        for key in KEYS:
            node = self.node_of(key)
            self.assertEqual(chunks(node.bare, "BF", key), chunks(self.single, "BF", key), key)
        self.assertEqual(temporaries(*[node.redis for node in self.cluster.nodes]), [])

    def test_a_cluster_is_a_target_and_a_source(self):
        for key in KEYS:
            self.single.execute_command("BF.MADD", key, *ITEMS)
        # Any node will do.
        target = url(self.cluster.nodes[1].port)
        rows, _ = migrate(url(self.server.port), target, "--verify", 100)
        self.assertEqual(len(rows), len(KEYS))
        self.assertEqual({row["verdict"] for row in rows.values()}, {"moved"})
        self.assertAllThere()
        rows, _ = migrate(url(self.server.port), target)
        self.assertEqual({row["verdict"] for row in rows.values()}, {"same"})
        self.single.execute_command("FLUSHALL")
        rows, _ = migrate(target, url(self.server.port))
        self.assertEqual({row["verdict"] for row in rows.values()}, {"moved"})
        self.assertAllThere()
        _, err = migrate(url(self.server.port), f"{target}/1", status=2)
        self.assertIn("database 0", err)

    def test_a_filter_whose_slot_is_being_moved_is_reported_and_moved_later(self):
        """A cluster renames nothing in a slot that two nodes share, so that nothing may appear there, or be left."""
        for key in KEYS:
            self.single.execute_command("BF.MADD", key, *ITEMS)
        nodes = self.cluster.nodes
        ids = [node.run("CLUSTER", "MYID") for node in nodes]
        key = b"plain"
        slot = nodes[0].run("CLUSTER", "KEYSLOT", key)
        owner = nodes.index(self.node_of(key))
        other = (owner + 1) % len(nodes)
        nodes[other].run("CLUSTER", "SETSLOT", slot, "IMPORTING", ids[owner])
        nodes[owner].run("CLUSTER", "SETSLOT", slot, "MIGRATING", ids[other])
        rows, _ = migrate(url(self.server.port), url(nodes[0].port), status=2)
        self.assertEqual([name for name, row in rows.items() if row["verdict"] != "moved"], ["plain"])
        self.assertIn("repeat this", rows["plain"]["reason"])
        self.assertEqual(temporaries(*[node.redis for node in nodes]), [])
        for node in (nodes[other], nodes[owner], nodes[3 - owner - other]):
            node.run("CLUSTER", "SETSLOT", slot, "NODE", ids[other])
        rows, _ = migrate(url(self.server.port), url(nodes[0].port))
        self.assertEqual(rows["plain"]["verdict"], "moved")
        self.assertAllThere()

    def test_temporary_names_are_in_the_slot_of_their_key(self):
        """A cluster renames only within a slot: every random key arrives."""
        chance = random.Random(7)
        node = self.cluster.nodes[0]
        letters = b"{}ab:\x00\xff"
        keys = {bytes(chance.choice(letters) for _ in range(chance.randrange(1, 9))) for _ in range(300)}
        for key in keys:
            self.single.execute_command("BF.ADD", key, "x")
        rows, _ = migrate(url(self.server.port), url(node.port))
        self.assertEqual(len(rows) and {row["verdict"] for row in rows.values()}, {"moved"})
        moved = [key for each in self.cluster.nodes for key in each.redis.keys()]
        self.assertEqual(sorted(moved), sorted(keys))


class Secrets(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.file = lambda name: os.path.join(self.folder, name)
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
             "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-addext", "basicConstraints=critical,CA:FALSE",
             "-keyout", self.file("key.pem"), "-out", self.file("cert.pem")],
            check=True, capture_output=True,
        )
        self.source = Server("--layout", "redisbloom")
        self.addCleanup(self.source.end)
        with redis.Redis(port=self.source.port) as client:
            client.execute_command("BF.MADD", "a", *ITEMS)

    def test_tls_and_a_password(self):
        target = Server("--tls-port", "0", "--tls-cert", self.file("cert.pem"), "--tls-key", self.file("key.pem"), environment={"MAYHAP_PASSWORD": "p@ss/word"})
        self.addCleanup(target.end)
        port = target.ports[-1]
        source = url(self.source.port)
        with_password = f"rediss://:p%40ss%2Fword@localhost:{port}"
        _, err = migrate(source, with_password, status=2)
        self.assertIn("--cacert", err)
        _, err = migrate(source, f"rediss://localhost:{port}", "--cacert", self.file("cert.pem"), status=2)
        self.assertIn("password", err)
        _, err = migrate(source, f"rediss://:wrong@localhost:{port}", "--insecure", status=2)
        self.assertIn("password", err)
        self.assertNotIn("wrong", err.replace("wrongpass", "").replace("WRONGPASS", ""))
        rows, _ = migrate(source, with_password, "--cacert", self.file("cert.pem"))
        self.assertEqual(rows["a"]["verdict"], "moved")
        rows, _ = migrate(source, f"rediss://localhost:{port}", "--insecure", environment={"MAYHAP_TARGET_PASSWORD": "p@ss/word"})
        self.assertEqual(rows["a"]["verdict"], "same")

    def test_a_user_with_few_rights(self):
        engine = Engine()
        self.addCleanup(engine.end)
        # Those of docs/guide/migrate.md.
        commands = "type scan exists pexpiretime pexpire pexpireat persist rename renamenx unlink multi exec discard bf.info bf.scandump bf.loadchunk"
        rights = ("~*", *[f"+{command}" for command in commands.split()])
        engine.run("ACL", "SETUSER", "mover", "on", ">secret", *rights)
        engine.run("CONFIG", "SET", "requirepass", "other")
        rows, _ = migrate(url(self.source.port), f"redis://mover:secret@127.0.0.1:{engine.port}")
        self.assertEqual(rows["a"]["verdict"], "moved")

    def test_mistakes_are_explained_in_one_line(self):
        source = url(self.source.port)
        for words, explained in [
            ((source, "nowhere"), "redis://"),
            ((source, "redis://127.0.0.1:1"), "127.0.0.1:1"),
            ((source, source), "same server"),
            ((self.file("missing.rdb"), source), "missing.rdb"),
            ((self.file("cert.pem"), source), "no RDB file"),
            ((source, "http://localhost"), "redis://"),
        ]:
            _, err = migrate(*words, status=2)
            self.assertEqual(err.count("\n"), 1, err)
            self.assertIn(explained, err)


if __name__ == "__main__":
    unittest.main()
