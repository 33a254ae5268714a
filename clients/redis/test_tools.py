"""redis-cli and redis-benchmark, as people use them."""

import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "python"))
from server import Server  # noqa: E402


class Tools(unittest.TestCase):
    def setUp(self):
        self.server = Server()

    def tearDown(self):
        self.assertEqual(self.server.end(), 0)

    def run_tool(self, *words, **more):
        words = [words[0], "-p", str(self.server.port), *words[1:]]
        return subprocess.run(words, capture_output=True, check=True, **more).stdout

    def cli(self, *words, **more):
        return self.run_tool("redis-cli", *words, **more).decode()

    def test_one_command_a_line(self):
        self.assertEqual(self.cli("BF.ADD", "seen", "apple"), "1\n")
        self.assertEqual(self.cli("--no-raw", "BF.MEXISTS", "seen", "apple", "pear"), "1) (integer) 1\n2) (integer) 0\n")
        self.assertEqual(self.cli("-3", "BF.ADD", "seen", "apple"), "(false)\n")
        self.assertIn("Capacity", self.cli("-3", "--no-raw", "BF.INFO", "seen"))
        self.assertIn("WRONGTYPE", self.cli("CF.ADD", "seen", "apple"))
        self.assertEqual(self.cli("-x", "BF.ADD", "seen", input=b"\x00\xff"), "1\n")
        typed = "MULTI\nBF.ADD seen plum\nEXEC\nINFO server\n"
        self.assertIn("mayhap_version", self.cli(input=typed.encode()))

    def test_walks_through_all_keys(self):
        for name in ("a", "b", "c"):
            self.cli("BF.ADD", name, "x")
        self.assertEqual(set(self.cli("--scan").split()), {"a", "b", "c"})
        self.assertEqual(self.cli("--scan", "--pattern", "b*"), "b\n")
        self.assertIn("3 mayhap-bf", self.cli("--memkeys"))
        self.assertIn("3 mayhap-bf", self.cli("--bigkeys"))

    def test_a_million_commands_through_a_pipe(self):
        items = (b"item:%d" % number for number in range(1_000_000))
        requests = b"".join(b"*3\r\n$6\r\nBF.ADD\r\n$1\r\nb\r\n$%d\r\n%s\r\n" % (len(item), item) for item in items)
        self.assertEqual(self.cli("BF.RESERVE", "b", "0.000001", "1000000"), "OK\n")
        self.assertIn("errors: 0, replies: 1000000", self.cli("--pipe", input=requests))
        # A few of a million look like others.
        self.assertTrue(999_900 < int(self.cli("BF.CARD", "b")) <= 1_000_000)

    def test_the_benchmark(self):
        for depth in ("1", "64"):
            told = self.run_tool("redis-benchmark", "-t", "ping,set,get", "-n", "20000", "-P", depth, "--csv").decode()
            self.assertEqual(len(told.splitlines()), 5, told)
        own = ("BF.ADD", "b", "__rand_int__")
        told = self.run_tool("redis-benchmark", "-n", "20000", "-r", "1000000", "-P", "16", "--threads", "2", "--csv", *own)
        self.assertEqual(len(told.splitlines()), 2, told)
        self.assertGreater(int(self.cli("BF.CARD", "b")), 19_000)


if __name__ == "__main__":
    unittest.main()
