"""What comes with the package beside its code: notebooks, sample sessions and a sample vault.

In a clone they lie at its top, in an installed wheel inside the package (`force-include` in pyproject.toml). Nothing is
ever written where they lie: notebooks are copied before they are edited.
"""

from __future__ import annotations

import shutil
import tempfile
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final

from workbench.errors import EmbedderUnavailableError, NotFoundError, StoreError
from workbench.store.files import make_folder, write_atomic

if TYPE_CHECKING:
    from workbench.bench import Workbench
    from workbench.vault_face import Vault

PACKAGE: Final = Path(__file__).resolve().parents[1]
CLONE: Final = PACKAGE.parent

NOTEBOOKS: Final = (PACKAGE / "notebooks", CLONE / "notebooks")
SAMPLES: Final = (PACKAGE / "samples", CLONE / "datasets")

SAMPLE_SETS: Final = (Path("claude-code/projects"), Path("event-log/sessions"))
"""Sample sessions, below the samples' folder."""

ENDINGS: Final = (".py", ".ipynb")

COPIED: Final = ".copied"
"""File beside copies: the hash of each as it was copied, so that a person's changes are told from an older version."""


def notebooks_folder() -> Path:
    """Where the shipped notebooks lie.

    Raises:
        NotFoundError: They are neither in the package nor beside it.
    """
    return _first(NOTEBOOKS, "notebooks")


def _first(places: tuple[Path, ...], what: str) -> Path:
    found = next((place for place in places if place.is_dir()), None)
    if found is None:
        looked = " and ".join(map(str, places))
        raise NotFoundError(f"the {what} that come with workbench are not installed (looked in {looked}); reinstall it")
    return found


def notebooks() -> list[Path]:
    """The shipped notebooks, marimo's and Jupyter's, by name."""
    return sorted(path for path in notebooks_folder().iterdir() if path.suffix in ENDINGS and path.is_file())


def find_notebook(name: str) -> Path:
    """The notebook of a name, with or without ending, or at a path.

    Raises:
        NotFoundError: There is none.
    """
    path = Path(name).expanduser()
    if path.suffix in ENDINGS and path.is_file():
        return path.absolute()
    known = notebooks()
    found = next((each for each in known if name in (each.name, each.stem)), None)
    if found is None:
        raise NotFoundError(f"there is no notebook {name!r}; there are {', '.join(each.name for each in known)}")
    return found


def sample_sessions() -> list[Path]:
    """Folders of sample sessions.

    Raises:
        NotFoundError: They are neither in the package nor beside it.
    """
    folder = _first(SAMPLES, "sample sessions")
    return [folder / part for part in SAMPLE_SETS]


def sample_vault() -> Path:
    """The folder of the sample notes.

    Raises:
        NotFoundError: They are neither in the package nor beside it.
    """
    return _first(tuple(place / "vault" for place in SAMPLES), "sample notes")


def copy_notebooks(folder: Path) -> list[Path]:
    """Copy the notebooks to where they may be edited.

    A copy that a person changed stays as it is; one that nobody changed is brought up to date.

    Args:
        folder: Made when it is missing.

    Returns:
        Copies that stay though the shipped notebook is another by now.

    Raises:
        StoreError: It cannot be written to.
    """
    try:
        make_folder(folder)
        before = _hashes(folder / COPIED)
        kept = [target for source in notebooks() if (target := _copy(source, folder, before)) is not None]
        lines = [f"{digest}  {name}\n" for name, digest in sorted(before.items())]
        write_atomic(folder / COPIED, "".join(lines).encode())
    except OSError as error:
        raise StoreError(f"notebooks cannot be copied to {folder}: {error.strerror or error}") from error
    return kept


def _copy(source: Path, folder: Path, before: dict[str, str]) -> Path | None:
    """Copy one; the target where it stays as a person changed it. `before` has the hashes of copies."""
    content, target = source.read_bytes(), folder / source.name
    new = sha256(content).hexdigest()
    if target.exists():
        now = sha256(target.read_bytes()).hexdigest()
        if now == new:
            before[source.name] = new
            return None
        if now != before.get(source.name):
            return None if new == before.get(source.name) else target
    write_atomic(target, content)
    before[source.name] = new
    return None


def _hashes(path: Path) -> dict[str, str]:
    with suppress(FileNotFoundError):
        lines = (line.split("  ", 1) for line in path.read_text("utf-8").splitlines() if "  " in line)
        return {name: digest for digest, name in lines}
    return {}


def open_home(home: str | Path | None = None, *, place: Path | None = None) -> Workbench:
    """The home that a notebook looks into.

    Args:
        home: Its folder. Unless given: the home in whose `notebooks` folder the notebook lies, as `workbench lab` puts
            it there; else one with the sample sessions, made for the purpose. Never the user's own home unasked.
        place: The notebook's folder; the working folder unless given.

    Raises:
        NotFoundError: There is no such home, or the samples are not installed.
        StoreError: It cannot be opened.
    """
    from workbench.bench import Workbench  # noqa: PLC0415

    if home is not None:
        return Workbench(_existing(Path(home)))
    around = (place or Path.cwd()).absolute().parent
    if (around / "home.json").is_file():
        return Workbench(around)
    bench = Workbench(_samples_home())
    bench.ingest(*sample_sessions())
    return bench


def open_vault(vault: str | Path | None = None, home: str | Path | None = None, *, place: Path | None = None) -> Vault:
    """The vault that a notebook looks into, indexed if it never was.

    Args:
        vault: Its folder. Unless given: the one that the home's configuration names, else the one that was indexed
            last, else the sample notes; those are given vectors too where an embedder is there.
        home: As for `open_home`.
        place: As for `open_home`.

    Raises:
        NotFoundError: There is no such home or folder, or the home knows of no vault.
        StoreError: The home cannot be opened or written.
    """
    from workbench.bench import Workbench  # noqa: PLC0415

    around = (place or Path.cwd()).absolute().parent
    if home is None and not (around / "home.json").is_file():
        bench, spare = Workbench(_samples_home()), sample_vault()
    else:
        bench, spare = Workbench(_existing(Path(home)) if home is not None else around), None
    known = bench.vaults
    last = Path(known["root"][0]) if known.height and spare is None else spare
    folder = vault or bench.config.vault.path or last
    if folder is None:
        raise NotFoundError(
            "no vault was indexed in this home yet; name its folder, or run `workbench vault index FOLDER`"
        )
    chosen = bench.vault(folder)
    if chosen.vault_id not in known["vault_id"] or spare == folder:
        chosen.index()
    if spare == folder and chosen.status()["notes_without_vector"]:
        with suppress(EmbedderUnavailableError):
            chosen.embed()
    return chosen


def _existing(home: Path) -> Path:
    """A home that is there: a mistyped one would be made, and be empty."""
    found = home.expanduser()
    if not found.is_dir():
        raise NotFoundError(f"there is no home {str(home)!r}; name its folder, or none for the samples")
    return found


def _samples_home() -> Path:
    """`.run/samples` in a clone; else a folder that goes with the process."""
    if (CLONE / "pyproject.toml").is_file() and (CLONE / "datasets").is_dir():
        return CLONE / ".run" / "samples"
    folder = Path(tempfile.mkdtemp(prefix="workbench-samples-"))
    import atexit  # noqa: PLC0415

    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder / "home"
