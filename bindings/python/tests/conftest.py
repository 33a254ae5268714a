"""What several tests need: the command line, to compare with, and the golden files."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def cli():
    """Runs the command line that `MAYHAP` names; `make test-python` builds it."""
    program = os.environ["MAYHAP"]

    def run(*arguments, stdin=b"", expect=(0, 1)):
        done = subprocess.run([program, *map(str, arguments)], input=stdin, capture_output=True)
        assert done.returncode in expect, done.stderr.decode()
        return done.stdout

    return run


@pytest.fixture(scope="session")
def golden():
    return ROOT / "golden"
