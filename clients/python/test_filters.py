"""redis-py's bf() and cf(), every method, in both protocols and both layouts."""

import unittest

import redis
from redis.commands.bf.info import BFInfo, CFInfo

from server import Server


class Filters:
    """Run once for each protocol and layout; see the end of this file."""

    protocol = 2
    layout = "native"

    @classmethod
    def setUpClass(cls):
        cls.server = Server("--layout", cls.layout)
        cls.other = Server("--layout", cls.layout)

    @classmethod
    def tearDownClass(cls):
        assert cls.server.end() == 0
        assert cls.other.end() == 0

    def client(self, server=None):
        return redis.Redis(port=(server or self.server).port, protocol=self.protocol)

    def setUp(self):
        self.redis = self.client()
        self.redis.flushall()
        self.bf = self.redis.bf()
        self.cf = self.redis.cf()

    def tearDown(self):
        self.redis.close()

    def bf_info(self, key):
        """In RESP3 redis-py hands the map on as it came."""
        info = self.bf.info(key)
        return BFInfo(info) if isinstance(info, dict) else info

    def cf_info(self, key):
        info = self.cf.info(key)
        return CFInfo(info) if isinstance(info, dict) else info

    def test_bloom_add_and_exists(self):
        self.assertEqual(self.bf.add("b", "apple"), 1)
        self.assertEqual(self.bf.add("b", "apple"), 0)
        self.assertEqual(self.bf.madd("b", "apple", "pear", ""), [0, 1, 1])
        self.assertEqual(self.bf.exists("b", "pear"), 1)
        self.assertEqual(self.bf.exists("b", "plum"), 0)
        self.assertEqual(self.bf.exists("nothing", "plum"), 0)
        self.assertEqual(self.bf.mexists("b", "apple", "plum", ""), [1, 0, 1])
        self.assertEqual(self.bf.card("b"), 3)
        self.assertEqual(self.bf.card("nothing"), 0)
        self.assertEqual(self.bf.add(b"\x00\xff", b"\xfe\r\n\x00"), 1)
        self.assertEqual(self.bf.exists(b"\x00\xff", b"\xfe\r\n\x00"), 1)

    def test_bloom_reserve(self):
        self.assertTrue(self.bf.create("b", 0.001, 1000))
        self.assertTrue(self.bf.reserve("c", 0.001, 1000, expansion=4))
        self.assertTrue(self.bf.reserve("d", 0.01, 4, noScale=True))
        self.assertEqual(self.bf_info("c").expansionRate, 4)
        self.assertIsNone(self.bf_info("d").expansionRate)
        with self.assertRaisesRegex(redis.ResponseError, "item exists"):
            self.bf.create("b", 0.01, 10)
        with self.assertRaisesRegex(redis.ResponseError, "Nonscaling filters cannot expand"):
            self.bf.create("e", 0.01, 10, expansion=2, noScale=True)
        with self.assertRaisesRegex(redis.ResponseError, "error rate must be in the range"):
            self.bf.create("e", 2, 10)
        for at in range(100):
            try:
                self.bf.add("d", at)
            except redis.ResponseError as error:
                self.assertIn("non scaling filter is full", str(error))
                break
        else:
            self.fail("it never was full")

    def test_bloom_insert(self):
        self.assertEqual(self.bf.insert("b", ["x", "y"], capacity=500, error=0.001, expansion=3), [1, 1])
        self.assertEqual(self.bf.insert("b", ["x", "z"], noCreate=True), [0, 1])
        self.assertEqual(self.bf_info("b").expansionRate, 3)
        self.assertEqual(self.bf.insert("n", ["x"], noScale=True), [1])
        self.assertIsNone(self.bf_info("n").expansionRate)
        with self.assertRaisesRegex(redis.ResponseError, "not found"):
            self.bf.insert("nothing", ["x"], noCreate=True)

    def test_bloom_info(self):
        self.bf.create("b", 0.01, 1000)
        self.bf.madd("b", *range(10))
        info = self.bf_info("b")
        self.assertEqual(info.insertedNum, 10)
        self.assertEqual(info.filterNum, 1)
        self.assertGreaterEqual(info.capacity, 1000)
        self.assertGreater(info.size, 1000)
        self.assertEqual(info.expansionRate, 2)
        with self.assertRaisesRegex(redis.ResponseError, "not found"):
            self.bf_info("nothing")

    def test_bloom_grows_and_forgets_nothing(self):
        self.bf.madd("b", 0)
        small = self.bf_info("b").size
        for start in range(0, 20_000, 500):
            self.bf.madd("b", *range(start, start + 500))
        found = self.bf.mexists("b", *range(20_000))
        self.assertEqual(sum(found), 20_000)
        wrong = sum(self.bf.mexists("b", *range(1_000_000, 1_020_000)))
        self.assertLess(wrong, 400, "of 20,000 strangers 1 % may be found")
        self.assertGreater(self.bf_info("b").size, 10 * small)
        grows_in_place = self.layout == "native"
        self.assertEqual(self.bf_info("b").filterNum == 1, grows_in_place)

    def chunks(self, family, key):
        iterator, chunks = 0, []
        while True:
            iterator, data = family.scandump(key, iterator)
            if iterator == 0:
                return chunks
            chunks.append((iterator, data))

    def carried(self, dumps, name, asked, expected):
        """The filter in another server, chunk by chunk."""
        with self.client(self.other) as other:
            other.flushall()
            family = getattr(other, name)()
            for iterator, data in dumps:
                self.assertTrue(family.loadchunk("copy", iterator, data))
            self.assertEqual(family.mexists("copy", *asked), expected)
            if name == "bf":
                self.assertEqual(family.card("copy"), self.bf.card("b"))

    def test_bloom_travels_to_another_server(self):
        self.bf.create("b", 0.05, 1000)
        self.bf.madd("b", *range(3000))
        asked = list(range(6000))
        expected = self.bf.mexists("b", *asked)
        self.assertEqual(sum(expected[:3000]), sum(self.bf.mexists("b", *range(3000))))
        self.assertGreater(sum(expected[3000:]), 0, "the false positives travel as well")
        self.carried(self.chunks(self.bf, "b"), "bf", asked, expected)

    def test_cuckoo_add_and_delete(self):
        self.assertEqual(self.cf.add("c", "apple"), 1)
        self.assertEqual(self.cf.add("c", "apple"), 1)
        self.assertEqual(self.cf.count("c", "apple"), 2)
        self.assertEqual(self.cf.addnx("c", "apple"), 0)
        self.assertEqual(self.cf.addnx("c", "pear"), 1)
        self.assertEqual(self.cf.exists("c", "pear"), 1)
        self.assertEqual(self.cf.exists("c", "plum"), 0)
        self.assertEqual(self.cf.mexists("c", "apple", "plum"), [1, 0])
        self.assertEqual(self.cf.delete("c", "apple"), 1)
        self.assertEqual(self.cf.count("c", "apple"), 1)
        self.assertEqual(self.cf.delete("c", "apple"), 1)
        self.assertEqual(self.cf.delete("c", "apple"), 0)
        self.assertEqual(self.cf.count("nothing", "apple"), 0)
        with self.assertRaisesRegex(redis.ResponseError, "Not found"):
            self.cf.delete("nothing", "apple")

    def test_cuckoo_reserve(self):
        self.assertTrue(self.cf.create("c", 1000))
        self.assertTrue(self.cf.reserve("d", 1000, expansion=4, bucket_size=2, max_iterations=10))
        info = self.cf_info("d")
        self.assertEqual(info.expansionRate, 4)
        self.assertEqual(info.maxIteration, 10)
        self.assertEqual(info.bucketSize, 2)
        with self.assertRaisesRegex(redis.ResponseError, "item exists"):
            self.cf.create("c", 1000)

    def test_cuckoo_insert(self):
        self.assertEqual(self.cf.insert("c", ["x", "y"], capacity=100), [1, 1])
        self.assertEqual(self.cf.insert("c", ["x"], nocreate=True), [1])
        self.assertEqual(self.cf.insertnx("c", ["x", "z"], capacity=100), [0, 1])
        self.assertEqual(self.cf.insertnx("c", ["x"], nocreate=True), [0])
        with self.assertRaisesRegex(redis.ResponseError, "not found"):
            self.cf.insert("nothing", ["x"], nocreate=True)

    def test_cuckoo_info(self):
        self.cf.create("c", 1000)
        self.cf.insert("c", ["x", "y", "z"])
        self.cf.delete("c", "x")
        info = self.cf_info("c")
        self.assertEqual(info.insertedNum, 2)
        self.assertEqual(info.deletedNum, 1)
        self.assertEqual(info.filterNum, 1)
        self.assertGreater(info.bucketNum, 0)
        self.assertGreater(info.size, 500)

    def test_cuckoo_travels_to_another_server(self):
        self.cf.create("b", 4000)
        self.cf.insert("b", list(range(3000)))
        asked = list(range(6000))
        expected = self.cf.mexists("b", *asked)
        self.assertEqual(sum(expected[:3000]), 3000)
        self.carried(self.chunks(self.cf, "b"), "cf", asked, expected)

    def test_dump_and_restore(self):
        self.bf.madd("b", "x", "y")
        self.cf.add("c", "x")
        with self.client(self.other) as other:
            other.flushall()
            other.restore("b", 0, self.redis.dump("b"))
            other.restore("c", 100_000, self.redis.dump("c"))
            self.assertEqual(other.bf().mexists("b", "x", "y", "z"), [1, 1, 0])
            self.assertEqual(other.cf().mexists("c", "x", "y"), [1, 0])
            self.assertTrue(90 < other.ttl("c") <= 100)
            with self.assertRaisesRegex(redis.ResponseError, "BUSYKEY"):
                other.restore("b", 0, self.redis.dump("b"))
            other.restore("b", 0, self.redis.dump("b"), replace=True)

    def test_pipelines(self):
        for is_transaction in (False, True):
            self.redis.flushall()
            pipeline = self.redis.pipeline(transaction=is_transaction)
            bf = pipeline.bf()
            bf.create("b", 0.01, 1000)
            bf.add("b", "x")
            bf.madd("b", "x", "y")
            bf.exists("b", "y")
            bf.mexists("b", "x", "nothing")
            bf.card("b")
            told = pipeline.execute()
            self.assertEqual(told[1:], [1, [0, 1], 1, [1, 0], 2])

    def test_types(self):
        self.bf.add("b", "x")
        self.cf.add("c", "x")
        types = {"native": (b"mayhap-bf", b"mayhap-cf"), "redisbloom": (b"MBbloom--", b"MBbloomCF")}
        self.assertEqual((self.redis.type("b"), self.redis.type("c")), types[self.layout])
        for wrong in (lambda: self.bf.add("c", "x"), lambda: self.cf.add("b", "x"), lambda: self.redis.get("b")):
            with self.assertRaisesRegex(redis.ResponseError, "wrong kind of value"):
                wrong()


class NativeResp2(Filters, unittest.TestCase):
    pass


class NativeResp3(Filters, unittest.TestCase):
    protocol = 3


class RedisBloomResp2(Filters, unittest.TestCase):
    layout = "redisbloom"


class RedisBloomResp3(Filters, unittest.TestCase):
    protocol = 3
    layout = "redisbloom"


if __name__ == "__main__":
    unittest.main()
