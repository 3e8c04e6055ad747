"""`workbench redact`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from workbench.errors import BadInputError, NotFoundError
from workbench.surfaces.cli.app import JsonOption, app
from workbench.surfaces.cli.output import print_json, print_table

SOMETHING_FOUND = 1


@app.command()
def redact(
    test: Annotated[Path, typer.Option("--test", help="The file to look through; nothing is changed.")],
    json: JsonOption = False,
) -> None:
    """Show which credentials an import would take out of a file, none of them shown. Exit code 1 if there are any."""
    from workbench.ingest.file_bytes import as_utf8  # noqa: PLC0415
    from workbench.text.redaction import redact as redaction  # noqa: PLC0415  (--help needs none of it)

    data, shown = as_utf8(_read(test)), redaction.text(str(test))
    found = redaction.findings(data)
    lines = data.count(b"\n") + (not data.endswith(b"\n") and data != b"")
    if json:
        print_json({"file": shown, "lines": lines, "findings": [finding._asdict() for finding in found]})
    else:
        if found:
            print_table(("line", "rule", "excerpt"), found)
        print(f"{len(found):,} credentials on {len({each.line for each in found}):,} of {lines:,} lines of {shown}")
    if found:
        raise typer.Exit(SOMETHING_FOUND)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        raise NotFoundError(f"there is no file {path}; --test takes the path of the file to look through") from error
    except OSError as error:
        raise BadInputError(
            f"the file {path} cannot be read: {error.strerror}; --test takes one readable file"
        ) from error
