"""Settings of the module: by the engine's configuration, by words behind the module's path, while it runs, and kept."""

import unittest

from engine import Engine
from test_keys import Alone

# Name, default, values that are taken, values that are not.
SETTINGS = (
    ("layout", "native", ("redisbloom", "native"), ("", "other", "nativ")),
    ("max-filter-bytes", "4278190080", ("1", "1000000"), ("0", "-1", "x", "1.5", "99999999999999999999")),
    ("bf-error-rate", "0.01", ("0.001", "0.25"), ("0", "1", "-0.1", "nan", "inf", "x", "")),
    ("bf-initial-size", "100", ("1", "1073741824"), ("0", "1073741825", "-1", "x", "1.5", "")),
    ("bf-expansion-factor", "2", ("0", "32768"), ("-1", "32769", "x")),
    ("cf-bucket-size", "2", ("1", "255"), ("0", "256", "x")),
    ("cf-initial-size", "1024", ("4", "1073741824"), ("3", "1073741825", "x")),
    ("cf-max-iterations", "20", ("1", "65535"), ("0", "65536", "x")),
    ("cf-expansion-factor", "1", ("0", "32768"), ("-1", "32769", "x")),
    ("cf-max-expansions", "32", ("1", "65536"), ("0", "65537", "x")),
)


def spelled(engine, name, value):
    """Redis 8 has RedisBloom's settings by RedisBloom's names, and there a rate has six digits, or more if it needs them."""
    if name == "bf-error-rate" and engine.has_free_names():
        return max(value, f"{float(value):.6f}", key=lambda text: (float(text) == float(value), len(text)))
    return value


class Settings(Alone):
    def get(self, name, engine=None):
        return (engine or self.engine).run("CONFIG", "GET", f"mayhap.{name}")[1].decode()

    def assert_has(self, name, value, engine=None):
        engine = engine or self.engine
        self.assertEqual(self.get(name, engine), spelled(engine, name, value), name)

    def test_every_setting_takes_good_values_and_refuses_bad_ones(self):
        run = self.engine.run
        self.assertEqual(len(run("CONFIG", "GET", "mayhap.*")), 2 * len(SETTINGS))
        for name, default, good, bad in SETTINGS:
            self.assert_has(name, default)
            for value in good:
                self.assertEqual(run("CONFIG", "SET", f"mayhap.{name}", value), b"OK", (name, value))
                self.assert_has(name, value)
            for value in bad:
                reply = str(run("CONFIG", "SET", f"mayhap.{name}", value))
                self.assertRegex(reply, f"Invalid value for `{name}`|Value for `{name}` must be in the range", (name, value))
                self.assert_has(name, good[-1])
            run("CONFIG", "SET", f"mayhap.{name}", default)
        # As RedisBloom does.
        run("CONFIG", "SET", "mayhap.bf-error-rate", "0.9")
        self.assert_has("bf-error-rate", "0.25")
        run("CONFIG", "SET", "mayhap.bf-error-rate", "0.01")
        # Several at once are set together or not at all.
        reply = run("CONFIG", "SET", "mayhap.bf-initial-size", "7", "mayhap.cf-max-iterations", "0")
        self.assertIsInstance(reply, Exception)
        self.assertEqual((self.get("bf-initial-size"), self.get("cf-max-iterations")), ("100", "20"))

    def test_they_are_for_new_filters(self):
        run = self.engine.run
        run("BF.ADD", "before", "x")
        run("CONFIG", "SET", "mayhap.bf-initial-size", "5000", "mayhap.layout", "redisbloom")
        run("BF.ADD", "after", "x")
        run("CONFIG", "SET", "mayhap.bf-initial-size", "100", "mayhap.layout", "native")
        self.assertEqual([run("BF.INFO", key, "CAPACITY") for key in ("before", "after")], [[100], [5000]])
        self.assertEqual([run("TYPE", key) for key in ("before", "after")], [b"mayhap-bf", b"MBbloom--"])

    def test_they_outlive_a_rewrite_of_the_configuration(self):
        engine = Engine(arguments="bf-initial-size 300")
        self.addCleanup(engine.end)
        self.assertEqual(self.get("bf-initial-size", engine), "300")
        changed = {"layout": "redisbloom", "bf-error-rate": "0.002", "cf-initial-size": "4096", "cf-bucket-size": "8", "bf-expansion-factor": "0"}
        for name, value in changed.items():
            self.assertEqual(engine.run("CONFIG", "SET", f"mayhap.{name}", value), b"OK")
        self.assertEqual(engine.run("CONFIG", "REWRITE"), b"OK")
        engine.stop()
        engine.start(keeps_settings=True)
        for name, value in {**changed, "bf-initial-size": "300"}.items():
            self.assert_has(name, value, engine)

    def test_what_the_configuration_says_is_not_held_against_the_words_behind_the_path(self):
        # A bucket size is checked against the initial size, but not against the one that it takes the place of.
        for before, after in ((("4", "2"), ("1000", "100")), (("1000", "200"), ("4", "2"))):
            engine = Engine(arguments=f"cf-initial-size {before[0]} cf-bucket-size {before[1]}")
            self.addCleanup(engine.end)
            pairs = list(zip(("cf-initial-size", "cf-bucket-size"), after))
            for name, value in pairs if int(after[0]) > int(before[0]) else reversed(pairs):
                self.assertEqual(engine.run("CONFIG", "SET", f"mayhap.{name}", value), b"OK")
            engine.run("CONFIG", "REWRITE")
            engine.stop()
            engine.start(keeps_settings=True)
            self.assertEqual((self.get("cf-initial-size", engine), self.get("cf-bucket-size", engine)), after)

    def test_bad_words_behind_the_path_refuse_the_load(self):
        for words in ("layout", "layout other", "junk 1", "bf-initial-size 0", "secret-file missing.key", "bf-error-rate x"):
            with self.assertRaises(ChildProcessError, msg=words):
                Engine(arguments=words)
        with self.assertRaises(ChildProcessError):
            Engine("mayhap.bf-initial-size 0")
        # The old names of RedisBloom.
        engine = Engine(arguments="INITIAL_SIZE 17 ERROR_RATE 0.03 CF_MAX_EXPANSIONS 5")
        self.addCleanup(engine.end)
        for name, value in (("bf-initial-size", "17"), ("bf-error-rate", "0.03"), ("cf-max-expansions", "5")):
            self.assert_has(name, value, engine)

    def test_settings_have_the_names_of_redisbloom_where_the_engine_can(self):
        run = self.engine.run
        if not self.engine.has_free_names():
            self.assertEqual(run("CONFIG", "GET", "bf-*"), [])
            return
        for name, default, good, bad in SETTINGS[2:]:
            self.assertEqual(run("CONFIG", "GET", name), [name.encode(), spelled(self.engine, name, default).encode()])
            for value in good:
                # Both names are those of one setting.
                self.assertEqual(run("CONFIG", "SET", name, value), b"OK", (name, value))
                self.assert_has(name, value)
            for value in bad:
                self.assertRegex(str(run("CONFIG", "SET", name, value)), "Invalid value|must be in the range", (name, value))
            self.assertEqual(run("CONFIG", "SET", f"mayhap.{name}", default), b"OK")
            self.assertEqual(run("CONFIG", "GET", name)[1].decode(), spelled(self.engine, name, default))
        self.assertEqual(run("CONFIG", "GET", "layout"), [])
        # In the configuration too, by either name; and what was rewritten is read again, whichever was there before.
        engine = Engine("bf-error-rate 0.02", "mayhap.bf-initial-size 7", "cf-bucket-size 8")
        self.addCleanup(engine.end)
        for name, value in (("bf-error-rate", "0.02"), ("bf-initial-size", "7"), ("cf-bucket-size", "8")):
            self.assert_has(name, value, engine)
        engine.run("CONFIG", "SET", "bf-error-rate", "0.00000012")
        engine.run("CONFIG", "SET", "bf-initial-size", "9", "mayhap.layout", "redisbloom")
        for _ in range(2):
            self.assertEqual(engine.run("CONFIG", "REWRITE"), b"OK")
            engine.stop()
            engine.start(keeps_settings=True)
            for name, value in (("bf-error-rate", "0.00000012"), ("bf-initial-size", "9"), ("cf-bucket-size", "8"), ("layout", "redisbloom")):
                self.assert_has(name, value, engine)
        for line in ("bf-error-rate 1", "bf-initial-size 0", "bf-initial-size x", "cf-bucket-size 256"):
            with self.assertRaises(ChildProcessError, msg=line):
                Engine(line)

    def test_the_module_may_have_the_name_of_redisbloom(self):
        engine = Engine(arguments="NAME bf INITIAL_SIZE 17")
        self.addCleanup(engine.end)
        listed = [dict(zip(one[::2], one[1::2])) for one in engine.run("MODULE", "LIST")]
        self.assertIn(b"bf", [one[b"name"] for one in listed])
        self.assertNotIn(b"mayhap", [one[b"name"] for one in listed])
        prefix = "mayhap" if engine.has_free_names() else "bf"
        self.assertEqual(engine.run("CONFIG", "SET", f"{prefix}.layout", "redisbloom", f"{prefix}.bf-error-rate", "0.001"), b"OK")
        self.assertEqual(engine.run("CONFIG", "GET", f"{prefix}.bf-initial-size")[1], b"17")
        engine.run("BF.ADD", "k", "apple")
        self.assertEqual(engine.run("TYPE", "k"), b"MBbloom--")
        self.assertEqual(engine.redis.info("bf_filters")["bf_count"], 1)
        self.assertEqual(engine.run("CONFIG", "REWRITE"), b"OK")
        engine.stop()
        engine.start(keeps_settings=True)
        self.assertEqual(engine.run("CONFIG", "GET", f"{prefix}.layout")[1], b"redisbloom")
        for arguments in ("name other", "name", 'name ""'):
            with self.assertRaises(ChildProcessError, msg=arguments):
                Engine(arguments=arguments)

    def test_the_secret_is_kept(self):
        engine = Engine("appendonly yes")
        self.addCleanup(engine.end)
        engine.run("BF.ADD", "before", "apple")
        engine.restart()
        engine.run("BF.ADD", "after", "pear")
        self.assertEqual(engine.run("BF.MERGE", "after", "before"), b"OK")
        # Another secret makes filters that are not merged, and read all the same.
        other = Engine()
        self.addCleanup(other.end)
        other.run("RESTORE", "theirs", 0, engine.run("DUMP", "before"))
        other.run("BF.ADD", "ours", "pear")
        self.assertEqual(other.run("BF.EXISTS", "theirs", "apple"), 1)
        self.assertIn("differ in hash key", str(other.run("BF.MERGE", "ours", "theirs")))


if __name__ == "__main__":
    unittest.main()
