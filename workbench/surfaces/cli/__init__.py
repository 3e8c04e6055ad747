"""The command line, one module a command group."""

from __future__ import annotations

from workbench.surfaces.cli.app import main, start

__all__ = ["main", "start"]
