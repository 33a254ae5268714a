"""What docs/guide/module.md and cluster.md show is what happens."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from cluster import Cluster
from engine import IS_VALKEY, MODULE, free_port
from spread import Spread

FOLDER = pathlib.Path(__file__).resolve().parent
GUIDE = FOLDER.parents[1] / "docs" / "guide"


def matches(expected, printed):
    """Equal, but for `...`, which stands for anything."""
    pattern = ".*".join(re.escape(part) for part in expected.strip().split("..."))
    return re.fullmatch(pattern, printed.strip(), re.DOTALL) is not None


@unittest.skipIf(IS_VALKEY, "the guide is about redis-server")
class Guide(unittest.TestCase):
    def test_the_runner_can_fail(self):
        self.assertTrue(matches("OK\n", "OK"))
        self.assertTrue(matches("NOPERM ...", "NOPERM no\n\n"))
        self.assertFalse(matches("OK", "KO"))
        self.assertFalse(matches("1\n...", "2\nx"))

    def test_the_module_guide(self):
        folder = tempfile.mkdtemp(prefix="mayhap-guide-")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        os.symlink(MODULE, os.path.join(folder, "mayhap.so"))
        text = (GUIDE / "module.md").read_text()
        ports = {port: str(free_port()) for port in sorted(set(re.findall(r"\b70\d\d\b", text)))}
        self.assertEqual(len(ports), 2)
        shell = subprocess.Popen(["bash"], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)

        def end():
            for port in ports.values():
                subprocess.run(["redis-cli", "-p", port, "SHUTDOWN", "NOSAVE", "NOW"], capture_output=True, check=False)
            shell.stdin.close()
            shell.stdout.close()
            shell.wait(60)

        self.addCleanup(end)
        count = 0
        for block in re.findall(r"^```console\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
            for command, expected in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
                for port, free in ports.items():
                    command = command.replace(port, free)
                shell.stdin.write(f"{command}\necho; echo end of command\n")
                shell.stdin.flush()
                printed = "".join(iter(shell.stdout.readline, "end of command\n"))
                self.assertTrue(matches(expected, printed), f"{command}\nexpected:\n{expected}\nprinted:\n{printed}")
                count += 1
        self.assertGreater(count, 20)

    def test_the_arithmetic_of_the_cluster_guide(self):
        text = (GUIDE / "cluster.md").read_text()
        capacity = Spread(None, "seen", 64).shard_capacity(1_000_000_000)
        self.assertIn(f"{capacity:,}", text)
        self.assertLess(64 * Spread(None, "seen", 64).shard_capacity(1_000_000) / 1_000_000, 1.033)

    def test_spread_as_a_program(self):
        cluster = Cluster(masters=3, replicas=0)
        self.addCleanup(cluster.end)

        def spread(*words, lines=()):
            program = [sys.executable, FOLDER / "spread.py", "--port", str(cluster.nodes[0].port), "--name", "seen", "--shards", "16", *words]
            done = subprocess.run(program, input="".join(f"{line}\n" for line in lines), capture_output=True, text=True, check=True, timeout=60)
            return done.stdout.split()

        spread("reserve", "--error", "0.0001", "--capacity", "1000")
        lines = [f"https://{number}.example/" for number in range(500)]
        self.assertGreater(len(spread("add", lines=lines)), 490)
        self.assertEqual(spread("add", lines=lines), [])
        self.assertEqual(spread("check", lines=lines), lines)
        self.assertLess(len(spread("check", lines=[f"{line}other" for line in lines])), 5)


if __name__ == "__main__":
    unittest.main()
