# Every target sets itself up: a virtual environment in .venv, the package and its kernels built into it.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
KERNELS := $(wildcard src/millstream/kernels/*.pyx src/millstream/kernels/*.pxd)

.DEFAULT_GOAL := help
.PHONY: help install demo test test-quick check bench build-checked test-checked test-asan clean

help:            ## what can be made
	@grep -hE '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):[^#]*## */\1\t/' | expand -t 16

$(STAMP): pyproject.toml setup.py $(KERNELS)
	@command -v $(PYTHON) >/dev/null || { echo "missing: Python 3.11 or newer (apt-get install python3 python3-venv)"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "missing: Python 3.11 or newer; set PYTHON=python3.x"; exit 1; }
	@command -v cc >/dev/null || { echo "missing: a C compiler (apt-get install build-essential)"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "setting up $(VENV) (a minute or two the first time) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

install: $(STAMP)  ## the virtual environment with millstream in it

demo: $(STAMP)     ## a first look
	@$(BIN)/millstream demo

test: $(STAMP)     ## all tests
	$(BIN)/python -m pytest

test-quick: $(STAMP)  ## the tests that take seconds
	$(BIN)/python -m pytest -m "not slow"

check: $(STAMP)    ## style, types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

clean:             ## removes what was built
	rm -rf $(VENV) build dist src/*.egg-info
	find src -name '*.so' -delete
