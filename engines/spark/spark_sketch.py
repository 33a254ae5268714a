"""Spark's own Bloom filters, from Python."""

from pyspark.java_gateway import ensure_callback_server_started


def versions(spark):
    """The versions that this Spark writes, the default last."""
    return [1] if spark.version.startswith("3.") else [1, 2]


def create(spark, items, bits, version, seed=0):
    sketch = spark.sparkContext._jvm.org.apache.spark.util.sketch
    if spark.version.startswith("3."):
        assert version == 1
        return sketch.BloomFilter.create(items, bits)
    number = sketch.BloomFilter.Version.valueOf(f"V{version}")
    return sketch.BloomFilter.create(number, items, bits, seed)


def to_bytes(spark, filter):
    """`writeTo`."""
    stream = spark.sparkContext._jvm.java.io.ByteArrayOutputStream()
    filter.writeTo(stream)
    return bytes(stream.toByteArray())


def from_bytes(spark, data):
    """`readFrom`."""
    java = spark.sparkContext._jvm
    return java.org.apache.spark.util.sketch.BloomFilter.readFrom(java.java.io.ByteArrayInputStream(data))


class _Function:
    """A function that makes an expression of its arguments, for Spark's registry."""

    def __init__(self, expression):
        self.expression = expression

    def apply(self, arguments):
        return self.expression(*(arguments.apply(index) for index in range(arguments.size())))

    class Java:
        implements = ["scala.Function1"]


def register(spark):
    """Gives SQL the two functions that Spark has for its own optimiser only."""
    gateway = spark.sparkContext._gateway
    ensure_callback_server_started(gateway)
    expressions = gateway.jvm.org.apache.spark.sql.catalyst.expressions
    registry = spark._jsparkSession.sessionState().functionRegistry()
    functions = {
        "might_contain": expressions.BloomFilterMightContain,
        "bloom_filter_agg": lambda *words: expressions.aggregate.BloomFilterAggregate(*words).toAggregateExpression(),
    }
    for name, function in functions.items():
        registry.createOrReplaceTempFunction(name, _Function(function), "scala_udf")
