"""Removes duplicates: from a stream, one key at a time, and from Polars and pandas frames, a column at a time."""

import mayhap
import pandas as pd
import polars as pl

# A stream of unknown length: a filter that grows. At a rate of 1e-6, one new line in a million is taken for a duplicate.
seen = mayhap.GrowingBloom(1000, 1e-6)
stream = (f"user {i % 700}" for i in range(10_000))
first = [line for line in stream if seen.add(line)]
assert len(first) == 700

# A frame: `return_new` says for each row whether its key was new. The filter remembers the keys for the next frame.
seen = mayhap.Bloom(100_000, 1e-6)
for part in range(3):
    frame = pl.DataFrame({"id": [part * 500 + i % 1000 for i in range(2000)], "n": range(2000)})
    new = frame.filter(seen.add_many(frame["id"], return_new=True))
    print(f"Polars, part {part}: {len(new)} of {len(frame)} rows are new")

seen.clear()
table = pd.DataFrame({"url": [f"https://example.org/{i % 30}" for i in range(100)]})
print("pandas:", len(table[seen.add_many(table["url"], return_new=True)]), "rows are new")
