"""Runs `mayhap migrate`, and what its tests have in common."""

import json
import os
import pathlib
import signal
import subprocess
import sys

CLIENTS = pathlib.Path(__file__).resolve().parents[1]
sys.path += [str(CLIENTS / "module"), str(CLIENTS / "python")]

PROGRAM = os.environ["MAYHAP"]
TEMPORARY = "mayhap-migrate:"


def url(port, database=""):
    return f"redis://127.0.0.1:{port}{database and f'/{database}'}"


def start(*words, environment=None, **options):
    return subprocess.Popen(
        [PROGRAM, "migrate", *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **(environment or {})},
        **options,
    )


def migrate(*words, status=0, environment=None):
    """The rows of the report by key, and what stands on stderr."""
    process = start("--json", *words, environment=environment)
    out, err = process.communicate()
    rows = [json.loads(line) for line in out.splitlines()]
    if process.returncode != status:
        raise AssertionError(f"{words}: status {process.returncode} instead of {status}: {rows} {err.decode()}")
    return {row["key"]: row for row in rows}, err.decode()


def kill(process):
    process.send_signal(signal.SIGKILL)
    process.communicate()


def temporaries(*clients):
    """The keys of unfinished migrations."""
    return [key for client in clients for key in client.execute_command("KEYS", f"{TEMPORARY}*")]


def chunks(client, family, key):
    """All that SCANDUMP gives of a filter."""
    held, iterator = [], 0
    while True:
        iterator, chunk = client.execute_command(f"{family}.SCANDUMP", key, iterator)
        if iterator == 0:
            return held
        held.append((iterator, chunk))
