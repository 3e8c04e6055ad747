"""`workbench lab`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from workbench.errors import BadInputError, WorkbenchError
from workbench.surfaces.cli.app import HomeOption, JsonOption, app, open_bench
from workbench.surfaces.cli.output import plain, print_json

if TYPE_CHECKING:
    from workbench.surfaces.lab import Plan


@app.command()
def lab(
    context: typer.Context,
    notebook: Annotated[
        str | None, typer.Argument(help="A notebook's name or file; all that come with workbench unless given.")
    ] = None,
    home: HomeOption = None,
    json: JsonOption = False,
    jupyter: Annotated[
        bool, typer.Option("--jupyter", help="Open JupyterLab on copies in the home's folder notebooks, for editing.")
    ] = False,
    port: Annotated[
        int | None, typer.Option("--port", help="On loopback; a free one unless given.", min=1, max=65535)
    ] = None,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Whether to open a browser.")] = True,
) -> None:
    """Open the notebooks on this home: as apps in a browser, or in JupyterLab. Ctrl-C ends it."""
    from workbench.surfaces import lab as labs  # noqa: PLC0415  (--help needs none of it)

    root = open_bench(context, home).home.root
    with labs.EndedBySignals(), labs.scratch_folder() as scratch:
        free = labs.free_port(port)
        plan, told = _plan(notebook, root, free, scratch, wants_jupyter=jupyter)
        with labs.serving(plan, free, scratch) as server:
            _tell(plan, free, server.pid, root, told, as_json=json)
            if browser:
                import webbrowser  # noqa: PLC0415

                webbrowser.open(plan.url)
            code = server.wait()
            raise WorkbenchError(f"the notebook server ended by itself with code {code}; start it again")
    if not json:
        print("stopped")


def _plan(notebook: str | None, root: Path, port: int, scratch: Path, *, wants_jupyter: bool) -> tuple[Plan, list[str]]:
    """How to serve what was asked for, and the notebooks that it is about."""
    from workbench.surfaces import lab as labs  # noqa: PLC0415
    from workbench.surfaces import shipped  # noqa: PLC0415

    chosen = None if notebook is None else shipped.find_notebook(notebook)
    token = labs.new_token()
    if wants_jupyter or (chosen is not None and chosen.suffix == ".ipynb"):
        folder = root / "notebooks"
        if chosen is not None and chosen.parent != shipped.notebooks_folder():
            folder = chosen.parent  # a notebook of the user's own is edited where it lies
        else:
            for kept in shipped.copy_notebooks(folder):
                print(
                    plain(f"workbench: {kept} was changed here and stays; a newer one comes with workbench"),
                    file=sys.stderr,
                )
        name = "quickstart.ipynb" if chosen is None else chosen.name
        return labs.jupyter_plan(folder, name, port, token, scratch), [str(folder / name)]
    apps = [chosen] if chosen is not None else [path for path in shipped.notebooks() if path.suffix == ".py"]
    if not apps:
        raise BadInputError("there is no marimo notebook to open; name one, or use --jupyter")
    return labs.marimo_plan(apps, root, port, token), list(map(str, apps))


def _tell(plan: Plan, port: int, pid: int, root: Path, notebooks: list[str], *, as_json: bool) -> None:
    if as_json:
        told: dict[str, Any] = {"url": plan.url, "port": port, "pid": pid, "home": str(root), "notebooks": notebooks}
        print_json(told)
    else:
        print(f"home       {plain(str(root))}")
        for path in notebooks:
            print(f"notebook   {plain(path)}")
        print(f"open       {plan.url}")
        print("Ctrl-C ends it")
    sys.stdout.flush()
