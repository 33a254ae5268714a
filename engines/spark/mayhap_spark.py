"""Filters of mayhap in PySpark: built by the executors, merged in the driver, and used by the executors, batch by batch through Arrow."""

import functools
import operator

import mayhap
import pyarrow as pa
from pyspark.sql import DataFrame


def build(frame: DataFrame, column: str, capacity: int, rate: float, key_type: str) -> mayhap.Bloom:
    """A filter of a column; nulls are not in it. Each partition fills a filter of its own, and their union has the bits of one filter."""

    def fill(batches):
        part = mayhap.Bloom(capacity, rate, key_type=key_type)
        for batch in batches:
            part.add_many(batch.column(0), nulls="skip")
        yield pa.RecordBatch.from_arrays([pa.array([part.save_bytes()])], ["filter"])

    parts = frame.select(column).mapInArrow(fill, "filter binary")
    filters = (mayhap.Bloom.load_bytes(bytes(row.filter)) for row in parts.toLocalIterator())
    empty = mayhap.Bloom(capacity, rate, key_type=key_type)
    return functools.reduce(operator.ior, filters, empty)


def keep(frame: DataFrame, column: str, filter: mayhap.Filter, *, present: bool = True) -> DataFrame:
    """The rows whose key may be in a filter, or those whose key is certainly not. A null is in no filter."""
    shared = frame.sparkSession.sparkContext.broadcast(filter)

    def select(batches):
        for batch in batches:
            found = shared.value.contains_many(batch.column(column), nulls="skip")
            yield batch.filter(found if present else pa.compute.invert(found))

    return frame.mapInArrow(select, frame.schema)


def semi_join(frame: DataFrame, small: DataFrame, column: str, filter: mayhap.Filter) -> DataFrame:
    """The rows of a frame whose key the small one has. Only those that the filter lets through are shuffled."""
    return keep(frame, column, filter).join(small.select(column), column, "left_semi")


def new_rows(frame: DataFrame, seen: DataFrame, column: str, filter: mayhap.Filter) -> DataFrame:
    """The rows of a frame whose key is not among those seen. Keys that are not in their filter are certainly new, and are not shuffled."""
    certain = keep(frame, column, filter, present=False)
    checked = keep(frame, column, filter).join(seen.select(column), column, "left_anti")
    return certain.unionByName(checked)
