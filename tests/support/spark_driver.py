"""Release from a slow table on a cluster, and kill a machine of it in the middle of the scan.

python spark_driver.py MASTER FOLDER LEDGER GROUP
"""

import json
import os
import signal
import sys
import threading
import time

from pyspark.sql import SparkSession
from support.releasing import sample

import dproo
from dproo import counting

LETTERS = [f"letter{i}" for i in range(10)]
SLOW = "aggregate(sequence(1, 3000), 0L, (sum, x) -> sum + x) > 0"

CONFIG = {
    "spark.cores.max": "2",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.executor.memory": "512m",
    "spark.shuffle.io.maxRetries": "1",
    "spark.shuffle.io.retryWait": "100ms",
    "spark.speculation": "true",
    "spark.speculation.interval": "50ms",
    "spark.speculation.minTaskRuntime": "50ms",
    "spark.speculation.multiplier": "1.05",
    "spark.speculation.quantile": "0.2",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.files.maxPartitionBytes": "100k",
    "spark.sql.shuffle.partitions": "4",
    "spark.ui.enabled": "false",
}


def main(master: str, folder: str, ledger: str, group: str) -> None:
    session = SparkSession.builder.master(master).config(map=CONFIG).getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    tracker = session.sparkContext.statusTracker()

    def executors() -> int:
        return session._jsc.sc().getExecutorMemoryStatus().size() - 1

    while executors() < 2:  # both machines must have one before one of them is lost
        time.sleep(0.1)
    session.read.parquet(folder).where(SLOW).createOrReplaceTempView("slow")
    seen = {"tasks": 0, "done": 0}
    released = threading.Event()

    def kill() -> None:
        def stages():
            jobs = [tracker.getJobInfo(job) for job in tracker.getActiveJobsIds()]
            found = [tracker.getStageInfo(stage) for job in jobs if job for stage in job.stageIds]
            return [stage for stage in found if stage and stage.numTasks > 20]

        while not released.wait(0.02):
            if begun := [stage for stage in stages() if stage.numCompletedTasks >= 4]:
                os.killpg(int(group), signal.SIGKILL)
                seen.update(tasks=begun[0].numTasks, done=begun[0].numCompletedTasks)
                return

    counts = []
    counted = counting.Scan.count_several

    def count(scan: counting.Scan, source: object = None) -> tuple[dproo.Counts, ...]:
        counts.extend(found := counted(scan, source))
        return found

    counting.Scan.count_several = count
    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    release = sample(
        "slow",
        engine=master,
        column="code",
        alphabet=LETTERS,
        epsilon="0.4",
        ledger=ledger,
        dataset="visits",
    )
    released.set()
    killer.join()
    while executors() > 1:  # that one is lost may be noticed after the last task
        time.sleep(0.1)
    found = {
        "counts": list(counts[0]),
        "executors": executors(),
        "receipt": release.receipt.as_dict(),
    }
    sys.stdout.write(json.dumps(seen | found) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
