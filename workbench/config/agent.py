"""Settings of a session run here: chat model, turn loop, tools, skills, terminal."""

from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta

from workbench.config.fields import About, Count, Paths, Positive, Ratio, Settings, Texts

_SEED = "PRAANA, Configuration"
_CONFIG = "PRAANA src/config.ts"
_SHELL = "PRAANA src/tools/system.ts"

Window = Annotated[int, Meta(gt=1000)]


class Llm(Settings, frozen=True):
    """The chat model."""

    provider: Annotated[str, About("provider of the chat model; empty: none chosen", _SEED)] = ""
    model: Annotated[str, About("chat model; empty: the usual one of the provider", _SEED)] = ""
    base_url: Annotated[
        str | None, About("address of a compatible server to ask instead", _CONFIG, local_only=True)
    ] = None
    context_window: Annotated[Window | None, About("tokens the model reads, where catalogues are wrong", _CONFIG)] = (
        None
    )
    fallback_context_window: Annotated[
        Window, About("tokens assumed of a model that no catalogue knows", "PRAANA src/model-resolver.ts")
    ] = 128_000
    catalog_ttl_hours: Annotated[
        Count, About("age at which a model list is fetched again", "PRAANA, Mid-session model switching")
    ] = 6
    catalog_timeout_seconds: Annotated[
        Positive, About("patience with a model list", "PRAANA src/provider-catalog.ts")
    ] = 15


class BackgroundIntelligence(Settings, frozen=True):
    """The cheap model behind drafts, titles and summaries; not that of the chat."""

    provider: Annotated[
        str, About("provider of the background model; empty: that of the chat", "Smriti, Provider Abstraction")
    ] = ""
    model: Annotated[
        str, About("background model; empty: the usual one of the provider", "Smriti, Provider Abstraction")
    ] = ""


class Turn(Settings, frozen=True):
    """One exchange with its tool calls."""

    max_steps: Annotated[Positive, About("model calls in one turn before it is ended", _CONFIG)] = 25
    result_chars: Annotated[
        Count, About("characters of a tool result kept in the turn's record", "PRAANA src/turn.ts")
    ] = 400
    double_escape_ms: Annotated[Positive, About("two Escape keys within this time interrupt", "PRAANA src/turn.ts")] = (
        600
    )
    escape_wait_ms: Annotated[Positive, About("wait for the rest of a key sequence", "PRAANA src/turn.ts")] = 30


class Session(Settings, frozen=True):
    """Start and end of a session."""

    log_dir: Annotated[
        Path,
        About(
            "folder of the event logs",
            _SEED,
            local_only=True,
            no_effect="event logs lie in the folder `sessions` of the home",
        ),
    ] = Path("~/.praana/sessions")
    shutdown_memory_timeout_ms: Annotated[
        Count, About("wait for memory at the end of a session; 0: no limit", _CONFIG)
    ] = 2000
    instructions_max_chars: Annotated[
        Count, About("characters of project instructions read", "PRAANA src/session.ts")
    ] = 16_000


class Shell(Settings, frozen=True):
    """The shell tool and its sandbox."""

    enabled: Annotated[bool, About("whether commands are checked by the sandbox", _CONFIG, local_only=True)] = False
    allowed_paths: Annotated[Paths, About("folders that a checked command may name", _CONFIG, local_only=True)] = ()
    allow_unsandboxed: Annotated[
        bool, About("whether the tool runs at all without a sandbox", "design 12", local_only=True)
    ] = False
    timeout_ms: Annotated[Positive, About("time for one command", _SHELL, local_only=True)] = 30_000
    output_max_bytes: Annotated[Positive, About("bytes kept of each stream", _SHELL, local_only=True)] = 10_000_000
    kill_after_seconds: Annotated[Count, About("from the polite signal to the hard one", _SHELL, local_only=True)] = 3


class Edit(Settings, frozen=True):
    """The tool that changes files."""

    confirm: Annotated[bool, About("whether each edit is asked about", _CONFIG, local_only=True)] = False


class SearchCode(Settings, frozen=True):
    """The tool that searches in files."""

    rg_path: Annotated[Path | None, About("ripgrep, where it is not on the path", _CONFIG, local_only=True)] = None
    timeout_ms: Annotated[Positive, About("time for one search", "PRAANA src/tools/search-code.ts")] = 30_000
    context_max_lines: Annotated[Count, About("most lines shown around a hit", "PRAANA src/tools/search-code.ts")] = 50


class Skills(Settings, frozen=True):
    """Finding, loading and judging skills."""

    enabled: Annotated[bool, About("whether skills are offered", _CONFIG)] = True
    max_token_budget_ratio: Annotated[Ratio, About("share of the prompt for loaded skills", _CONFIG)] = 0.2
    max_loaded_skills: Annotated[Count, About("skills resident at once", _CONFIG)] = 3
    stale_threshold_turns: Annotated[Count, About("turns after which an unused skill is dropped", _CONFIG)] = 10
    max_depth: Annotated[Count, About("depth of the search for skill files", _CONFIG)] = 6
    usefulness_start: Annotated[
        Ratio, About("usefulness of a skill nobody has judged", "PRAANA src/skills/skill-stats-store.ts")
    ] = 0.5
    used_gain: Annotated[
        Ratio, About("share of the way to 1 when used in a good session", "PRAANA src/skills/skill-stats-store.ts")
    ] = 0.15
    unused_factor: Annotated[
        Ratio, About("factor when loaded and not used", "PRAANA src/skills/skill-stats-store.ts")
    ] = 0.95


_ONE_LAYOUT = "the terminal here has one layout"


class Ui(Settings, frozen=True):
    """The terminal of `chat`."""

    markdown_rendering: Annotated[bool, About("whether answers are rendered as Markdown", _CONFIG)] = True
    syntax_highlighting: Annotated[bool, About("whether code is coloured", _CONFIG)] = True
    syntax_theme: Annotated[str, Meta(min_length=1), About("colours of code", _CONFIG)] = "nord"
    ambient: Annotated[Literal["inline", "quiet"], About("where notices go", _CONFIG, no_effect=_ONE_LAYOUT)] = "inline"
    tool_icons: Annotated[Literal["unicode", "ascii"], About("marks before tool calls", _CONFIG)] = "unicode"
    background_zones: Annotated[bool, About("shaded areas", _CONFIG, no_effect=_ONE_LAYOUT)] = False
    show_cost: Annotated[bool, About("whether the price of a turn is shown", _CONFIG)] = True
    banner: Annotated[bool, About("whether each turn ends with its figures", _CONFIG)] = True


class ProjectDetection(Settings, frozen=True):
    """What is noted about the project at the start of a session."""

    enabled: Annotated[bool, About("whether the project is looked at", _CONFIG)] = True
    manual_languages: Annotated[Texts, About("languages, instead of those found", _CONFIG)] = ()
    manual_frameworks: Annotated[Texts, About("frameworks, instead of those found", _CONFIG)] = ()
    note_max_chars: Annotated[Count, About("length of the note", "PRAANA source, project detection")] = 1200
    readme_lines: Annotated[Count, About("lines of the README in the note", "PRAANA source, project detection")] = 50
    dependencies_shown: Annotated[Count, About("dependencies in the note", "PRAANA source, project detection")] = 10
