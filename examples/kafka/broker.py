"""A Kafka broker of one's own, from Maven's artefacts: for the demo here, and for tests, which kill it.

Its jars go to build/kafka, once; Java 17 and, the first time, Maven are needed.
"""

from __future__ import annotations

import fcntl
import shutil
import socket
import subprocess
import time
import uuid
from pathlib import Path

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

HERE = Path(__file__).parent
JARS = HERE.parents[1] / "build" / "kafka"
# Spark's own source of topics, of the last versions that Maven Central has all of: later ones need the same of Spark.
SPARK_ARTEFACTS = (
    "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0",
    "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.0.0",
    "org.apache.kafka:kafka-clients:3.9.1",
    "org.apache.commons:commons-pool2:2.12.1",
)


def missing() -> str | None:
    """Why there can be no broker here, if there can be none."""
    for program in ("java", "mvn"):
        if shutil.which(program) is None and not (program == "mvn" and JARS.is_dir()):
            return f"a broker needs {program}"
    try:
        fetch_jars()
    except (subprocess.SubprocessError, OSError) as error:
        return f"the jars of a broker cannot be fetched ({error})"
    return None


def fetch_jars() -> None:
    """Puts the jars of a broker into a folder, once for all processes that want one."""
    JARS.parent.mkdir(exist_ok=True)
    with (JARS.parent / "kafka.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if JARS.is_dir():
            return
        made = JARS.with_name("kafka.new")
        shutil.rmtree(made, ignore_errors=True)
        command = ["mvn", "-q", "-B", "dependency:copy-dependencies", f"-DoutputDirectory={made}"]
        subprocess.run(command, cwd=HERE, check=True, timeout=600)
        made.rename(JARS)


def spark_jars() -> str:
    """The jars of Spark's own source, for `spark.jars`."""
    folder = JARS.with_name("kafka-spark")
    folder.mkdir(parents=True, exist_ok=True)
    for artefact in SPARK_ARTEFACTS:
        _, name, version = artefact.split(":")
        if not (folder / f"{name}-{version}.jar").exists():
            command = ["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={artefact}", f"-DoutputDirectory={folder}"]
            subprocess.run(command, check=True, timeout=280, cwd=folder.parent)
    return ",".join(str(path) for path in sorted(folder.glob("*.jar")))


class Broker:
    """One broker, which keeps what it is sent in a folder."""

    def __init__(self, folder: Path) -> None:
        fetch_jars()
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        ports = [_free_port(), _free_port()]
        self.servers = f"127.0.0.1:{ports[0]}"
        settings = {
            "process.roles": "broker,controller",
            "node.id": "1",
            "controller.quorum.voters": f"1@127.0.0.1:{ports[1]}",
            "listeners": f"PLAINTEXT://127.0.0.1:{ports[0]},CONTROLLER://127.0.0.1:{ports[1]}",
            "controller.listener.names": "CONTROLLER",
            "log.dirs": str(folder / "log"),
            "offsets.topic.replication.factor": "1",
            "offsets.topic.num.partitions": "1",
            "transaction.state.log.replication.factor": "1",
            "transaction.state.log.min.isr": "1",
            "transaction.state.log.num.partitions": "1",
            "group.initial.rebalance.delay.ms": "0",
            # Times of messages may be long ago.
            "log.retention.ms": "-1",
            "log.message.timestamp.before.max.ms": str((1 << 63) - 1),
        }
        self._config = folder / "server.properties"
        self._config.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
        self._java("kafka.tools.StorageTool", "format", "-t", uuid.uuid4().hex[:22], "-c", str(self._config)).wait(60)
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        """Starts it, anew or again, and waits until it answers."""
        self._process = self._java("kafka.Kafka", str(self._config))
        self._admin = AdminClient({"bootstrap.servers": self.servers, "log_level": 0})
        until = time.monotonic() + 120
        while True:
            try:
                self._admin.list_topics(timeout=1)
                return
            except KafkaException:
                if self._process.poll() is not None or time.monotonic() > until:
                    raise RuntimeError((self._folder / "broker.log").read_text()[-2000:]) from None

    def kill(self) -> None:
        """Stops it as a power cut would."""
        assert self._process is not None
        self._process.kill()
        self._process.wait(30)

    def topic(self, name: str, partitions: int = 1) -> str:
        """A new topic."""
        [made] = self._admin.create_topics([NewTopic(name, partitions, 1)]).values()
        made.result(30)
        return name

    def _java(self, main: str, *arguments: str) -> subprocess.Popen[bytes]:
        command = ["java", "-Xmx256m", "-XX:TieredStopAtLevel=1", "-cp", f"{JARS}/*", main, *arguments]
        with (self._folder / "broker.log").open("ab") as log:
            return subprocess.Popen(command, stdout=log, stderr=log)


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
