"""Configuration: one frozen tree, merged once at the edge from files, variables and arguments (design, section 3).

Later wins, tables are merged, lists are replaced:

1. the defaults, each declared with its meaning and source in `agent`, `context`, `memory`, `knowledge`, `vault`,
   `spaces`, `study` and `store`;
2. `<home>/config.json`, 3. `<home>/config.toml`: the user's own;
4. `workbench.config.json`, 5. `workbench.toml` in the project's folder. They come with a cloned repository, so URLs,
   paths, keys and permissions (marked `local_only`) are passed over there;
6. variables: `WORKBENCH_COMPILER__TOKEN_BUDGET=50000` sets `compiler.token_budget`;
7. arguments.

Instead of 2 to 5 one named file can be read. What is not taken as written (an unknown key, a bad value, a file that
cannot be parsed, a seed's key without effect here) is a warning in `Config.warnings`; `Config.explain` tells the origin
of every value. A function receives only the group it needs, such as `config.context_engine.scoring`.

Nothing outside this package reads variables or configuration files. Importing it costs next to nothing: the groups are
loaded by the first `load_config`.

Sources: PRAANA, Configuration; src/config.ts. PAI, Daemon. Smriti, Provider Abstraction.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from workbench.config.records import ConfigWarning, ExplainRow
    from workbench.config.tree import Config

__all__ = ["Config", "ConfigWarning", "ExplainRow", "config_hash", "load_config", "resolve_home"]


def __getattr__(name: str) -> Any:
    """The classes, on first use."""
    if name in __all__:
        from workbench.config import tree  # noqa: PLC0415 - lazily, see above

        return getattr(tree, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def resolve_home(home: Path | None = None, environ: Mapping[str, str] | None = None) -> Path:
    """The folder that holds everything of ours, made or not.

    Args:
        home: Wins when given.
        environ: Variables, those of the process unless given; `WORKBENCH_HOME` comes second.

    Returns:
        An absolute path; without either the platform's folder for users' data.
    """
    named = str(home or (os.environ if environ is None else environ).get("WORKBENCH_HOME", "").strip())
    if named:
        return Path(os.path.abspath(os.path.expanduser(named)))  # noqa: PTH100, PTH111 - links stay, unknown users too
    import platformdirs  # noqa: PLC0415 - only needed here

    return platformdirs.user_data_path("workbench", appauthor=False)


def load_config(
    home: Path | None = None,
    project_dir: Path | None = None,
    overrides: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
    *,
    path: Path | None = None,
) -> Config:
    """Merge all layers into one checked configuration.

    Args:
        home: As for `resolve_home`.
        project_dir: The project's folder, the current one unless given.
        overrides: Arguments, as a tree or with dotted keys; they win over everything.
        environ: Variables, those of the process unless given.
        path: One file to read instead of the user's and the project's; without an ending `.json`, then `.toml`.

    Returns:
        The configuration. A bad value gives way to its default; `warnings` names each.

    Raises:
        ConfigError: `path` is missing or cannot be parsed.

    Source: PRAANA, Configuration; src/config.ts.
    """
    from workbench.config.load import load  # noqa: PLC0415 - lazily, see above

    variables = os.environ if environ is None else environ
    return load(
        home=resolve_home(home, variables),
        project_dir=Path.cwd() if project_dir is None else project_dir,
        overrides=overrides or {},
        environ=variables,
        path=path,
    )


def config_hash(config: Config) -> str:
    """SHA-256 of every setting that can change a result, the same whatever the order, spelling or origin of its keys.

    Credentials, paths, user names, addresses of servers and keys without effect are left out.
    """
    from workbench.config.tree import config_hash as hashed  # noqa: PLC0415 - lazily, see above

    return hashed(config)
