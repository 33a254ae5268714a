"""Who may do what, who is told of it, and what the engine knows of our commands."""

import unittest

import redis

from engine import Engine, until
from test_keys import Alone


class Access(Alone):
    def user(self, *rules):
        self.engine.run("ACL", "SETUSER", "guest", "reset", "on", "nopass", *rules)
        client = self.engine.client(username="guest", password="")
        client.response_callbacks.clear()
        self.addCleanup(client.close)

        def run(*words):
            try:
                return client.execute_command(*words)
            except redis.ResponseError as error:
                return error

        return run

    def assert_denied(self, reply):
        self.assertIsInstance(reply, redis.exceptions.NoPermissionError)

    def test_who_may_read_may_not_write(self):
        self.engine.run("BF.ADD", "b", "apple")
        self.engine.run("CF.ADD", "c", "apple")
        run = self.user("+@all", "%R~*")
        self.assertEqual(run("BF.EXISTS", "b", "apple"), 1)
        self.assertEqual(run("BF.SCANDUMP", "b", "0")[0], 1)
        for words in (("BF.ADD", "b", "x"), ("BF.ADD", "new", "x"), ("CF.DEL", "c", "apple"), ("CF.COMPACT", "c"), ("MAYHAP.LOAD", "new", "x")):
            self.assert_denied(run(*words))
        self.assert_denied(run("MAYHAP.AT", "5", "BF.ADD", "b", "x"))
        run = self.user("+@all", "~own:*", "%R~shared:*")
        self.assertEqual(run("BF.ADD", "own:b", "x"), 1)
        self.assert_denied(run("BF.EXISTS", "b", "apple"))
        self.assert_denied(run("BF.ADD", "shared:b", "x"))

    def test_sources_of_a_merge_are_read_and_its_key_is_written(self):
        self.engine.run("BF.ADD", "shared:b", "apple")
        self.engine.run("BF.ADD", "secret", "pear")
        run = self.user("+@all", "~own:*", "%R~shared:*")
        self.assertEqual(run("BF.MERGE", "own:b", "shared:b"), b"OK")
        self.assertEqual(run("BF.EXISTS", "own:b", "apple"), 1)
        self.assert_denied(run("BF.MERGE", "shared:b", "own:b"))
        self.assert_denied(run("BF.MERGE", "own:b", "secret"))
        self.assert_denied(run("BF.MERGE", "own:b", "shared:b", "secret"))
        # Behind a time the engine sees one key only.
        self.assertIn("one key", str(run("MAYHAP.AT", "5", "BF.MERGE", "own:b", "secret")))

    def test_commands_by_category_where_the_engine_has_ours(self):
        if b"bloom" not in self.engine.run("ACL", "CAT"):
            run = self.user("~*", "+bf.exists")
            self.assertEqual(run("BF.EXISTS", "b", "x"), 0)
            self.assert_denied(run("BF.ADD", "b", "x"))
            return
        run = self.user("~*", "+@bloom")
        self.assertEqual(run("BF.ADD", "b", "x"), 1)
        self.assertEqual(run("CBF.ADD", "cbf", "x"), 1)
        self.assert_denied(run("CF.ADD", "c", "x"))
        run = self.user("~*", "+@cuckoo", "-@write")
        self.assertEqual(run("CF.EXISTS", "c", "x"), 0)
        self.assert_denied(run("CF.ADD", "c", "x"))
        self.assert_denied(run("BF.EXISTS", "b", "x"))
        self.assertIn(b"bf.add", self.engine.run("ACL", "CAT", "bloom"))
        # What carries filters of any family, or commands, is in the category of no family.
        for category in ("bloom", "cuckoo"):
            self.assertEqual([name for name in self.engine.run("ACL", "CAT", category) if name.startswith(b"mayhap.")], [])
        run = self.user("~*", "+@bloom")
        for words in (("MAYHAP.AT", "5", "CF.RESERVE", "c", "1000"), ("MAYHAP.AT", "5", "BF.ADD", "b", "x"), ("MAYHAP.FILE", "b"), ("MAYHAP.LOAD", "new", "x")):
            self.assert_denied(run(*words))
        self.assertLessEqual({b"mayhap.at", b"mayhap.load"}, set(self.engine.run("ACL", "CAT", "dangerous")))

    def test_a_carried_command_needs_its_own_permission(self):
        at, now = "MAYHAP.AT", "1700000000000"
        denied = ("CF.RESERVE", "c", "1000"), ("CF.ADD", "c", "x"), ("BF.INSERT", "b", "ITEMS", "x"), ("CF.COMPACT", "c"), ("MAYHAP.LOAD", "c", "x")
        run = self.user("~*", "+mayhap.at", "+bf.add", "+multi", "+exec", "+eval")
        self.assertEqual(run(at, now, "BF.ADD", "b", "x"), 1)
        for words in denied:
            self.engine.run("ACL", "LOG", "RESET")
            self.assert_denied(run(*words))
            self.assert_denied(run(at, now, *words))
            # The engine logs what it denies, and so do we.
            logged = [dict(zip(entry[::2], entry[1::2])) for entry in self.engine.run("ACL", "LOG")]
            self.assertEqual({(entry[b"username"], entry[b"object"].lower()) for entry in logged}, {(b"guest", words[0].lower().encode())})
            self.assertEqual({entry[b"context"] for entry in logged}, {b"toplevel", b"module"})
        # All but one.
        run_all = self.user("~*", "+@all", "-bf.insert")
        self.assertEqual(run_all(at, now, "CF.ADD", "c2", "x"), 1)
        self.assert_denied(run_all(at, now, "BF.INSERT", "b", "ITEMS", "x"))
        self.assert_denied(run_all(at, now, "bf.INSERT", "b", "ITEMS", "x"))
        # In transactions and scripts too.
        run = self.user("~*", "+mayhap.at", "+bf.add", "+multi", "+exec", "+eval")
        script = "return redis.call(unpack(ARGV))"
        for words in denied:
            self.assertEqual((run("MULTI"), run(at, now, *words)), (b"OK", b"QUEUED"))
            self.assert_denied(run("EXEC")[0])
            self.assertIn("no permissions", str(run("EVAL", script, "1", words[1], at, now, *words)))
        self.assertEqual(run("EVAL", script, "1", "b", at, now, "BF.ADD", "b", "y"), 1)
        # A user who may run both, but only one of them on all keys.
        run = self.user("+mayhap.at", "~*", "(+bf.add ~own:*)")
        self.assertEqual(run(at, now, "BF.ADD", "own:b", "x"), 1)
        self.assert_denied(run("BF.ADD", "b", "z"))
        self.assert_denied(run(at, now, "BF.ADD", "b", "z"))
        self.assertEqual(self.engine.run("EXISTS", "c"), 0)
        self.assertEqual(self.engine.run("BF.MEXISTS", "b", "x", "y", "z"), [1, 1, 0])

    def test_what_a_primary_or_a_log_sends_needs_no_permission(self):
        # Nobody may do this here but the engine itself.
        nobody = "user default on nopass ~* +@all -bf.add -bf.window -mayhap.at -mayhap.load -bf.madd"
        primary, replica = Engine("appendonly yes"), Engine(nobody)
        self.addCleanup(primary.end)
        self.addCleanup(replica.end)
        replica.follow(primary)
        primary.run("BF.WINDOW", "w", "0.01", "100", "1000")
        primary.run("BF.ADD", "w", "apple")
        primary.run("EVAL", "redis.call('BF.ADD', KEYS[1], 'pear') return redis.call('BF.ADD', KEYS[1], 'plum')", "1", "w")
        with primary.bare.pipeline(transaction=True) as pipeline:
            pipeline.execute_command("BF.ADD", "w", "fig")
            pipeline.execute()
        primary.is_replicated()
        fruits = ("apple", "pear", "plum", "fig")
        self.assertEqual(replica.run("BF.MEXISTS", "w", *fruits), [1, 1, 1, 1])
        replica.run("REPLICAOF", "NO", "ONE")
        self.assert_denied(replica.run("MAYHAP.AT", "1700000000000", "BF.ADD", "w", "x"))
        # Transactions of a log are left out here: engines themselves hold these against the rules of the default user.
        primary.run("FLUSHALL")
        primary.rewrite_log()
        primary.run("BF.WINDOW", "w", "0.01", "100", "1000")
        self.assertEqual(primary.run("BF.ADD", "w", "apple"), 1)
        primary.restart("appendonly yes", nobody)
        self.assertEqual(primary.run("BF.MEXISTS", "w", "apple", "pear"), [1, 0])
        self.assert_denied(primary.run("MAYHAP.AT", "1700000000000", "BF.ADD", "w", "x"))

    def test_events(self):
        self.engine.run("CONFIG", "SET", "notify-keyspace-events", "Kd")
        self.addCleanup(self.engine.run, "CONFIG", "SET", "notify-keyspace-events", "")
        listener = self.engine.client()
        self.addCleanup(listener.close)
        heard = listener.pubsub()
        heard.psubscribe("__keyspace@0__:*")
        until("it listens", lambda: heard.get_message(timeout=1))
        told = (
            ("BF.RESERVE", "b", "0.01", "100"),
            ("BF.ADD", "b", "apple"),
            ("BF.MADD", "b", "apple", "pear"),
            ("BF.INSERT", "b", "ITEMS", "plum"),
            ("BF.MERGE", "merged", "b"),
            ("BF.WINDOW", "w", "0.01", "100", "10"),
            ("CF.RESERVE", "c", "100"),
            ("CF.ADD", "c", "apple"),
            ("CF.ADDNX", "c", "pear"),
            ("CF.INSERT", "c", "ITEMS", "plum"),
            ("CF.INSERTNX", "c", "ITEMS", "fig"),
            ("CF.DEL", "c", "apple"),
            ("CF.COMPACT", "c"),
            ("CBF.RESERVE", "cbf", "0.01", "100"),
            ("CBF.ADD", "cbf", "apple"),
            ("CBF.MADD", "cbf", "apple"),
            ("CBF.DEL", "cbf", "apple"),
        )
        untold = (("BF.ADD", "b", "apple"), ("CF.ADDNX", "c", "pear"), ("CF.DEL", "c", "never"), ("BF.EXISTS", "b", "apple"), ("BF.RESERVE", "b", "0.01", "1"))
        for words in (*told, *untold):
            self.engine.run(*words)
        self.engine.run("BF.ADD", "the last", "apple")
        events = []
        while not events or events[-1][0] != b"the last":
            message = heard.get_message(timeout=60)
            self.assertIsNotNone(message, events)
            events.append((message["channel"].split(b":", 1)[1], message["data"]))
        expected = [(words[1].encode(), words[0].lower().encode()) for words in told]
        self.assertEqual(events, [*expected, (b"the last", b"bf.add")])

    def test_tracking_clients_are_told(self):
        self.engine.run("BF.ADD", "b", "apple")
        self.engine.run("CF.ADD", "c", "apple")
        client = self.engine.client(protocol=3)
        self.addCleanup(client.close)
        connection = client.connection_pool.get_connection()
        told = []
        connection._parser.set_invalidation_push_handler(lambda message: told.append(message[1]))

        def say(*words):
            connection.send_command(*words)
            return connection.read_response()

        say("CLIENT", "TRACKING", "ON")
        for change, key in ((("BF.ADD", "b", "pear"), b"b"), (("CF.DEL", "c", "apple"), b"c"), (("BF.MERGE", "b", "b2"), b"b")):
            self.engine.run("BF.ADD", "b2", "x")
            say("BF.EXISTS", "b", "apple")
            say("CF.EXISTS", "c", "apple")
            told.clear()
            self.engine.run(*change)
            until("it is told", lambda: say("PING") and told)
            self.assertEqual(told, [[key]], change)
        say("CLIENT", "TRACKING", "OFF")

    def test_the_engine_knows_our_commands(self):
        run = self.engine.run
        ours = {name.decode() for name in run("COMMAND", "LIST", "FILTERBY", "MODULE", "mayhap")}
        self.assertEqual(len(ours), 39)
        self.assertLess({"bf.add", "cf.compact", "cbf.count", "mayhap.load", "mayhap.file"}, ours)
        told = {command[0].decode(): command for command in run("COMMAND", "INFO", *sorted(ours))}
        flags = lambda name: {flag.decode() for flag in told[name][2]}
        self.assertEqual(flags("bf.add"), {"write", "denyoom", "module"})
        self.assertEqual(flags("cf.del"), {"write", "module", "fast"})
        self.assertEqual(flags("bf.exists"), {"readonly", "module", "fast"})
        self.assertEqual(flags("cf.compact") - {"may_replicate"}, {"readonly", "module", "fast"})
        self.assertEqual([told[name][1] for name in ("bf.add", "bf.reserve", "bf.info", "cf.compact")], [3, -4, -2, -1])
        self.assertEqual(told["bf.merge"][3:6], [1, -1, 1])
        self.assertEqual(told["mayhap.at"][3:6], [3, 3, 1])
        for name, command in told.items():
            if name not in ("bf.merge", "mayhap.at"):
                self.assertEqual(command[3:6], [1, 1, 1], name)
        self.assertEqual(run("COMMAND", "GETKEYS", "BF.MERGE", "a", "b", "c"), [b"a", b"b", b"c"])
        self.assertEqual(run("COMMAND", "GETKEYS", "BF.MADD", "a", "b", "c"), [b"a"])
        self.assertEqual(run("COMMAND", "GETKEYS", "MAYHAP.AT", "5", "BF.ADD", "a", "b"), [b"a"])
        self.assertEqual(run("COMMAND", "GETKEYSANDFLAGS", "BF.MERGE", "a", "b"), [[b"a", [b"RW", b"access", b"update"]], [b"b", [b"RO", b"access"]]])
        docs = run("COMMAND", "DOCS", "bf.add")[1]
        docs = dict(zip(docs[::2], docs[1::2]))
        self.assertIn(b"Adds an item", docs[b"summary"])
        self.assertEqual(docs[b"module"], b"mayhap")

    def test_arguments_are_documented(self):
        def described(arguments):
            """Name, type, token and flags of each, and the same of what is inside of it."""
            for argument in arguments:
                told = {name.decode(): value for name, value in zip(argument[::2], argument[1::2])}
                flags = {flag.decode() for flag in told.get("flags", ())}
                token = told.get("token", b"").decode()
                self.assertEqual("key_spec_index" in told, told["type"] == b"key")
                self.assertEqual(told.get("display_text", told["name"]), told["name"])
                yield (told["name"].decode(), told["type"].decode(), token, *sorted(flags), *described(told.get("arguments", ())))

        key, item, items_ = ("key", "key", ""), ("item", "string", ""), ("item", "string", "", "multiple")
        rate, capacity = ("error_rate", "double", ""), ("capacity", "integer", "")
        option = lambda name, kind="integer": (name, kind, name.upper(), "optional")
        no_create, non_scaling, items_token = option("nocreate", "pure-token"), option("nonscaling", "pure-token"), ("items", "pure-token", "ITEMS")
        fields = ("capacity", "size", "filters", "items", "expansion")
        expected = {
            "bf.reserve": [key, rate, capacity, option("expansion"), non_scaling],
            "bf.add": [key, item],
            "bf.madd": [key, items_],
            "bf.insert": [key, option("capacity"), option("error", "double"), option("expansion"), no_create, non_scaling, items_token, items_],
            "bf.exists": [key, item],
            "bf.mexists": [key, items_],
            "bf.card": [key],
            "bf.info": [key, ("single_value", "oneof", "", "optional", *((name, "pure-token", name.upper()) for name in fields))],
            "bf.scandump": [key, ("iterator", "integer", "")],
            "bf.loadchunk": [key, ("iterator", "integer", ""), ("data", "string", "")],
            "bf.merge": [key, ("source", "key", "", "multiple")],
            "cf.reserve": [key, capacity, option("bucketsize"), option("maxiterations"), option("expansion"), option("error", "double")],
            "cf.insert": [key, option("capacity"), no_create, items_token, items_],
            "cf.insertnx": [key, option("capacity"), no_create, items_token, items_],
            "cf.count": [key, item],
            "mayhap.load": [key, ("data", "string", ""), option("replace", "pure-token")],
            "mayhap.at": [("unix-time-milliseconds", "unix-time", ""), ("command", "string", ""), key, ("arg", "string", "", "multiple", "optional")],
        }
        ours = self.engine.run("COMMAND", "LIST", "FILTERBY", "MODULE", "mayhap")
        docs = self.engine.run("COMMAND", "DOCS", *ours)
        for name, told in zip(docs[::2], docs[1::2]):
            name, told = name.decode(), dict(zip(told[::2], told[1::2]))
            arguments = list(described(told[b"arguments"]))
            self.assertIn(key, arguments, name)
            self.assertEqual(arguments, expected.pop(name, arguments), name)
            self.assertRegex(told[b"complexity"], b"^(O\\(|The )", name)
            self.assertIn(told[b"since"], (b"0.1.0", b"1.0.0", b"2.4.4"), name)
        self.assertEqual(expected, {})

    def test_module_list_and_info(self):
        run = self.engine.run
        listed = run("MODULE", "LIST")
        listed = next(dict(zip(one[::2], one[1::2])) for one in listed if b"mayhap" in one)
        self.assertEqual((listed[b"name"], listed[b"ver"]), (b"mayhap", 100))
        run("BF.ADD", "b", "x")
        run("CF.ADD", "c", "x")
        info = lambda: self.engine.redis.info("mayhap_filters")
        self.assertEqual(info()["mayhap_layout"], "native")
        # The engine may free in the background what an earlier test or DEL has removed.
        until("two filters are counted", lambda: info()["mayhap_count"] == 2)
        run("DEL", "b")
        until("one filter is counted", lambda: info()["mayhap_count"] == 1)
        self.assertIn("mayhap_filters", run("INFO", "everything").decode())
        # Types would be left without their module.
        self.assertIsInstance(run("MODULE", "UNLOAD", "mayhap"), redis.ResponseError)
        self.assertEqual(run("CF.EXISTS", "c", "x"), 1)


if __name__ == "__main__":
    unittest.main()
