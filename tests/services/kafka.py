"""A real Kafka broker for tests: Apache Kafka in KRaft mode, one process on loopback, in a folder that goes."""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from confluent_kafka import (
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from orchestration.spark.java import find_java
from tests.services.ivy import Module, classpath, fetched
from tests.services.server_process import PATIENCE

VERSION = "4.1.0"
MODULES = (
    Module("org.apache.kafka", "kafka_2.13", VERSION),
    Module("org.slf4j", "slf4j-simple", "1.7.36"),
)
SHA256 = "761379bf49cac30792df08bc54e3d687614b0854f7d91cad732afe590164cb7b"

USER, PASSWORD = "weir", "testsecret123"
STORE_PASSWORD = "changeit"
# Tests are short: a JVM that compiles little and collects with one thread is up sooner.
JVM = (
    "-XX:TieredStopAtLevel=1",
    "-XX:+UseSerialGC",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
)
LOWEST_PORT, HIGHEST_PORT = 22001, 32000
NO_TIME = 0
"""The timestamp by which librdkafka is told to give one itself."""

PROPERTIES = """\
process.roles=broker,controller
node.id=1
controller.quorum.bootstrap.servers=127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{plain},SASL://127.0.0.1:{sasl},TLS://127.0.0.1:{tls},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{plain},SASL://127.0.0.1:{sasl},TLS://127.0.0.1:{tls}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,SASL:SASL_PLAINTEXT,TLS:SSL,CONTROLLER:PLAINTEXT
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
listener.name.sasl.sasl.enabled.mechanisms=PLAIN
listener.name.sasl.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \
user_{user}="{password}";
listener.name.tls.ssl.keystore.type=PKCS12
listener.name.tls.ssl.keystore.location={folder}/broker.p12
listener.name.tls.ssl.keystore.password={store_password}
log.dirs={folder}/data
broker.session.timeout.ms=6000
broker.heartbeat.interval.ms=200
auto.create.topics.enable=false
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
log.cleaner.dedupe.buffer.size=2097152
log.cleaner.backoff.ms=200
log.retention.ms=-1
log.message.timestamp.after.max.ms=9223372036854775807
log.retention.check.interval.ms=500
log.initial.task.delay.ms=500
"""


@dataclass(frozen=True, slots=True)
class Sent:
    """One record to produce; ``at`` is its timestamp in milliseconds, or now."""

    value: bytes | None
    key: bytes | None = None
    headers: Sequence[tuple[str, bytes | None]] = ()
    at: int = NO_TIME
    partition: int = 0


@dataclass(slots=True)
class Broker:
    """A broker in its folder, running or not."""

    folder: Path
    ports: Mapping[str, int]
    _process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @property
    def address(self) -> str:
        """Where clients reach it without any security."""
        return f"127.0.0.1:{self.ports['plain']}"

    @property
    def sasl_address(self) -> str:
        """Where clients say who they are."""
        return f"127.0.0.1:{self.ports['sasl']}"

    @property
    def tls_address(self) -> str:
        """Where clients need the certificate, ``authority``."""
        return f"127.0.0.1:{self.ports['tls']}"

    @property
    def authority(self) -> Path:
        """The certificate by which the broker is known, as PEM."""
        return self.folder / "broker.pem"

    @property
    def log(self) -> Path:
        """What the broker says."""
        return self.folder / "broker.log"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        with self.log.open("ab") as output:
            self._process = subprocess.Popen(
                _java("-Xms64m", "-Xmx256m", "kafka.Kafka", str(self.folder / "server.properties")),
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=self.folder,
                start_new_session=True,
            )
        deadline = time.monotonic() + PATIENCE
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"Kafka did not start:\n{self.log.read_text()[-3000:]}")
            time.sleep(0.1)

    def stop(self) -> None:
        """Ask it to stop, as an operator would."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """Kill it at once, as a machine that fails would."""
        self._end(signal.SIGKILL)

    def admin(self) -> AdminClient:
        """A client that may do everything."""
        return AdminClient({"bootstrap.servers": self.address, "log_level": 0})

    def create(
        self, topic: str, partitions: int = 1, settings: Mapping[str, str] | None = None
    ) -> None:
        """Make a topic, in place of one of the same name."""
        admin = self.admin()
        with suppress(KafkaException):
            admin.delete_topics([topic])[topic].result(30)
            while topic in admin.list_topics(timeout=30).topics:
                time.sleep(0.05)
        new = NewTopic(topic, partitions, 1, config=dict(settings or {}))
        admin.create_topics([new])[topic].result(30)
        # The controller knows the topic before the broker leads its partitions.
        while not self._leads(admin, topic, partitions):
            time.sleep(0.05)

    def topic_id(self, topic: str) -> str:
        """The identity that the broker gave the topic."""
        # Kept until the answer is here: with a client that is gone no answer comes.
        admin = self.admin()
        description = admin.describe_topics(TopicCollection([topic]))[topic].result(30)
        return str(description.topic_id)

    def delete_before(self, topic: str, offset: int) -> None:
        """What retention does to the first partition, at once."""
        admin = self.admin()
        asked = admin.delete_records([TopicPartition(topic, 0, offset)])
        for future in asked.values():
            future.result(30)

    def send(
        self, topic: str, records: Sequence[Sent], settings: Mapping[str, str] | None = None
    ) -> None:
        """Produce these records, and wait until the broker has them all."""
        producer = Producer(self._producing(settings))
        produce(producer, topic, records)
        assert producer.flush(30) == 0

    def begun(self, topic: str, records: Sequence[Sent]) -> Producer:
        """Produce these records in a transaction that stays open; it ends another of this topic."""
        producer = Producer(self._producing({"transactional.id": f"tests-{topic}"}))
        producer.init_transactions(30)
        producer.begin_transaction()
        produce(producer, topic, records)
        producer.flush(30)
        return producer

    def transaction(self, topic: str, records: Sequence[Sent], *, commit: bool) -> None:
        """Produce these records in one transaction, and commit or abort it."""
        producer = self.begun(topic, records)
        if commit:
            producer.commit_transaction(30)
        else:
            producer.abort_transaction(30)

    def pause(self, seconds: float) -> None:
        """Let time pass on the broker, so that it closes a segment."""
        time.sleep(seconds)

    def wait_until_gone(self, topic: str, offset: int) -> None:
        """Wait until compaction has removed what stands at an offset of the first partition."""
        consumer = Consumer({"bootstrap.servers": self.address, "group.id": "tests"})
        deadline = time.monotonic() + PATIENCE
        with closing(consumer):
            while True:
                consumer.assign([TopicPartition(topic, 0, offset)])
                found = consumer.poll(5)
                if found is not None and found.error() is None and found.offset() != offset:
                    return
                if time.monotonic() > deadline:
                    raise RuntimeError(f"compaction has left offset {offset} of {topic}")
                time.sleep(0.1)

    def _producing(self, settings: Mapping[str, str] | None) -> dict[str, str | int | float | bool]:
        return {
            "bootstrap.servers": self.address,
            "linger.ms": 0,
            "log_level": 0,
            **(settings or {}),
        }

    def _answers(self) -> bool:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", self.ports["plain"])) != 0:
                return False
        with suppress(KafkaException):
            return bool(self.admin().list_topics(timeout=5).brokers)
        return False

    def _leads(self, admin: AdminClient, topic: str, partitions: int) -> bool:
        known = admin.list_topics(topic, timeout=30).topics[topic].partitions
        return len(known) == partitions and all(one.leader == 1 for one in known.values())

    def _end(self, how: signal.Signals) -> None:
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, how)
            self._process.wait(30)
            self._process = None


def _refuse_failure(error: KafkaError | None, _: Message) -> None:
    if error is not None:
        raise RuntimeError(f"the broker did not take a record: {error.str()}")


def produce(producer: Producer, topic: str, records: Sequence[Sent]) -> None:
    """Hand records to a producer."""
    for one in records:
        producer.produce(
            topic,
            value=one.value,
            key=one.key,
            headers=list(one.headers),
            partition=one.partition,
            timestamp=one.at,
            on_delivery=_refuse_failure,
        )


@contextmanager
def running_broker(folder: Path) -> Iterator[Broker]:
    """A broker that keeps its data in the folder and is killed at the end."""
    names = ("plain", "sasl", "tls", "controller")
    broker = Broker(folder, dict(zip(names, free_ports(len(names)), strict=True)))
    settings = folder / "server.properties"
    settings.write_text(
        PROPERTIES.format(
            **broker.ports,
            folder=folder,
            user=USER,
            password=PASSWORD,
            store_password=STORE_PASSWORD,
        )
    )
    _make_certificate(folder, broker.authority)
    _run(
        folder,
        *_java("-Xmx128m", "kafka.tools.StorageTool", "format", "--standalone"),
        *("-t", "4L6g3nShT-eMCtK--X86sw", "-c", str(settings)),
    )
    try:
        broker.start()
        yield broker
    finally:
        broker.kill()


def _java(*arguments: str) -> list[str]:
    jars = fetched(f"kafka-{VERSION}", MODULES, SHA256)
    return [str(find_java().program), *JVM, "-cp", classpath(jars), *arguments]


def _make_certificate(folder: Path, authority: Path) -> None:
    java = find_java().program.resolve()
    keytool = next((one for one in (java.with_name("keytool"),) if one.is_file()), Path("keytool"))
    store = (
        "-keystore",
        str(folder / "broker.p12"),
        "-storepass",
        STORE_PASSWORD,
        "-alias",
        "broker",
    )
    _run(
        folder,
        *(str(keytool), "-genkeypair", *store, "-storetype", "PKCS12", "-keyalg", "EC"),
        *("-dname", "CN=127.0.0.1", "-ext", "san=ip:127.0.0.1", "-validity", "7"),
    )
    _run(folder, str(keytool), "-exportcert", *store, "-rfc", "-file", str(authority))


def _run(folder: Path, *command: str) -> None:
    answer = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        raise RuntimeError(f"{command[-1]}: {answer.stdout}{answer.stderr}"[-3000:])


def free_ports(count: int) -> list[int]:
    """Ports that nothing listens on, below those that the kernel hands out: they stay free while a broker restarts."""
    ports: list[int] = []
    while len(ports) < count:
        port = random.randrange(LOWEST_PORT, HIGHEST_PORT)
        with socket.socket() as probe:
            if port not in ports and probe.connect_ex(("127.0.0.1", port)) != 0:
                ports.append(port)
    return ports


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """One broker for all tests of this process; whoever stops it starts it again."""
    with running_broker(tmp_path_factory.mktemp("kafka")) as running:
        yield running
