"""Settings of note vaults and the six Zettelkasten operations."""

from pathlib import Path
from typing import Annotated

from msgspec import Meta

from workbench.config.fields import About, Amount, Count, Positive, Ratio, Settings

_CONFIG = "PAI src/daemon/config.ts"
_INDEXER = "PAI src/memory/vault-indexer.ts"
_EXPLORE = "PAI src/zettelkasten/explore.ts"
_SURPRISE = "PAI src/zettelkasten/surprise.ts"
_CONVERSE = "PAI src/zettelkasten/converse.ts"
_THEMES = "PAI src/zettelkasten/themes.ts"
_HEALTH = "PAI src/zettelkasten/health.ts"
_SUGGEST = "PAI, Zettelkasten Intelligence"

Cosine = Annotated[float, Meta(ge=-1, le=1)]


class Explore(Settings, frozen=True):
    """Walking along links."""

    depth: Annotated[int, Meta(ge=1, le=10), About("steps from the start", _EXPLORE)] = 3
    branching_above: Annotated[Count, About("outgoing links beyond which a note is a branching point", _EXPLORE)] = 2


class Surprise(Settings, frozen=True):
    """Notes alike in meaning and far apart by links."""

    limit: Annotated[Positive, About("notes returned", _SURPRISE)] = 10
    min_similarity: Annotated[Cosine, About("least closeness of meaning", _SURPRISE)] = 0.3
    min_graph_distance: Annotated[Count, About("least distance by links", _SURPRISE)] = 3
    unreachable_distance: Annotated[Positive, About("distance counted where there is no way", _SURPRISE)] = 20


class Converse(Settings, frozen=True):
    """Notes that bear on a question."""

    depth: Annotated[Count, About("steps from the hits", _CONVERSE)] = 2
    limit: Annotated[Positive, About("notes returned", _CONVERSE)] = 15
    candidates: Annotated[Positive, About("chunks from words, and as many from meaning", _CONVERSE)] = 50
    chunks: Annotated[Positive, About("chunks that are kept", _CONVERSE)] = 20
    snippet_chars: Annotated[Count, About("characters of a note in the prompt", _CONVERSE)] = 300


class Themes(Settings, frozen=True):
    """Clusters among the notes of late."""

    lookback_days: Annotated[Amount, About("how late", _THEMES)] = 30.0
    min_cluster_size: Annotated[Positive, About("notes of a theme", _THEMES)] = 3
    max_themes: Annotated[Positive, About("themes returned", _THEMES)] = 10
    similarity_threshold: Annotated[Cosine, About("closeness that joins two notes", _THEMES)] = 0.65
    index_linked_below: Annotated[Ratio, About("linked share under which an index note is suggested", _THEMES)] = 0.3
    index_min_size: Annotated[Positive, About("notes from which one is suggested", _THEMES)] = 5


class Health(Settings, frozen=True):
    """The structural audit of a vault."""

    orphan_weight: Annotated[Ratio, About("what a vault of orphans loses", _HEALTH)] = 0.5
    low_weight: Annotated[Ratio, About("what a vault of hardly linked notes loses", _HEALTH)] = 0.3
    low_links: Annotated[Count, About("links up to which a note is hardly linked", _HEALTH)] = 1
    recent_days: Annotated[Amount, About("age of notes in scope `recent`", _HEALTH)] = 30.0


class Suggest(Settings, frozen=True):
    """Links that a note could have."""

    limit: Annotated[Positive, About("links suggested", "PAI src/zettelkasten/suggest.ts")] = 5
    semantic_weight: Annotated[Ratio, About("weight of closeness of meaning", _SUGGEST)] = 0.5
    tag_weight: Annotated[Ratio, About("weight of shared tags", _SUGGEST)] = 0.2
    neighbor_weight: Annotated[Ratio, About("weight of being linked by the same notes", _SUGGEST)] = 0.3


class Vault(Settings, frozen=True):
    """One folder of notes."""

    path: Annotated[
        Path | None, About("the vault, where a command names none", _CONFIG, seed_key="vaultPath", local_only=True)
    ] = None
    project_id: Annotated[
        int | None,
        About(
            "PAI's number of the vault", _CONFIG, seed_key="vaultProjectId", no_effect="a vault is named by its path"
        ),
    ] = None
    max_files: Annotated[
        Positive | None, About("files listed; no limit unless set, PAI stopped at 10,000", _INDEXER)
    ] = None
    max_depth: Annotated[Count | None, About("depth of folders; no limit unless set, PAI stopped at 10", _INDEXER)] = (
        None
    )
    issues_max: Annotated[Positive, About("issues listed of one kind", "PAI src/obsidian/vault-fixer.ts")] = 200
    explore: Explore = Explore()
    surprise: Surprise = Surprise()
    converse: Converse = Converse()
    themes: Themes = Themes()
    health: Health = Health()
    suggest: Suggest = Suggest()
