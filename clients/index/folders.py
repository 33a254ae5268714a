"""Folders that pyarrow and DuckDB wrote: `mayhap which` names every file that holds a value."""
import datetime, decimal, os, subprocess, sys, tempfile, uuid
import duckdb, pyarrow as pa, pyarrow.parquet as pq, pyarrow.csv as pc

mayhap = sys.argv[1]

def run(*words, code=0):
    done = subprocess.run([mayhap, *words], capture_output=True, text=True)
    assert done.returncode == code, (words, done)
    return done.stdout.splitlines()

def check(folder, column, values, absent, *options):
    """`values` has the text of a value of each file."""
    index = os.path.join(folder, "files.idx")
    run("index", "--column", column, "-o", index, *options, folder)
    run("verify", index)
    for name, text in values:
        found = run("which", index, text)
        names = {os.path.basename(line.split("#")[0]) for line in found}
        assert name in names, (folder, name, text, found)
        assert len(names) < max(3, len(values)), (text, names)
    run("which", index, absent, code=1)

with tempfile.TemporaryDirectory() as root:
    def folder(name):
        path = os.path.join(root, name)
        os.mkdir(path)
        return path

    # Values by type: each file has a hundred of its own and some nulls.
    day, moment = datetime.date(2024, 2, 20), datetime.datetime(2024, 2, 20, 12, 30, 0, 250000)
    types = {
        "int32": (pa.int32(), lambda i: i - 150, str, "99999"),
        "int64": (pa.int64(), lambda i: 10**15 + i, str, "5"),
        "uint64": (pa.uint64(), lambda i: 2**64 - 1 - i, str, "5"),
        "float": (pa.float32(), lambda i: i + 0.5, str, "0.25"),
        "double": (pa.float64(), lambda i: i / 7, repr, "-1"),
        "string": (pa.string(), lambda i: f"k\u00fc{i}", str, "missing"),
        "large_binary": (pa.large_binary(), lambda i: b"k%d" % i, bytes.decode, "missing"),
        "dictionary": (pa.dictionary(pa.int32(), pa.string()), lambda i: f"d{i}", str, "missing"),
        "date": (pa.date32(), lambda i: day + datetime.timedelta(i), str, "1999-01-01"),
        "timestamp_ms": (pa.timestamp("ms"), lambda i: moment + datetime.timedelta(0, i), str, "1999-01-01 00:00:00"),
        "timestamp_utc": (pa.timestamp("us", "UTC"), lambda i: moment + datetime.timedelta(0, i), lambda v: v.isoformat() + "Z", "1999-01-01T00:00:00Z"),
        "decimal": (pa.decimal128(12, 2), lambda i: decimal.Decimal(i) / 4, str, "-1"),
    }
    for name, (kind, value, spell, absent) in types.items():
        path = folder("arrow_" + name)
        known = []
        for part in range(4):
            rows = [value(100 * part + row) for row in range(100)]
            file = f"part-{part}.parquet"
            table = pa.table({"other": list(range(102)), "key": pa.array(rows + [None, None], kind)})
            pq.write_table(table, os.path.join(path, file), row_group_size=30, compression=["snappy", "zstd", "gzip", "lz4"][part])
            known += [(file, spell(rows[row])) for row in (0, 33, 99)]
        check(path, "key", known, absent)
        check(path, "key", known, absent, "--granularity", "row-group", "--kind", "fuse", "--fpr", "0.0001")

    # int32 and int64 files, CSV and JSON lines in one folder.
    path = folder("mixed")
    pq.write_table(pa.table({"id": pa.array(range(0, 100), pa.int32())}), f"{path}/a.parquet")
    pq.write_table(pa.table({"id": pa.array(range(100, 200), pa.int64())}), f"{path}/b.parquet")
    pc.write_csv(pa.table({"x": ["a,b"] * 100, "id": list(range(200, 300))}), f"{path}/c.csv")
    base = duckdb.connect()
    base.sql(f"copy (select range as id, 'x' as name from range(300, 400)) to '{path}/d.json'")
    base.sql(f"copy (select range as id, 'x' as name from range(400, 500)) to '{path}/e.csv.gz' (header, compression gzip)")
    check(path, "id", [("a.parquet", "7"), ("b.parquet", "0150"), ("c.csv", "250"), ("d.json", "350"), ("e.csv.gz", "450")], "7000")

    # DuckDB's own types and files.
    path = folder("duckdb")
    known = []
    for part in range(3):
        base.sql(f"""copy (select uuid, range from (select md5(range::varchar)::uuid as uuid, range from range({part * 1000}, {part * 1000 + 1000})))
                     to '{path}/part{part}.parquet' (compression zstd, row_group_size 2048)""")
        for (found,) in base.sql(f"select uuid from '{path}/part{part}.parquet' limit 3").fetchall():
            known.append((f"part{part}.parquet", str(found).upper()))
    check(path, "uuid", known, str(uuid.UUID(int=1)))
    path = folder("partitioned")
    base.sql(f"copy (select range as id, range % 3 as day from range(3000)) to '{path}' (format parquet, partition_by (day), overwrite_or_ignore)")
    index = f"{root}/p.idx"
    run("index", "--column", "id", "-o", index, path)
    for key in (0, 1, 2, 2999):
        found = run("which", index, str(key))
        assert any(f"day={key % 3}" in line for line in found), (key, found)

    # Lists are not keys.
    path = folder("nested")
    pq.write_table(pa.table({"tags": [["a"], ["b"]], "id": [1, 2]}), f"{path}/n.parquet")
    done = subprocess.run([mayhap, "index", "--column", "tags", "-o", f"{path}/n.idx", path], capture_output=True, text=True)
    assert done.returncode == 2 and "tags has lists" in done.stderr, done
print("index: folders of pyarrow", pa.__version__, "and DuckDB", duckdb.__version__, "are indexed")
