"""Reduces the large side of a join before it is joined: rows whose key is surely not on the small side are dropped first."""

import duckdb
import mayhap
import numpy as np
import polars as pl
import pyarrow as pa

orders = pa.table({"customer": np.arange(1_000_000) % 50_000, "amount": np.arange(1_000_000)})
customers = pa.table({"customer": np.arange(0, 50_000, 50), "name": [f"customer {i}" for i in range(1000)]})

filter = mayhap.Bloom(customers.num_rows, 0.001)
filter.add_many(customers["customer"])
candidates = orders.filter(filter.contains_many(orders["customer"], threads=0))
print(f"{candidates.num_rows} of {orders.num_rows} rows are left for the join")

# DuckDB. The join removes the few false positives.
joined = duckdb.sql("select count(*) from candidates join customers using (customer)").fetchall()
assert joined == duckdb.sql("select count(*) from orders join customers using (customer)").fetchall() == [(20_000,)]

# Polars, from the result of a DuckDB query without a copy of its keys.
small = mayhap.Fuse.build(duckdb.sql("select customer from customers where name like '%9'"), 0.001)
frame = pl.from_arrow(orders)
left = frame.filter(small.contains_many(frame["customer"]))
assert len(left.join(pl.from_arrow(customers), on="customer")) >= 2000
print(f"{len(left)} of {len(frame)} rows are left for the second join")
