"""What else redis-py does with a server: transactions, expiry, scans, names, settings, passwords, TLS, many at once."""

import os
import shutil
import subprocess
import tempfile
import threading
import unittest

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from server import PROGRAM, Server

# For connections that are meant to fail, and need not fail again.
ONCE = {"retry": Retry(NoBackoff(), 0)}


class Generic:
    protocol = 2

    @classmethod
    def setUpClass(cls):
        cls.server = Server()

    @classmethod
    def tearDownClass(cls):
        assert cls.server.end() == 0

    def setUp(self):
        self.redis = redis.Redis(port=self.server.port, protocol=self.protocol, decode_responses=True)
        self.redis.flushall()

    def tearDown(self):
        self.redis.close()

    def test_pipeline_with_an_error_in_it(self):
        pipeline = self.redis.pipeline(transaction=True)
        pipeline.set("s", "text")
        pipeline.bf().add("s", "x")
        pipeline.get("s")
        told = pipeline.execute(raise_on_error=False)
        self.assertIs(told[0], True)
        self.assertIsInstance(told[1], redis.ResponseError)
        self.assertEqual(told[2], "text")

    def test_a_thousand_commands_in_a_pipeline(self):
        for is_transaction in (False, True):
            self.redis.flushall()
            pipeline = self.redis.pipeline(transaction=is_transaction)
            for at in range(1000):
                pipeline.bf().add("b", at)
            self.assertEqual(len(pipeline.execute()), 1000)
            self.assertEqual(sum(self.redis.bf().mexists("b", *range(1000))), 1000)

    def test_filter_files_are_listed_and_queried_with_numbers(self):
        path = os.path.join(self.server.folder, "users.guava")
        numbers = "\n".join(map(str, range(1000))).encode()
        build = [PROGRAM, "build", "--format", "guava", "--key-type", "i64", "--fpr", "1e-9", "-o", path]
        subprocess.run(build, input=numbers, check=True)
        self.redis.set("text", "x")
        while not self.redis.exists("users"):
            pass
        bf = self.redis.bf()
        self.assertEqual(bf.exists("users#i64", 42), 1)
        self.assertEqual(bf.mexists("users.guava#i64", 0, -1, 999, 1000), [1, 0, 1, 0])
        with self.assertRaisesRegex(redis.ResponseError, "is not a whole number"):
            bf.exists("users#i64", "apple")
        with self.assertRaisesRegex(redis.ReadOnlyError, "filter file"):
            self.redis.delete("users")
        files = {"users", "users.guava"}
        self.assertEqual(set(self.redis.scan_iter()), files | {"text"})
        self.assertEqual(set(self.redis.scan_iter(_type="mayhap-file")), files)
        self.assertEqual(set(self.redis.keys("users*")), files)
        self.assertEqual(self.redis.type("users"), "mayhap-file")
        self.redis.flushall()
        self.assertEqual(set(self.redis.keys()), files)
        os.remove(path)
        while self.redis.exists("users"):
            pass

    def test_watch(self):
        self.redis.bf().add("b", "x")
        with self.redis.pipeline() as pipeline:
            pipeline.watch("b")
            self.assertEqual(pipeline.bf().exists("b", "y"), 0)
            self.redis.bf().add("b", "somebody else")
            pipeline.multi()
            pipeline.bf().add("b", "y")
            with self.assertRaises(redis.WatchError):
                pipeline.execute()
        self.assertEqual(self.redis.bf().exists("b", "y"), 0)

        def insert(pipeline):
            seen = pipeline.bf().exists("b", "y")
            pipeline.multi()
            pipeline.bf().add("b", "y" if not seen else "z")

        self.assertEqual(self.redis.transaction(insert, "b"), [1])
        self.assertEqual(self.redis.bf().exists("b", "y"), 1)

    def test_expiry(self):
        self.redis.bf().add("b", "x")
        self.assertEqual(self.redis.ttl("b"), -1)
        self.assertEqual(self.redis.ttl("nothing"), -2)
        self.assertTrue(self.redis.expire("b", 100))
        self.assertTrue(0 < self.redis.ttl("b") <= 100)
        self.assertTrue(0 < self.redis.pttl("b") <= 100_000)
        self.assertFalse(self.redis.expire("b", 50, gt=True))
        self.assertTrue(self.redis.persist("b"))
        self.assertEqual(self.redis.ttl("b"), -1)
        self.assertTrue(self.redis.expireat("b", 4_102_444_800))
        self.assertEqual(self.redis.expiretime("b"), 4_102_444_800)
        self.assertTrue(self.redis.pexpire("b", 1))
        while self.redis.exists("b"):
            pass
        self.assertEqual(self.redis.bf().exists("b", "x"), 0)

    def test_scan(self):
        names = {f"key:{at}" for at in range(500)}
        for name in names:
            self.redis.set(name, "x")
        self.redis.bf().add("filter", "x")
        self.assertEqual(set(self.redis.scan_iter("key:*")), names)
        self.assertEqual(set(self.redis.scan_iter(count=7)), names | {"filter"})
        self.assertEqual(list(self.redis.scan_iter(_type="mayhap-bf")), ["filter"])
        self.assertEqual(set(self.redis.keys("key:1?")), {f"key:1{at}" for at in range(10)})
        self.assertEqual(self.redis.dbsize(), 501)
        self.assertIn(self.redis.randomkey(), names | {"filter"})
        self.assertEqual(self.redis.unlink(*names), 500)

    def test_keys(self):
        self.redis.bf().add("b", "x")
        self.assertTrue(self.redis.rename("b", "c"))
        self.assertTrue(self.redis.copy("c", "d"))
        self.assertFalse(self.redis.renamenx("c", "d"))
        self.assertEqual(self.redis.exists("b", "c", "d"), 2)
        self.assertGreater(self.redis.memory_usage("c"), 0)
        self.assertEqual(self.redis.object("encoding", "c"), "raw")
        self.assertEqual(self.redis.touch("c", "d"), 2)
        self.assertEqual(self.redis.delete("c", "d"), 2)
        self.assertTrue(self.redis.set("s", "x", nx=True, ex=100))
        self.assertIsNone(self.redis.set("s", "y", nx=True))
        self.assertEqual(self.redis.set("s", "y", get=True, keepttl=True), "x")
        self.assertEqual(self.redis.strlen("s"), 1)

    def test_names(self):
        self.assertTrue(self.redis.client_setname("some-name"))
        self.assertEqual(self.redis.client_getname(), "some-name")
        own = self.redis.client_id()
        listed = {client["id"]: client for client in self.redis.client_list()}
        self.assertEqual(listed[str(own)]["name"], "some-name")
        self.assertEqual(listed[str(own)]["lib-name"], "redis-py")
        self.assertEqual(listed[str(own)]["cmd"], "client|list")
        self.assertEqual(self.redis.client_info()["name"], "some-name")
        other = redis.Redis(port=self.server.port, single_connection_client=True, **ONCE)
        other_id = other.client_id()
        self.assertEqual(self.redis.client_kill_filter(_id=other_id), 1)
        self.assertNotIn(str(other_id), {client["id"] for client in self.redis.client_list()})
        other.close()

    def test_settings(self):
        self.assertEqual(self.redis.config_get("bf-error-rate"), {"bf-error-rate": "0.01"})
        small, large = ("bf-initial-size", 100), ("bf-initial-size", 100_000)
        for key, setting in (("small", small), ("large", large), ("small again", small)):
            self.assertTrue(self.redis.config_set(*setting))
            self.redis.bf().add(key, "x")
        sizes = [self.redis.memory_usage(key) for key in ("small", "large", "small again")]
        self.assertGreater(sizes[1], 100_000)
        self.assertLess(max(sizes[0], sizes[2]), 10_000)
        self.assertTrue(self.redis.config_set("mayhap-layout", "redisbloom"))
        self.redis.bf().add("old", "x")
        self.assertEqual(self.redis.type("old"), "MBbloom--")
        self.assertTrue(self.redis.config_set("mayhap-layout", "native"))
        with self.assertRaisesRegex(redis.ResponseError, "CONFIG SET failed"):
            self.redis.config_set("bf-error-rate", 7)
        self.assertTrue(self.redis.config_resetstat())

    def test_what_tools_read(self):
        told = self.redis.info()
        fields = [told[name] for name in ("arch_bits", "cluster_enabled", "role", "blocked_clients", "redis_mode")]
        self.assertEqual(fields, [64, 0, "master", 0, "standalone"])
        self.assertIn("bf", [module["name"] for module in told["modules"]])
        self.assertIn("keyspace_hits", self.redis.info("everything"))
        self.assertTrue(self.redis.client_pause(1, all=False))
        self.assertTrue(self.redis.client_unpause())
        self.assertTrue(self.redis.bgrewriteaof())
        with self.assertRaisesRegex(redis.ResponseError, "noeviction"):
            self.redis.config_set("maxmemory-policy", "allkeys-lru")
        self.assertTrue(self.redis.config_set("timeout", 100))
        self.assertEqual(self.redis.config_get("timeout"), {"timeout": "100"})
        self.assertTrue(self.redis.config_set("timeout", 0))

    def test_information(self):
        self.redis.bf().add("b", "x")
        info = self.redis.info()
        self.assertEqual(info["redis_mode"], "standalone")
        self.assertEqual(info["db0"]["keys"], 1)
        self.assertNotIn("filter_b", info)
        self.assertEqual(self.redis.info("filters")["filter_b"]["keys"], 1)
        self.assertEqual(self.redis.info("server")["tcp_port"], self.server.port)
        self.assertEqual({module["name"] for module in self.redis.module_list()}, {"bf", "mayhap"})
        self.assertIn("bf.add", self.redis.command())
        self.assertGreater(self.redis.command_count(), 60)
        self.assertEqual(self.redis.command_getkeys("BF.ADD", "b", "x"), ["b"])
        self.assertEqual(self.redis.role()[0], "master")
        self.assertEqual(self.redis.echo("x"), "x")
        self.assertEqual(len(self.redis.time()), 2)
        self.assertEqual(self.redis.slowlog_reset(), True)
        self.assertEqual(self.redis.slowlog_len(), 0)
        self.redis.config_set("slowlog-log-slower-than", 0)
        self.redis.ping()
        self.assertIn(b"PING", [told["command"] for told in self.redis.slowlog_get()])
        self.redis.config_set("slowlog-log-slower-than", 10_000)
        self.assertTrue(self.redis.save())
        self.assertTrue(self.redis.lastsave())
        self.assertTrue(self.redis.bgsave())

    def test_many_threads(self):
        """One filter and one pool for all: each key is new to exactly one of the threads."""
        self.redis.bf().create("b", 0.000001, 100_000)
        self.redis.cf().create("c", 100_000)
        new, failed = [0] * 8, []

        def work(number):
            try:
                for start in range(0, 4000, 100):
                    new[number] += sum(self.redis.bf().madd("b", *range(start, start + 100)))
                    self.redis.cf().insert("c", [f"{number}:{start}"])
            except Exception as error:  # told in the thread of the test
                failed.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failed, [])
        self.assertEqual(sum(new), self.redis.bf().card("b"))
        self.assertGreaterEqual(sum(new), 3990)
        self.assertEqual(self.redis.cf().count("c", "7:3900"), 1)

    def test_password(self):
        with Server(environment={"MAYHAP_PASSWORD": "secret"}) as server:
            options = {"port": server.port, "protocol": self.protocol}
            with self.assertRaises(redis.AuthenticationError):
                redis.Redis(**options, **ONCE).ping()
            with self.assertRaises(redis.AuthenticationError):
                redis.Redis(password="wrong", **options, **ONCE).ping()
            for right in ({"password": "secret"}, {"username": "default", "password": "secret"}):
                client = redis.Redis(**right, **options)
                self.assertTrue(client.ping())
                client.close()
            url = f"redis://default:secret@127.0.0.1:{server.port}/0?protocol={self.protocol}"
            with redis.from_url(url) as client:
                self.assertEqual(client.bf().add("b", "x"), 1)

    def test_tls(self):
        folder = tempfile.mkdtemp()
        certificate, key = os.path.join(folder, "cert.pem"), os.path.join(folder, "key.pem")
        names = "subjectAltName=DNS:localhost,IP:127.0.0.1"
        making = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        subprocess.run(
            [*making, "-keyout", key, "-out", certificate, "-days", "2", "-subj", "/CN=localhost", "-addext", names],
            check=True,
            stderr=subprocess.DEVNULL,
        )
        with Server("--tls-port", "0", "--tls-cert", certificate, "--tls-key", key) as server:
            options = {"port": server.ports[1], "ssl": True, "protocol": self.protocol}
            with redis.Redis(ssl_ca_certs=certificate, **options) as client:
                self.assertEqual(client.bf().add("b", "x"), 1)
                self.assertEqual(sum(client.bf().madd("b", *range(50_000))), client.bf().card("b") - 1)
                client.set("long", b"x" * (5 << 20))
                self.assertEqual(client.get("long"), b"x" * (5 << 20))
            with self.assertRaises(redis.ConnectionError):
                redis.Redis(**options, **ONCE).ping()
        shutil.rmtree(folder)


class Resp2(Generic, unittest.TestCase):
    pass


class Resp3(Generic, unittest.TestCase):
    protocol = 3


if __name__ == "__main__":
    unittest.main()
