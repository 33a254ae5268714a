"""A server of its own for a test: the program, in a folder of its own, on ports of its own."""

import os
import re
import shutil
import subprocess
import tempfile

PROGRAM = os.environ["MAYHAP"]


class Server:
    def __init__(self, *options, environment=None):
        self.folder = tempfile.mkdtemp(prefix="mayhap-clients-")
        self.process = subprocess.Popen(
            [PROGRAM, "serve", "--port", "0", "--dir", self.folder, *options],
            stdout=subprocess.PIPE,
            env={**os.environ, **(environment or {})},
            text=True,
        )
        told = self.process.stdout.readline()
        self.ports = [int(port) for port in re.findall(r"127\.0\.0\.1:(\d+)", told.split(", data in")[0])]
        if not self.ports:
            raise RuntimeError(f"the server did not start: {told!r}")
        self.port = self.ports[0]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def end(self):
        """In an orderly way; how it ended."""
        self.process.terminate()
        self.process.stdout.read()
        self.process.stdout.close()
        status = self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
        return status
