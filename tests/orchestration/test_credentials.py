"""Credentials in an address are refused where it would be shown, and no refusal quotes them."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import dagster as dg
import pytest

from assets.control.run_history import EndedRun
from orchestration.cli.main import main
from orchestration.feeds.load import load_feeds
from orchestration.observability import metrics
from orchestration.observability.alert_messages import Message, hooks_of, link_of_run
from orchestration.observability.report import html_page
from orchestration.resources import Deployment, lake_of
from orchestration.spark.jars import _reason
from transforms.errors import FeedMisdeclared, SettingMisdeclared, WeirError

HUSH = "hu/sh+4711"
STORE = f"s3://AKIAIOSFODNN7EXAMPLE:{HUSH}@bucket/lake"
PAGE = f"https://me:{HUSH}@weir.example.com/pages"


def shows_nothing(text: str) -> bool:
    return not any(part in text for part in (HUSH, "hu/sh", "sh+4711", "AKIA"))


def refused(capfd: pytest.CaptureFixture[str], *command: str) -> str:
    """What a command prints that ends with 2."""
    with pytest.raises(SystemExit) as end:
        main([*command])
    assert end.value.code == 2
    return "".join(capfd.readouterr())


@pytest.mark.parametrize(
    "landing",
    [
        *(STORE, STORE.replace("s3://", "s3a://"), STORE.replace("s3://", "s3:/"), PAGE),
        *(f"kafka://me:{HUSH}@broker:9092/t", f"kafka://broker:9092,me:{HUSH}@other:9092/t"),
        *(f"s3://AKIAIOSFODNN7EXAMPLE:{HUSH}/bucket", f"[{STORE}]", f"postgresql://me:{HUSH}@db/x"),
    ],
)
def test_a_feed_file_with_credentials_is_refused_without_them(
    tmp_path: Path, landing: str, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "zoo.yaml").write_text(f"format: debezium\nlanding: {landing}\n")
    with pytest.raises(FeedMisdeclared) as refusal:
        load_feeds(tmp_path)
    assert "landing" in str(refusal.value)
    assert shows_nothing(str(refusal.value))
    feeds = ("--feeds", str(tmp_path))
    commands = [("feeds", "check", *feeds), ("feeds", "check", "--json", *feeds), ("run", *feeds)]
    if not landing.startswith("["):
        commands += [("onboard", landing, *feeds)]
    for command in commands:
        text = refused(capfd, *command)
        assert "landing" in text.lower()
        assert shows_nothing(text)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("WEIR_WAREHOUSE", STORE),
        ("WEIR_WAREHOUSE", STORE.replace("s3://", "s3a://")),
        ("AWS_ENDPOINT_URL_S3", PAGE),
        ("AWS_ENDPOINT_URL", PAGE),
        ("WEIR_SPARK_MASTER", f"k8s://{PAGE}"),
        ("WEIR_SPARK_ARCHIVE", STORE),
    ],
)
def test_a_setting_with_credentials_is_refused_without_them(name: str, value: str) -> None:
    given = {
        "WEIR_WAREHOUSE": "s3://tables/lake",
        "WEIR_SPARK_MASTER": "spark://m:7077",
        name: value,
    }
    with pytest.raises(SettingMisdeclared) as refusal:
        lake_of(Deployment.from_environment(given).warehouse, given)
    assert refusal.value.name == name
    assert f"{name}=…: there are credentials in this address" in str(refusal.value)
    assert shows_nothing(str(refusal.value))


@pytest.mark.parametrize("command", [["status"], ["query", "SELECT 1"], ["run"], ["compact"]])
def test_a_command_for_such_a_warehouse_ends_without_showing_it(
    tmp_path: Path, command: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "zoo.yaml").write_text(f"format: debezium\nlanding: {tmp_path}\n")
    given = [] if command[0] == "query" else ["--feeds", str(tmp_path)]
    text = refused(capfd, *command, *given, "--warehouse", STORE)
    assert "there are credentials in this address" in text
    assert shows_nothing(text)


def test_links_lead_to_the_same_page_without_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    assert link_of_run({"WEIR_UI_URL": PAGE}, "4") == "https://weir.example.com/pages/runs/4"
    monkeypatch.setenv("WEIR_REPORTS_URL", PAGE)
    feed = load_feeds(Path(__file__).parents[2] / "feeds")[0]
    link = html_page.link_on_pages(feed)
    assert link == f"https://weir.example.com/pages/{feed.name}.html"


def test_a_hook_whose_address_has_a_password_never_quotes_it() -> None:
    message = Message(key="k", feed="zoo", link="")
    quoted = HUSH.replace("/", "%2F")
    for address in (
        f"http://me:{HUSH}@127.0.0.1:1/x",
        f"http://me:{HUSH.replace('/', '')}@127.0.0.1:1/x",
        f"json://me:{quoted}@127.0.0.1:1/{quoted}",
        f"mailto://me:{quoted}@127.0.0.1:1?to=a@example.com&from=b@example.com",
        f"mailto://me:{HUSH}@127.0.0.1:1?to=a@example.com&from=b@example.com",
    ):
        try:
            hooks = hooks_of({"WEIR_ALERTS": address})
        except WeirError as refusal:
            assert shows_nothing(str(refusal))
            continue
        for send in hooks.values():
            fault = send(message)
            assert fault
            assert shows_nothing(fault)


def test_metrics_are_not_written_to_such_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEIR_METRICS", STORE)
    feed = load_feeds(Path(__file__).parents[2] / "feeds")[0]
    ended = EndedRun("r", datetime.now(UTC), [])
    with dg.DagsterInstance.ephemeral() as instance:
        fault = metrics.write(lake_of("/nowhere", {}), feed, ended, instance)
    assert fault is not None and "WEIR_METRICS has credentials in it" in fault
    assert shows_nothing(json.dumps(fault))


def test_the_address_of_a_mirror_is_shown_without_its_password() -> None:
    said = f":: ERROR: SERVER ERROR: Unauthorized url=https://me:{HUSH}@mirror/x.jar"
    assert "https://mirror/x.jar" in _reason(said)
    assert shows_nothing(_reason(said))
