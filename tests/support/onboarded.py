"""A landing that is onboarded as the command does it, step by step: what was recognised, proposed and previewed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from assets.onboarding import preview, sample
from assets.onboarding.preview import Preview
from assets.onboarding.sample import refuse_empty, sample_landing
from orchestration.cli import onboard
from orchestration.cli.onboard import Request, address_of
from transforms.feed.feed import Feed
from transforms.onboarding.proposal import Proposal
from transforms.onboarding.recognition import Evidence, proposal_of_records


@dataclass(frozen=True)
class Onboarded:
    """What came of a landing: ``feed`` is the one that the written file declares."""

    evidence: Evidence
    proposal: Proposal
    draft: onboard.Draft
    feed: Feed
    preview: Preview

    @property
    def keys(self) -> dict[str, list[str]]:
        """The key of each proposed table, also where the stream describes it."""
        return {
            table.name: [*parts["key"]]
            for entry in self.proposal.entries
            if entry.name == "tables"
            for table in entry.value
            if not isinstance(table, str)
            for parts in [{part.name: part.value for part in table.value}]  # type: ignore[union-attr]
        }

    def gold(self) -> dict[str, list[dict[str, object]]]:
        """The rows of each gold table in the preview."""
        return {
            table.name: table.rows.to_pylist(maps_as_pydicts="strict")
            for table in self.preview.tables
        }


def onboarded(
    landing: str, format_name: str | None = None, files: str | None = None, objects: int = 50
) -> Onboarded:
    """What `weir onboard` finds in a landing."""
    address = address_of(Request(landing, Path("/nowhere/feeds"), files=files))
    found = sample_landing(
        Feed(address.name, "", address.landing, files=address.files or "**"),
        objects,
        lambda _: None,
    )
    refuse_empty(found)
    evidence = sample.recognise(found, format_name)
    before = sample.feed_of(found, evidence, address.files)
    proposal = proposal_of_records(before, found.records(before))
    draft = onboard.drafted(before, address, found, evidence, proposal)
    feed = onboard.loaded_draft(draft)
    return Onboarded(evidence, proposal, draft, feed, preview.preview(feed, found.records(feed)))


def laid(folder: Path, objects: Mapping[str, bytes]) -> str:
    """A landing with these objects."""
    for name, data in objects.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    return str(folder)
