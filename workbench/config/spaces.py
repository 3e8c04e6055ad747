"""Settings of spaces: prompts, drafts, the state brief, claims, worktrees."""

from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta

from workbench.config.fields import About, Amount, Count, Positive, Settings

_BRIEF = "Smriti, Smriti as an agent-facing backend"
_BRIEF_CODE = "Smriti source, state endpoint"
_CONTEXT = "Smriti, Context Construction"
_DRAFT = "Smriti backend, checkpoint.py"
_TREES = "Smriti source, worktrees"


class Brief(Settings, frozen=True):
    """What an agent reads first about a space."""

    active_branches_cap: Annotated[Count, About("branches shown", _BRIEF)] = 5
    divergence_branches_cap: Annotated[Count, About("branches compared with main", _BRIEF)] = 2
    divergence_decisions_cap: Annotated[Count, About("decisions shown of each side", _BRIEF)] = 3
    claims_shown: Annotated[Count, About("claims shown", _BRIEF_CODE)] = 10
    branch_summary_chars: Annotated[Count, About("characters of a branch's summary", _BRIEF_CODE)] = 200
    freshness_shown: Annotated[Count, About("new checkpoints shown", _BRIEF_CODE)] = 5
    freshness_counted: Annotated[Count, About("new checkpoints counted", _BRIEF_CODE)] = 50
    artifact_preview_chars: Annotated[Count, About("characters of an attached text in a preview", _BRIEF_CODE)] = 800


class Draft(Settings, frozen=True):
    """Checkpoints drafted and reviewed by a model."""

    num_turns: Annotated[int, Meta(ge=1, le=100), About("turns drafted from", _DRAFT)] = 15
    extract_max_chars: Annotated[Positive, About("length of a text that is extracted from", _DRAFT)] = 200_000
    review_max_items: Annotated[Count, About("issues, and suggestions, of one review", _DRAFT)] = 5
    title_turns: Annotated[Count, About("turns from which a session is named", "Smriti source, session titles")] = 4
    title_turn_chars: Annotated[Count, About("characters of each", "Smriti source, session titles")] = 300
    title_chars: Annotated[Positive, About("characters of a session's name", "Smriti source, session titles")] = 60


class Worktrees(Settings, frozen=True):
    """Checkouts in which agents work side by side."""

    folder: Annotated[Path | None, About("where they are made; unset: in the home", _TREES, local_only=True)] = None
    git_timeout_seconds: Annotated[Positive, About("time for a git command", _TREES)] = 30
    probe_timeout_seconds: Annotated[Positive, About("time for a look at one checkout", _TREES)] = 3
    probe_cache_seconds: Annotated[Count, About("time that a look holds", _TREES)] = 60


class Spaces(Settings, frozen=True):
    """Containers of checkpoints."""

    memory_scope: Annotated[
        Literal["latest_1", "latest_3"], About("checkpoints in a prompt", "Smriti, Context Modes")
    ] = "latest_1"
    max_context_turns: Annotated[Positive, About("newest turns in a prompt", "Smriti source, MAX_CONTEXT_TURNS")] = 20
    artifact_max_chars: Annotated[Positive, About("characters of an attached text in a prompt", _CONTEXT)] = 2000
    claim_ttl_hours: Annotated[float, Meta(gt=0), About("time that a claim holds", "Smriti, Work claims")] = 4.0
    note_max_chars: Annotated[Positive, About("characters of a note on a checkpoint", "Smriti source, notes")] = 2000
    recent_days: Annotated[Amount, About("age beyond which a date is shown", _BRIEF_CODE)] = 30.0
    brief: Brief = Brief()
    draft: Draft = Draft()
    worktrees: Worktrees = Worktrees()
