"""What `Workbench` does with a folder of notes (`docs/vault.md`)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.errors import BadInputError
from workbench.store.lake import Lake

if TYPE_CHECKING:
    import polars as pl

    from workbench.config import Config
    from workbench.vault_face import Vault


class Vaulting(ABC):
    """The methods of `Workbench` that work on a vault."""

    _lake: Lake
    notices: list[str]

    @property
    @abstractmethod
    def config(self) -> Config:
        """The configuration."""

    def vault(self, path: str | Path | None = None) -> Vault:
        """One folder of notes.

        Args:
            path: The folder; what the configuration says in `vault.path` unless given. One that is gone is a vault
                as long as anything is stored of it.

        Raises:
            BadInputError: No folder is given, and none configured; or it is a file.
            NotFoundError: There is no such folder.
        """
        from workbench.text.redaction import redact, unredacted  # noqa: PLC0415
        from workbench.vault.forget import is_known  # noqa: PLC0415
        from workbench.vault.index import vault_id_of, vault_root  # noqa: PLC0415
        from workbench.vault_face import Vault  # noqa: PLC0415

        folder = path or self.config.vault.path
        if folder is None:
            raise BadInputError("which vault? Name its folder, or set vault.path in the configuration")
        redactor = redact if self.config.redaction.enabled else unredacted
        root = Path(folder).expanduser().resolve()
        if root.exists() or not is_known(self._lake, vault_id_of(root)):
            root = vault_root(Path(folder))
        vault = Vault(self._lake, root, self.config, redactor)
        vault.notices = self.notices
        return vault

    @property
    def vaults(self) -> pl.DataFrame:
        """All vaults that were indexed, the last one first."""
        from workbench.vault.status import vaults_df  # noqa: PLC0415

        return vaults_df(self._lake)
