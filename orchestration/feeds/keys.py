"""The keys that a feed file may have, and the shape of the value of each.

Put a new key here. Not here: whether a value of the right shape can be used (``load``, and the module of its key).
"""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from orchestration.feeds.epochs import DeclaredEpoch
from orchestration.feeds.retention import DeclaredCompaction
from orchestration.feeds.running.automation import DeclaredAutomation
from orchestration.feeds.running.freshness import DeclaredFreshness
from orchestration.feeds.schema_changes import DeclaredPolicies, DeclaredTablePolicies
from transforms.feed.feed import ScopeDeletes, TableNames, WindowSize

_Text = Annotated[str, Field(min_length=1)]
# The YAML of a feed file is read as texts; these are the words of YAML 1.2 for yes and no.
_WORDS = {"true": True, "false": False}
_YesOrNo = Annotated[
    bool,
    BeforeValidator(lambda text: _WORDS.get(str(text).lower(), text)),
]
_Texts = Annotated[list[_Text], Field(min_length=1)]


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


class _Declared(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class DeclaredTable(_Declared):
    """One entry of ``tables``."""

    key: list[_Text]
    columns: Annotated[dict[_Text, _Text], Field(min_length=1)]
    cdc_columns: _Texts | None = None
    path: _Text | None = None
    history: _YesOrNo = False
    change_feed: _YesOrNo = False
    was: list[_Text] = Field(default_factory=list)
    renamed: dict[_Text, _Text] = Field(default_factory=dict)
    since: dict[_Text, _Text] = Field(default_factory=dict)
    schema_changes: DeclaredTablePolicies | None = None
    description: _Text | None = None
    descriptions: dict[_Text, _Text] = Field(default_factory=dict)


class DeclaredPredicate(_Declared):
    """One entry of ``predicates``."""

    type: _Text | None = None
    list: _YesOrNo = False


class DeclaredVertex(_Declared):
    """One entry of ``vertices``; ``graph`` names one graph or several."""

    attributes: dict[_Text, _Text] = Field(default_factory=dict)
    key: list[_Text] = Field(default_factory=list)
    defaults: dict[_Text, str] = Field(default_factory=dict)
    graph: Annotated[list[_Text], BeforeValidator(_as_list)] = Field(default_factory=list)


class DeclaredEdge(_Declared):
    """One entry of ``edges``; ``from`` and ``to`` name one vertex type or several, ``graph`` graphs."""

    sources: Annotated[_Texts, BeforeValidator(_as_list), Field(alias="from")]
    targets: Annotated[_Texts, BeforeValidator(_as_list), Field(alias="to")]
    attributes: dict[_Text, _Text] = Field(default_factory=dict)
    directed: _YesOrNo = True
    reverse: _Text | None = None
    discriminator: list[_Text] = Field(default_factory=list)
    defaults: dict[_Text, str] = Field(default_factory=dict)
    graph: Annotated[list[_Text], BeforeValidator(_as_list)] = Field(default_factory=list)


class DeclaredFeed(_Declared):
    """The whole file."""

    format: _Text
    landing: _Text
    files: _Text | None = None
    window: WindowSize = "hour"
    table_names: TableNames = "plain"
    tables: dict[_Text, DeclaredTable] = Field(default_factory=dict)
    predicates: dict[_Text, DeclaredPredicate] = Field(default_factory=dict)
    types: dict[_Text, _Texts] = Field(default_factory=dict)
    vertices: dict[_Text, DeclaredVertex] = Field(default_factory=dict)
    edges: dict[_Text, DeclaredEdge] = Field(default_factory=dict)
    baseline: dict[_Text, _Text] = Field(default_factory=dict)
    scope_deletes: ScopeDeletes = "apply"
    accept_loss: dict[_Text, _Text] = Field(default_factory=dict)
    epochs: list[DeclaredEpoch] = Field(default_factory=list)
    transaction_timeout: _Text = "1d"
    compaction: DeclaredCompaction = Field(default_factory=DeclaredCompaction)
    schema_changes: DeclaredPolicies = Field(default_factory=DeclaredPolicies)
    start: _Text | None = None
    description: _Text | None = None
    owners: list[_Text] = Field(default_factory=list)
    tags: dict[_Text, _Text] = Field(default_factory=dict)
    freshness: DeclaredFreshness | None = None
    automation: DeclaredAutomation = Field(default_factory=DeclaredAutomation)


OBJECTS: Final = ("tables", "predicates", "types", "vertices", "edges", "baseline")
"""The keys that not every format has: they declare tables, or what only one kind of source has."""

PARTS: Final[dict[str, type[BaseModel]]] = {
    "tables": DeclaredTable,
    "predicates": DeclaredPredicate,
    "vertices": DeclaredVertex,
    "edges": DeclaredEdge,
    "epochs": DeclaredEpoch,
    "compaction": DeclaredCompaction,
    "schema_changes": DeclaredPolicies,
    "freshness": DeclaredFreshness,
    "automation": DeclaredAutomation,
    "tables.schema_changes": DeclaredTablePolicies,
}
"""The parts of a file that have keys of their own, by the key that they are found under, by name or number."""
