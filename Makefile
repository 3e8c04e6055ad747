# `make` alone says what there is. Needed beforehand: python3.11 with pip, make and git; nothing else.

PYTHON ?= $(shell python3.11 -c '' 2>/dev/null && echo python3.11 || echo python3)
BIN := .venv/bin
STAMP := .venv/.installed-$(shell cat pyproject.toml constraints.txt | cksum | cut -d' ' -f1)

.DEFAULT_GOAL := help
.PHONY: help setup run test test-slow screenshots lint types bench samples docs clean

help:  ## say what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' Makefile

setup: $(STAMP)  ## install everything into .venv; afterwards there is .venv/bin/workbench

# The stamp bears a checksum of what is to be installed. Without ensurepip the environment is made without pip, and the
# pip outside installs into it.
$(STAMP):
	@echo 'installing into .venv, this takes some minutes'
	$(PYTHON) -m venv .venv || $(PYTHON) -m venv --without-pip .venv
	$(PYTHON) -m pip --python $(BIN)/python install --quiet -c constraints.txt -e '.[test]'
	@rm -f .venv/.installed-*
	@touch $@

run: setup  ## the main job on the samples (or FROM=sessions, VAULT=notes): tables, replay, study, comparison, reports/
	@$(BIN)/python -m workbench.surfaces.main_job --home .run/home --out reports $(if $(FROM),--from "$(FROM)") $(if $(VAULT),--vault "$(VAULT)")

test: setup  ## run the tests, those apart that take minutes, two at a time
	@unset PYTHONDONTWRITEBYTECODE; $(BIN)/python -m pytest -m 'not slow' -n 2 --dist loadfile --no-loadscope-reorder

test-slow: setup  ## run the tests that take minutes
	@$(BIN)/python -m pytest -m slow

screenshots: setup  ## take the pictures of reports/screenshots anew
	@SCREENSHOTS="$(CURDIR)/reports/screenshots" $(BIN)/python -m pytest -q tests/browser

lint: setup  ## check style and formatting
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: setup  ## check types
	@$(BIN)/mypy

bench: setup  ## run every benchmark in turn, beside what others do
	@$(BIN)/python -c 'import obsidiantools' 2>/dev/null || \
		$(PYTHON) -m pip --python $(BIN)/python install --quiet -c constraints.txt -e '.[bench]'
	@failed=; for file in tests/benchmarks/bench_*.py; do \
		echo "== $$file"; $(BIN)/python "$$file" || failed="$$failed $$file"; \
	done; if [ -n "$$failed" ]; then echo "failed:$$failed"; exit 1; fi

samples: setup  ## make the files of datasets/ anew, by really running the tools
	@$(BIN)/python datasets/make_samples.py

docs: setup  ## make docs/tables.md anew from the declarations
	@$(BIN)/python -c 'from workbench.store.document import document; from workbench.store.tables import TABLES, VIEWS; print(document([*TABLES.values(), *VIEWS.values()]), end="")' > docs/tables.md

clean:  ## remove what was made, .venv apart
	rm -rf .run build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .benchmarks reports/*.html reports/*.manifest.json
	find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +
