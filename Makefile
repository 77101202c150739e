# Each target sets up .venv by itself, and only when pyproject.toml, or what is compiled, has changed since the last time.

PYTHON ?= python3
FUZZ_SECONDS ?= 60
MINUTES ?= 10
COUNT ?= 20
SEED ?=
JOBS ?= auto

VENV := .venv
RUN := $(VENV)/bin/python
SETUP := pyproject.toml setup.py src/tensorkeep/_version.py $(wildcard src/tensorkeep/native/*.cpp src/tensorkeep/native/*.h)
# Files as wholes, in the order of tests/support/order.py: by the number of their tests, those with few long ones would come last, alone.
PYTEST := $(RUN) -m pytest --numprocesses $(JOBS) --maxprocesses 8 --dist loadfile --no-loadscope-reorder
PIP_INSTALL := $(RUN) -m pip install --quiet --quiet --disable-pip-version-check --editable

# Compiling the package and the tests anew in every process takes longer than most tests.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help demo test quick deep bench lint format docs fuzz soak load vary protos stubs man web clean

help:  ## print this list
	@echo "tensorkeep: make TARGET"
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo "Variables: PYTHON=$(PYTHON) JOBS=$(JOBS) FUZZ_SECONDS=$(FUZZ_SECONDS) MINUTES=$(MINUTES) COUNT=$(COUNT) SEED=$(SEED) PYTEST_ARGS=$(PYTEST_ARGS)"

demo: $(VENV)/.stamp-core  ## save and read checkpoints, train and run a graph; needs no TensorFlow
	@$(RUN) examples/demo.py

test: $(VENV)/.stamp-test lint  ## lint, then run the tests, next to a live TensorFlow
	@echo "test: pytest over tests/, in $(JOBS) processes; what is marked deep is left to \"make deep\""
	@$(PYTEST) $(PYTEST_ARGS)

quick: $(VENV)/.stamp-quick  ## run the tests that need no TensorFlow and are quick: after every edit
	@echo "quick: pytest without TensorFlow and without slow tests, in $(JOBS) processes"
	@TENSORKEEP_DEPTH=quick $(PYTEST) --ignore tests/interop $(PYTEST_ARGS)

deep: $(VENV)/.stamp-test  ## run every test, and all examples of each: before a release
	@echo "deep: pytest with all networks, all programs made at random and all examples, in $(JOBS) processes"
	@TENSORKEEP_DEPTH=deep $(PYTEST) $(PYTEST_ARGS)

bench: $(VENV)/.stamp-bench  ## measure against TensorFlow and safetensors
	@echo "bench: timing tensorkeep beside TensorFlow on this machine"
	@$(RUN) -m benchmarks

lint: $(VENV)/.stamp-lint  ## check style, format and types; needs no TensorFlow
	@echo "lint: ruff (rules), ruff (format; \"make format\" mends it), mypy (strict)"
	@$(RUN) -m ruff check --quiet .
	@$(RUN) -m ruff format --quiet --check --diff .
	@$(RUN) -m mypy --no-error-summary

format: $(VENV)/.stamp-lint  ## bring every file into the project's format
	@echo "format: ruff, over the whole tree"
	@$(RUN) -m ruff check --quiet --fix .
	@$(RUN) -m ruff format --quiet .

docs: $(VENV)/.stamp-docs  ## build the documentation into site/
	@echo "docs: building site/, where a broken link is an error"
	@NO_MKDOCS_2_WARNING=1 $(RUN) -m mkdocs build --strict --quiet

fuzz: $(VENV)/.stamp-fuzz  ## feed damaged bytes to every decoder, FUZZ_SECONDS each
	@echo "fuzz: $(FUZZ_SECONDS) seconds for each target"
	@$(RUN) fuzz/run.py --seconds $(FUZZ_SECONDS)

soak: $(VENV)/.stamp-core  ## kill savers at random for MINUTES, and compare what survives; SEED repeats a schedule
	@$(RUN) -m tests.soak --minutes $(MINUTES) $(if $(SEED),--seed $(SEED))

load: $(VENV)/.stamp-quick  ## load a server for MINUTES while versions come and go and bad requests arrive
	@$(RUN) -m tests.soak.serving --minutes $(MINUTES) $(if $(SEED),--seed $(SEED))

vary: $(VENV)/.stamp-test  ## compare every op with TensorFlow on COUNT random inputs each; SEED draws others
	@echo "vary: $(COUNT) variations of each op"
	@$(RUN) -m tests.interop.random_inputs --count $(COUNT) $(if $(SEED),--seed $(SEED))

protos: $(VENV)/.stamp-protos  ## compile the protocol buffer schemas anew
	@echo "protos: compiling src/tensorkeep/proto/schemas"
	@$(RUN) tools/compile_protos.py

stubs: $(VENV)/.stamp-core  ## write the stubs anew, of the tables of names
	@echo "stubs: writing src/tensorkeep/**/*.pyi"
	@$(RUN) tools/write_stubs.py

man: $(VENV)/.stamp-core  ## write the manual page anew, of what the commands say of themselves
	@echo "man: writing man/tensorkeep.1"
	@$(RUN) -m tensorkeep man > man/tensorkeep.1

web: web/node_modules/.stamp  ## build the pages of the viewer anew; needs Node
	@echo "web: checking the types, and building src/tensorkeep/viewer/static"
	@cd web && npm run --silent check && npm run --silent build

clean:  ## remove what was built or cached (.venv stays, and the native library, which is installed with it)
	@echo "clean: removing build outputs and caches"
	@rm -rf build dist site .hypothesis .mypy_cache .pytest_cache .ruff_cache src/*.egg-info
	@find . -path ./$(VENV) -prune -o -type d -name __pycache__ -exec rm -rf {} +

web/node_modules/.stamp: web/package-lock.json
	@echo "setup: installing what builds the pages of the viewer"
	@cd web && npm ci --silent --no-audit --no-fund
	@touch $@

$(VENV)/.stamp-core: $(SETUP) | $(RUN)
	@echo "setup: installing tensorkeep and what it depends on, since $(firstword $?) is newer than $@"
	@$(PIP_INSTALL) .
	@touch $@

$(VENV)/.stamp-%: $(SETUP) | $(RUN)
	@echo "setup: installing tensorkeep with the tools for \"$*\", since $(firstword $?) is newer than $@"
	@$(PIP_INSTALL) ".[$*]"
	@touch $@ $(VENV)/.stamp-core

# Installing for tests covers linting and the quick tests.
$(VENV)/.stamp-test: $(SETUP) | $(RUN)
	@echo "setup: installing tensorkeep with the tools for tests, since $(firstword $?) is newer than $@;"
	@echo "       TensorFlow is among them, so this may take minutes"
	@$(PIP_INSTALL) ".[test]"
	@touch $@ $(VENV)/.stamp-core $(VENV)/.stamp-lint $(VENV)/.stamp-protos $(VENV)/.stamp-quick

$(RUN):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
	    { echo "tensorkeep needs Python 3.10 or newer, and \"$(PYTHON)\" is not; try: make PYTHON=python3.12" >&2; exit 1; }
	@echo "setup: creating $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "\"$(PYTHON) -m venv\" failed" >&2; exit 1; }
