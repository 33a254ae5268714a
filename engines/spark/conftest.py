"""A Spark cluster of two workers with an executor each, as processes, and what its jobs shuffle."""

import contextlib
import os
import sys
import time
import uuid

import pytest
import spark_sketch
from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark():
    os.environ["PYSPARK_PYTHON"] = sys.executable
    # The modules beside this file are imported by the executors, too.
    os.environ["PYTHONPATH"] = os.path.dirname(os.path.abspath(__file__))
    settings = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.executor.memory": "1g",
        "spark.executorEnv.PYTHONPATH": os.environ["PYTHONPATH"],
        "spark.sql.autoBroadcastJoinThreshold": "-1",
        "spark.sql.shuffle.partitions": "4",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    builder = SparkSession.builder.master("local-cluster[2,1,1024]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    spark_sketch.register(session)
    executors = session.sparkContext._jsc.sc().getExecutorMemoryStatus
    deadline = time.monotonic() + 60
    while executors().size() < 3:
        assert time.monotonic() < deadline, "the driver and two executors did not start within a minute"
        time.sleep(0.1)
    yield session
    session.stop()


class Shuffled:
    rows = bytes = seconds = 0


@pytest.fixture
def shuffled(spark):
    """Counts what the jobs of a block write for other stages."""

    @contextlib.contextmanager
    def count():
        context = spark.sparkContext
        counted, group = Shuffled(), str(uuid.uuid4())
        context.setJobGroup(group, "counted")
        start = time.perf_counter()
        yield counted
        counted.seconds = time.perf_counter() - start
        scala = context._jsc.sc()
        scala.listenerBus().waitUntilEmpty()
        jobs = map(context.statusTracker().getJobInfo, context.statusTracker().getJobIdsForGroup(group))
        for stage in {stage for job in jobs for stage in job.stageIds}:
            data = scala.statusStore().lastStageAttempt(stage)
            counted.rows += data.shuffleWriteRecords()
            counted.bytes += data.shuffleWriteBytes()

    return count
