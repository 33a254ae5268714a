"""An engine with the module, in a folder of its own and on a port of its own."""

import atexit
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

MODULE = os.environ["MAYHAP_MODULE"]
PROGRAM = os.environ.get("MAYHAP_ENGINE", "redis-server")
IS_VALKEY = "valkey" in os.path.basename(PROGRAM)
# Whether the engine was built with an allocator that active defragmentation can work with.
DEFRAGMENTS = os.environ.get("MAYHAP_ENGINE_DEFRAGMENTS") == "1"

# Nothing here takes as long; what does has failed.
PATIENCE_SECONDS = 60

# Below what a system gives to connections that go out, and so is the port of a cluster's bus, which is larger by 10000.
PORTS = range(11_000, 22_000)


def until(what, is_so):
    """Asks until it is so, and gives what was answered."""
    end = time.monotonic() + PATIENCE_SECONDS
    while True:
        answer = is_so()
        if answer:
            return answer
        if time.monotonic() > end:
            raise AssertionError(f"in vain: {what}")
        time.sleep(0.005)


def free_port():
    while True:
        port = random.choice(PORTS)
        try:
            for used in (port, port + 10_000):
                with socket.socket() as listener:
                    listener.bind(("127.0.0.1", used))
            return port
        except OSError:
            continue


class Engine:
    """`settings` are lines of the engine's configuration, `arguments` the words behind the module's path."""

    def __init__(self, *settings, arguments=""):
        self.folder = tempfile.mkdtemp(prefix="mayhap-module-")
        self.arguments = arguments
        self.settings = settings
        self.process = None
        # Whatever becomes of a test, no engine outlives it.
        atexit.register(self._remove)
        # A port that was free may have been taken since.
        for attempt in range(5):
            self.port = free_port()
            try:
                self.start()
                return
            except ChildProcessError:
                if attempt == 4 or "Address already in use" not in self.log():
                    shutil.rmtree(self.folder, ignore_errors=True)
                    raise

    def path(self, name):
        return os.path.join(self.folder, name)

    def log(self):
        try:
            with open(self.path("log"), encoding="utf-8", errors="replace") as log:
                return log.read()
        except FileNotFoundError:
            return ""

    def start(self, *settings, keeps_settings=False):
        """As it was made, but for the settings that are given; with `keeps_settings`, with the file as the engine left it."""
        if not keeps_settings:
            lines = (
                f"port {self.port}",
                "bind 127.0.0.1",
                f"dir {self.folder}",
                "logfile log",
                'save ""',
                "enable-debug-command yes",
                "repl-diskless-sync-delay 0",
                f"loadmodule {MODULE} {self.arguments}",
                *(settings or self.settings),
            )
            with open(self.path("engine.conf"), "w", encoding="utf-8") as file:
                file.write("\n".join(lines) + "\n")
        with open(self.path("output"), "ab") as output:
            self.process = subprocess.Popen([PROGRAM, self.path("engine.conf")], cwd=self.folder, stdout=output, stderr=output)
        self.redis = self.client()
        # Replies as they come.
        self.bare = self.client()
        self.bare.response_callbacks.clear()
        until("the engine is ready", self._is_ready)

    def _is_ready(self):
        if self.process.poll() is not None:
            raise ChildProcessError(f"the engine ended with {self.process.returncode}:\n{self.log()[-3000:]}")
        try:
            return self.redis.ping()
        except (redis.ConnectionError, redis.BusyLoadingError):
            return False

    def version(self):
        """`Redis 7.0` or `Valkey 8.1`, say."""
        told = self.redis.info("server")
        number = told.get("valkey_version", told["redis_version"])
        return f"{'Valkey' if IS_VALKEY else 'Redis'} {number.rpartition('.')[0]}"

    def has_free_names(self):
        """Whether modules choose the whole name of a setting: in Redis 8."""
        return not IS_VALKEY and self.version() >= "Redis 8"

    def run(self, *words):
        """The answer; of errors, they are answers too."""
        try:
            return self.bare.execute_command(*words)
        except redis.ResponseError as error:
            return error

    def client(self, **options):
        """Another connection, that tries nothing twice."""
        options = {"protocol": 2, "socket_timeout": PATIENCE_SECONDS, **options}
        return redis.Redis(port=self.port, retry=Retry(NoBackoff(), 0), **options)

    def is_alive(self):
        return self.process.poll() is None and self.redis.ping()

    def stop(self, how="NOSAVE"):
        """In an orderly way, without a last RDB file unless `how` is SAVE. Redis 7.0 fails when it waits for replicas on behalf of a
        connection that has used WAIT: so it does not wait, and the connection is a new one. It refuses while its first append-only
        file is being written."""

        def is_stopping():
            try:
                with self.client() as client:
                    client.execute_command("SHUTDOWN", how, "NOW")
            except redis.ConnectionError:
                return True
            except redis.ResponseError:
                return False

        if self.process is not None and self.process.poll() is None:
            until("the engine stops", is_stopping)
            self.process.wait(PATIENCE_SECONDS)
        self._close()

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(PATIENCE_SECONDS)
        self._close()

    def _close(self):
        self.redis.close()
        self.bare.close()

    def restart(self, *settings, how="NOSAVE"):
        self.stop(how)
        self.start(*settings)

    def end(self):
        """Also removes the folder. An engine that has crashed is told of, with what it wrote, and so is one that has answered its
        primary or its own log with an error."""
        crashed = self.process.poll() not in (None, 0, -signal.SIGKILL)
        log = self.log()
        self._remove()
        report = log.find("BUG REPORT START")
        errors = [line for line in log.splitlines() if "== CRITICAL ==" in line]
        if errors:
            raise AssertionError(f"commands that were passed on are refused, {len(errors)} times: {errors[0]}")
        if crashed or report >= 0:
            raise AssertionError(f"the engine has crashed:\n{log[report:][:6000] if report >= 0 else log[-6000:]}")

    def _remove(self):
        if self.process is not None and self.process.poll() is None:
            self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def follow(self, primary):
        """Becomes a replica, and waits until it is one."""
        self.redis.execute_command("REPLICAOF", "127.0.0.1", str(primary.port))
        until("the replica has all", lambda: self.redis.info("replication")["master_link_status"] == "up")
        until("the primary sends", lambda: primary.redis.execute_command("WAIT", "1", "100") >= 1)

    def is_replicated(self):
        """Waits until one replica has all that `run` has written: WAIT is about its own connection."""
        assert self.bare.execute_command("WAIT", "1", str(PATIENCE_SECONDS * 1000)) >= 1, "no replica has answered"

    def dumps(self):
        """What every key holds, to the byte, by data base."""
        held = {}
        for base in self.redis.info("keyspace"):
            with self.client(db=int(base[2:])) as client:
                keys = sorted(client.keys())
                pipeline = client.pipeline(transaction=False)
                for key in keys:
                    pipeline.dump(key)
                held.update({(base, key): dump for key, dump in zip(keys, pipeline.execute())})
        return held

    def save(self):
        """An RDB file now; the engine refuses while it makes another, for a replica say."""
        until("it is saved", lambda: self.run("SAVE") == b"OK")

    def rewrite_log(self):
        """BGREWRITEAOF, to its end."""

        def is_quiet():
            told = self.redis.info("persistence")
            return not (told["aof_rewrite_in_progress"] or told["aof_rewrite_scheduled"] or told["rdb_bgsave_in_progress"])

        until("no other file is made", is_quiet)
        before = self.redis.info("stats")["total_forks"]
        self.redis.bgrewriteaof()
        until("the rewrite is over", lambda: self.redis.info("stats")["total_forks"] > before and is_quiet())
        assert self.redis.info("persistence")["aof_last_bgrewrite_status"] == "ok", self.log()


def same(test, ours, theirs, what):
    """Compares dumps by key, so that a failure names the keys."""
    differ = sorted(str(key) for key in ours.keys() | theirs.keys() if ours.get(key) != theirs.get(key))
    test.assertEqual(differ, [], what)
