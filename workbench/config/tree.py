"""The whole configuration: one frozen tree, where each value came from, and its explanation."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin

import msgspec

from workbench.config.agent import (
    BackgroundIntelligence,
    Edit,
    Llm,
    ProjectDetection,
    SearchCode,
    Session,
    Shell,
    Skills,
    Turn,
    Ui,
)
from workbench.config.context import Compiler, ContextEngine, Tiers
from workbench.config.fields import About, Settings
from workbench.config.knowledge import Embedding, Knowledge, Postgres, Rerank, Search
from workbench.config.memory import Consolidation, Memory
from workbench.config.records import ConfigWarning, ExplainRow, masked
from workbench.config.spaces import Spaces
from workbench.config.store import Ingest, Redaction, Serve, Store
from workbench.config.study import Study, Telemetry, Workflow
from workbench.config.vault import Vault


class Loaded(msgspec.Struct, frozen=True):
    """How a configuration came about.

    Attributes:
        home: The home it was loaded for; None where it was not loaded.
        warnings: What was not taken as written, in the order it was met.
        origins: Where values come from, by dotted key; those missing are defaults.
        unknown: Values of keys that nobody knows, by dotted key as written.
    """

    home: Path | None = None
    warnings: tuple[ConfigWarning, ...] = ()
    origins: dict[str, str] = msgspec.field(default_factory=dict)
    unknown: dict[str, Any] = msgspec.field(default_factory=dict)


class Config(Settings, frozen=True):
    """Every setting, with defaults where nobody said otherwise. Made by `load_config`; `Config()` is all defaults."""

    llm: Llm = Llm()
    background_intelligence: BackgroundIntelligence = BackgroundIntelligence()
    turn: Turn = Turn()
    session: Session = Session()
    compiler: Compiler = Compiler()
    tiers: Tiers = Tiers()
    context_engine: ContextEngine = ContextEngine()
    memory: Memory = Memory()
    consolidation: Consolidation = Consolidation()
    skills: Skills = Skills()
    shell: Shell = Shell()
    edit: Edit = Edit()
    search_code: SearchCode = SearchCode()
    project_detection: ProjectDetection = ProjectDetection()
    ui: Ui = Ui()
    store: Store = Store()
    ingest: Ingest = Ingest()
    redaction: Redaction = Redaction()
    embedding: Embedding = Embedding()
    search: Search = Search()
    rerank: Rerank = Rerank()
    knowledge: Knowledge = Knowledge()
    vault: Vault = Vault()
    spaces: Spaces = Spaces()
    workflow: Workflow = Workflow()
    telemetry: Telemetry = Telemetry()
    study: Study = Study()
    serve: Serve = Serve()
    postgres: Postgres = Postgres()
    loaded: Loaded = Loaded()

    @property
    def home(self) -> Path | None:
        """The home that it was loaded for."""
        return self.loaded.home

    @property
    def warnings(self) -> tuple[ConfigWarning, ...]:
        """What was not taken as written."""
        return self.loaded.warnings

    @property
    def unknown(self) -> dict[str, Any]:
        """What was written under keys that nobody knows."""
        return self.loaded.unknown

    def explain(self) -> list[ExplainRow]:
        """Every setting in the order of declaration, then the keys that nobody knows. Credentials are masked."""
        origins = self.loaded.origins
        known = [
            ExplainRow(
                key=spec.key,
                value=masked(spec.key, plain(value_at(self, spec.key)), secret=spec.about.secret),
                default=masked(spec.key, plain(spec.default), secret=spec.about.secret),
                origin=origins.get(spec.key, "default"),
                meaning=f"no effect here ({spec.about.no_effect})" if spec.about.no_effect else spec.about.meaning,
                source=spec.about.source,
            )
            for spec in specs().values()
        ]
        unknown = [
            ExplainRow(key, masked(key, plain(value)), None, origins.get(key, "default"), "unknown key, no effect", "")
            for key, value in self.loaded.unknown.items()
        ]
        return known + unknown


class Spec(msgspec.Struct, frozen=True):
    """One setting as declared.

    Attributes:
        key: Dotted key.
        type: Its annotation.
        default: The default.
        about: The rest of the declaration.
    """

    key: str
    type: Any
    default: Any
    about: About

    @property
    def text_kind(self) -> Literal["text", "flag", "json"]:
        """How a variable's text is read: as it stands, as yes or no, as JSON."""
        kind = _bare(self.type)
        if kind in (str, Path) or get_origin(kind) is Literal:
            return "text"
        return "flag" if kind is bool else "json"

    @property
    def holds_path(self) -> bool:
        """Whether the value is a path or holds some."""
        return _names_path(self.type)


@cache
def specs() -> dict[str, Spec]:
    """Every setting by its dotted key, in the order of declaration."""
    return {spec.key: spec for spec in _walk(Config, "")}


@cache
def groups() -> frozenset[str]:
    """The dotted keys of all groups; the root is the empty text."""
    return frozenset(key[:end] for key in specs() for end in _ends(key)) | {""}


def value_at(config: Config, key: str) -> Any:
    """The value of a dotted key."""
    found: Any = config
    for name in key.split("."):
        found = getattr(found, name)
    return found


def plain(value: Any) -> Any:
    """A value as JSON holds it."""
    if isinstance(value, Mapping):
        return {str(name): plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    return value if value is None or isinstance(value, str | int | float) else str(value)


def config_hash(config: Config) -> str:
    """SHA-256 of all settings that can change a result: no credentials, paths, user names, unknown or idle keys."""
    values = {
        spec.key: masked(spec.key, plain(value_at(config, spec.key)))
        for spec in specs().values()
        if spec.about.hashed and not (spec.holds_path or spec.about.secret or spec.about.no_effect)
    }
    return hashlib.sha256(json.dumps(values, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def assemble(values: Mapping[str, Any], loaded: Loaded) -> Config:
    """The tree of fitting values by dotted key; a key that is missing has its default."""
    return Config(**_filled(Config, "", values), loaded=loaded)


def _filled(model: type[Settings], prefix: str, values: Mapping[str, Any]) -> dict[str, Any]:
    filled: dict[str, Any] = {}
    for field in msgspec.structs.fields(model):
        key = f"{prefix}{field.name}"
        if _is_group(field.type):
            filled[field.name] = field.type(**_filled(field.type, f"{key}.", values))
        elif key in values:
            filled[field.name] = values[key]
    return filled


def _walk(model: type[Settings], prefix: str) -> Iterator[Spec]:
    for field in msgspec.structs.fields(model):
        if _is_group(field.type):
            yield from _walk(field.type, f"{prefix}{field.name}.")
        elif get_origin(field.type) is Annotated:
            about = next(note for note in field.type.__metadata__ if isinstance(note, About))
            yield Spec(f"{prefix}{field.name}", field.type, field.default, about)


def _is_group(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, Settings)


def _bare(annotation: Any) -> Any:
    """A type without notes and without `| None`."""
    if get_origin(annotation) is Annotated:
        return _bare(get_args(annotation)[0])
    parts = [part for part in get_args(annotation) if part is not NoneType]
    return _bare(parts[0]) if NoneType in get_args(annotation) else annotation


def _names_path(annotation: Any) -> bool:
    return annotation is Path or any(_names_path(part) for part in get_args(annotation))


def _ends(key: str) -> list[int]:
    return [position for position, char in enumerate(key) if char == "."]
