"""Settings of what is kept and how it comes in: tables, vectors, import, redaction, local servers."""

from pathlib import Path
from typing import Annotated

from msgspec import Meta

from workbench.config.fields import About, Amount, Count, Positive, Ratio, Settings

_VECTORS = "design 4"
_AGENTS = "design 5"


class Vectors(Settings, frozen=True):
    """Search among vectors: exact while there are few, by an index beyond."""

    exact_below_rows: Annotated[
        Count, About("rows under which every vector is compared", _VECTORS, local_only=True)
    ] = 50_000
    in_memory_rows: Annotated[
        Count,
        About(
            "most chunks, and vectors, that a process which goes on asking keeps in memory",
            "time: 100,000 take 240 MB, and a third of the time of the index on disk",
            local_only=True,
        ),
    ] = 200_000
    nprobes: Annotated[Positive, About("parts of the index that are looked at", _VECTORS, local_only=True)] = 20
    refine_factor: Annotated[
        Positive, About("candidates compared exactly for each result", _VECTORS, local_only=True)
    ] = 5
    min_recall: Annotated[Ratio, About("share of true neighbours an index must find", _VECTORS, local_only=True)] = 0.95
    sample_queries: Annotated[Positive, About("queries by which that is measured", _VECTORS, local_only=True)] = 100


class Store(Settings, frozen=True):
    """Where tables, vectors and archive lie, and how they are cared for."""

    url: Annotated[
        str | None,
        About("object store instead of the home, s3://bucket/prefix", "design 3", local_only=True, hashed=False),
    ] = None
    compact_above_files: Annotated[
        Positive, About("files beyond which a table is compacted", "design 4", local_only=True)
    ] = 100
    file_retention_days: Annotated[Amount, About("days that replaced files are kept", "design 4", local_only=True)] = (
        7.0
    )
    vectors: Vectors = Vectors()


class Ingest(Settings, frozen=True):
    """Where other agents keep their sessions."""

    claude_config_dir: Annotated[
        Path | None,
        About("folder of Claude Code; unset: its usual one", _AGENTS, local_only=True, variable="CLAUDE_CONFIG_DIR"),
    ] = None
    codex_home: Annotated[
        Path | None, About("folder of Codex; unset: its usual one", _AGENTS, local_only=True, variable="CODEX_HOME")
    ] = None
    xdg_data_dir: Annotated[
        Path | None,
        About("folder of programs' data; unset: the usual one", _AGENTS, local_only=True, variable="XDG_DATA_HOME"),
    ] = None
    xdg_config_dir: Annotated[
        Path | None,
        About(
            "folder of programs' settings; unset: the usual one", _AGENTS, local_only=True, variable="XDG_CONFIG_HOME"
        ),
    ] = None


class Redaction(Settings, frozen=True):
    """Credentials are taken out before anything is written."""

    enabled: Annotated[bool, About("whether they are; leave it on", "design 5", local_only=True)] = True


class Serve(Settings, frozen=True):
    """Local servers, started by name."""

    host: Annotated[str, About("address listened on", "design 12", local_only=True, hashed=False)] = "127.0.0.1"
    port: Annotated[
        int,
        Meta(ge=0, le=65535),
        About("port; 0: any free one", "Smriti source, API address", local_only=True, hashed=False),
    ] = 8000
    socket_path: Annotated[
        Path | None,
        About("Unix socket instead of a port", "PAI, Daemon configuration", seed_key="socketPath", local_only=True),
    ] = None
    token: Annotated[
        str, About("what clients must show; empty: made at start", "design 12", local_only=True, secret=True)
    ] = ""
