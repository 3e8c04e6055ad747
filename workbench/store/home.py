"""The home folder: where everything of ours lies, and which version made it (design, section 3)."""

from __future__ import annotations

import json
import os
import platform
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from workbench.errors import BusyError, NewerHomeError, StoreError
from workbench.store.files import make_folder, write_atomic

HOME_FORMAT: Final = 1
"""Raised when a home of the new kind cannot be read by older code; migrations start from the number found."""


_ODD_NAME: Final = re.compile(r"[\x00-\x1f\x7f\[\]^|]|%[0-9A-Fa-f]{2}" + (r"|\\" if os.sep == "/" else ""))
"""What deltalake 1.6 cannot have in a path (tried out): it dies of some, and takes `%41` for `A` and `\\` for `/`."""


@dataclass(frozen=True)
class Home:
    """Paths in one home.

    Attributes:
        root: The folder itself.
    """

    root: Path

    @property
    def tables(self) -> Path:
        """One Delta table a folder."""
        return self.root / "tables"

    @property
    def vectors(self) -> Path:
        """One LanceDB database."""
        return self.root / "vectors"

    @property
    def archive(self) -> Path:
        """Every imported source."""
        return self.root / "archive"

    @property
    def sessions(self) -> Path:
        """Event logs of sessions run here."""
        return self.root / "sessions"

    @property
    def unfinished(self) -> Path:
        """There while an import is at work, and after one that did not end: see `landing_lock`."""
        return self.root / "landing.unfinished"

    @property
    def _marker(self) -> Path:
        return self.root / "home.json"

    @classmethod
    def open(cls, root: Path, *, create: bool = True) -> Home:
        """Open a home, making it when it is not there.

        Args:
            root: The folder.
            create: Whether a missing home may be made; a reader of an absent home sees an empty one.

        Raises:
            NewerHomeError: A newer workbench made it.
            StoreError: It cannot be read or made, or the marker is not ours.
        """
        home = cls(root.expanduser().absolute())
        odd = _ODD_NAME.search(str(home.root))
        if odd is not None:
            raise StoreError(
                f"the home {str(home.root)!r} has {odd.group()!r} in its path, where deltalake cannot keep tables: "
                "use another folder with --home"
            )
        try:
            if home._marker.exists():
                home._check()
            elif create:
                make_folder(home.root, mode=0o700)
                write_atomic(home._marker, json.dumps({"format": HOME_FORMAT}).encode() + b"\n")
        except OSError as error:
            raise StoreError(f"the home {home.root} cannot be opened: {error.strerror or error}") from error
        return home

    def _check(self) -> None:
        try:
            found = json.loads(self._marker.read_bytes())["format"]
        except (ValueError, KeyError, TypeError):
            found = None
        if type(found) is not int:
            raise StoreError(
                f"{self._marker} is not a home marker; if this is a workbench home, "
                f'write {{"format": {HOME_FORMAT}}} into it'
            )
        if found > HOME_FORMAT:
            raise NewerHomeError(
                f"the home {self.root} has format {found}, this workbench knows up to {HOME_FORMAT}: "
                "upgrade workbench, or use another home with --home"
            )

    @contextmanager
    def landing_lock(self, *, wait_seconds: float = 600, is_import: bool = True) -> Iterator[None]:
        """Hold the one lock under which derived tables change; the system frees it when its owner dies.

        An import that is killed leaves rows that no view shows and archived sources that did not land. So that these
        are not taken for damage, `unfinished` says who began, and goes when the import ends well. One that is found
        there stays, whatever becomes of this import, until `maintain` has cleared up.

        Args:
            wait_seconds: How long to wait for the one who has it.
            is_import: Whether what is done leaves something behind when it is interrupted.

        Raises:
            BusyError: Another process holds it for longer than `wait_seconds`.
            StoreError: The home cannot be written to.
        """
        with self._locked("landing.lock", "another import has been writing to", wait_seconds):
            is_first = is_import and not self.unfinished.exists()
            if is_first:
                self.begin()
            yield
            if is_first:
                self.unfinished.unlink(missing_ok=True)

    def is_landing(self) -> bool:
        """Whether somebody has the landing lock now."""
        try:
            with self.landing_lock(wait_seconds=0, is_import=False):
                return False
        except BusyError:
            return True

    @contextmanager
    def copying_lock(self, *, wait_seconds: float = 600) -> Iterator[None]:
        """Hold the lock of what copies the home or erases from it; taken before the landing lock where both are needed.

        Raises:
            BusyError: Another process holds it for longer than `wait_seconds`.
            StoreError: The home cannot be written to.
        """
        with self._locked("copying.lock", "a backup or a forget has been at work in", wait_seconds):
            yield

    @contextmanager
    def vault_lock(self, vault_id: str, *, wait_seconds: float = 600) -> Iterator[None]:
        """Hold the lock of a run over one vault; taken before the landing lock.

        Raises:
            BusyError: Another process holds it for longer than `wait_seconds`.
            StoreError: The home cannot be written to.
        """
        with self._locked(f"vault-{vault_id}.lock", "another run over this vault has been writing to", wait_seconds):
            yield

    @contextmanager
    def _locked(self, name: str, who: str, wait_seconds: float) -> Iterator[None]:
        from filelock import FileLock, Timeout  # noqa: PLC0415  (60 ms that readers do not need)

        lock = FileLock(self.root / name)
        try:
            lock.acquire(timeout=wait_seconds, poll_interval=0.02)
        except Timeout as error:
            raise BusyError(
                f"{who} {self.root} for over {wait_seconds:.0f} s; "
                "wait for it or end it, then run the same command again"
            ) from error
        except OSError as error:
            raise StoreError(f"the home {self.root} cannot be written to: {error.strerror or error}") from error
        try:
            yield
        finally:
            lock.release()

    def begin(self) -> None:
        """Say in `unfinished` that from here on something is left behind if this process dies."""
        about = {"pid": os.getpid(), "host": platform.node(), "began_at": datetime.now(UTC).isoformat()}
        try:
            write_atomic(self.unfinished, json.dumps(about).encode() + b"\n")
        except OSError as error:
            raise StoreError(f"the home {self.root} cannot be written to: {error.strerror or error}") from error
