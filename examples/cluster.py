"""Who was seen next door to whom, as a Spark job: `spark-submit examples/cluster.py`, or run it on this machine alone.

Answers go to the folder `answers` of where it is started. docs/cluster.md says what a cluster needs.
"""

from pathlib import Path

from millstream import pipeline

OFFICE = "http://example.org/office/"
HERE = Path(__file__).resolve().parent

spark = pipeline.session()
answers = pipeline.continuous(
    (HERE / "next_door.rq").read_text("utf-8"),
    streams={OFFICE + "badges": str(HERE / "badges.trig")},
    datasets={OFFICE + "floorplan": HERE / "floorplan.ttl"},
    cells=2,
    once=True,
)
writer = answers.writeStream.option("checkpointLocation", "checkpoint").trigger(availableNow=True)
writer.start("answers").awaitTermination()
print(spark.read.parquet("answers").count(), "answers")
