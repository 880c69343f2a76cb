# Every target sets itself up: a virtual environment in .venv, the package and its kernels built into it.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
BASE   := $(VENV)/.base
STAMP  := $(VENV)/.installed
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check
NO_NETWORK := echo "failed: see above; the first time, packages are fetched over the network"; exit 1
# What pyproject.toml asks for somewhere, as a file for pip.
needed = $(BIN)/python -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))$(1), sep='\n')" >$(VENV)/$(2)
KERNELS := $(wildcard src/millstream/kernels/*/*.pyx src/millstream/kernels/*/*.pxd)

# Tests share the cores; those on Spark stay together, for they share a session.
SPREAD := -n auto --maxprocesses 4 --dist loadgroup

.DEFAULT_GOAL := help
.PHONY: help install console screenshots demo demo-kafka test test-quick test-long test-spark trained wheel check test-checked test-asan fuzz fuzz-asan \
  bench bench-spark bench-all docs drawings clean

help:            ## what can be made
	@grep -hE '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):[^#]*## */\1\t/' | expand -t 16

# The package with Spark, and with the server and its page: all that a demo needs. Packages are fetched while the kernels are compiled.
$(BASE): pyproject.toml setup.py $(KERNELS) src/millstream/language/parser/sparql.lark
	@command -v $(PYTHON) >/dev/null || { echo "missing: Python 3.11 or newer (apt-get install python3 python3-venv)"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "missing: Python 3.11 or newer; set PYTHON=python3.x"; exit 1; }
	@command -v cc >/dev/null || { echo "missing: a C compiler (apt-get install build-essential)"; exit 1; }
	@echo "setting up $(VENV): Spark is fetched and kernels are compiled, a few minutes the first time"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { echo "missing: the venv module (apt-get install python3-venv)"; exit 1; }
	@echo "1 of 3: what kernels are built with"
	@$(call needed,['build-system']['requires'],build.txt)
	@$(PIP) -r $(VENV)/build.txt || { $(NO_NETWORK); }
	@echo "2 of 3: packages (Spark is the large one), and the kernels"
	@$(call needed,['project']['optional-dependencies']['spark'],spark.txt)
	@$(call needed,['project']['optional-dependencies']['server'],server.txt)
	@$(call needed,['project']['optional-dependencies']['console'],console.txt)
	@$(PIP) -r $(VENV)/spark.txt -r $(VENV)/server.txt -r $(VENV)/console.txt >$(VENV)/packages.log 2>&1 & packages=$$!; \
	  $(BIN)/python setup.py -q build_ext --inplace 2>$(VENV)/kernels.log || { cat $(VENV)/kernels.log; exit 1; }; \
	  echo "fetching the rest of the packages ..."; wait $$packages || { cat $(VENV)/packages.log; $(NO_NETWORK); }
	@echo "3 of 3: millstream"
	@MILLSTREAM_BUILD=none $(PIP) --no-build-isolation --editable '.[spark,server,console]' || { $(NO_NETWORK); }
	@touch $@

$(STAMP): $(BASE)
	@echo "fetching what tests and benchmarks need ..."
	@MILLSTREAM_BUILD=none $(PIP) --no-build-isolation --editable '.[dev]' || { $(NO_NETWORK); }
	@touch $@

install: $(STAMP) console  ## the virtual environment with millstream in it, and all for its tests

# What is there and not older than its sources is not made again.
console: $(STAMP)  ## the page that `millstream serve` has at /, and what tests of it need
	@$(BIN)/python packaging/console.py --tests

screenshots: console  ## pictures of the console for its page in docs/
	$(BIN)/python -m tests.console.screenshots

demo: $(BASE)      ## a first look
	@$(BIN)/python packaging/console.py || echo "the demo goes on without its live page"
	@$(BIN)/millstream demo

demo-kafka: $(STAMP)  ## Kafka in and out: a broker, a producer, a query and its answers
	@$(BIN)/python -m examples.kafka.demo

test: $(STAMP) console  ## all tests but those of test-long
	$(BIN)/python -m pytest -m "not long" $(SPREAD)

test-quick: $(STAMP) console  ## the tests that take seconds
	$(BIN)/python -m pytest -m "not slow and not long" $(SPREAD)

test-long: $(STAMP)  ## many jobs on Spark, killed twenty-five times, and a cluster of processes: half an hour
	MILLSTREAM_KILLS=20 $(BIN)/python -m pytest -m long

# Spark's tests on another version of it, in an environment of its own.
VERSION ?= 4.2.0
test-spark: $(STAMP)  ## the pipeline's tests on another Spark: make test-spark VERSION=4.2.0
	@test -e build/spark-$(VERSION)/.ready || { echo "setting up build/spark-$(VERSION) ..." && $(PYTHON) -m venv build/spark-$(VERSION) \
	  && build/spark-$(VERSION)/bin/python -m pip install --quiet --disable-pip-version-check -r $(VENV)/build.txt \
	  && MILLSTREAM_BUILD=none build/spark-$(VERSION)/bin/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --editable '.[dev]' 'pyspark==$(VERSION)' \
	  && touch build/spark-$(VERSION)/.ready; }
	build/spark-$(VERSION)/bin/python -m pytest -m "not long" tests/pipeline tests/cli/test_run_spark.py

trained: $(STAMP)  ## kernels as wheels have them: compiled, led through what people do, compiled again by that; ten minutes
	@MILLSTREAM_BUILD=trained $(BIN)/python setup.py -q build_ext --inplace 2>$(VENV)/trained.log || { tail -n 30 $(VENV)/trained.log; exit 1; }

wheel:           ## wheels for the Pythons here and a source distribution, each tried out; in dist/
	@$(PYTHON) packaging/wheels.py $(PYTHONS)

# The package built once more below build/, beside the release build that everything else uses.
define in_build
@mkdir -p build && echo "building the kernels for $@ ..."
@MILLSTREAM_BUILD=$(1) $(BIN)/python setup.py build --build-lib build/$(1) --build-temp build/temp-$(1) >build/$(1).log 2>&1 \
  || { tail -n 30 build/$(1).log; exit 1; }
@PYTHONPATH=build/$(1) $(2) $(BIN)/python -c 'from millstream.kernels.joins import join; assert "build/$(1)" in join.__file__, join.__file__'
PYTHONPATH=build/$(1) $(2) $(BIN)/python -m $(3)
endef

# The C++ library is loaded at once: AddressSanitizer looks for its exceptions when it starts, and Arrow throws some.
ASAN := LD_PRELOAD="$$(cc -print-file-name=libasan.so) $$(cc -print-file-name=libstdc++.so.6)" ASAN_OPTIONS=detect_leaks=0 PYTHONMALLOC=malloc
define with_asan
@test -e "$$(cc -print-file-name=libasan.so)" || { echo "missing: AddressSanitizer (apt-get install gcc)"; exit 1; }
endef

test-checked: $(STAMP)  ## the kernels' tests with bounds checks
	$(call in_build,checked,,pytest tests/kernels)

test-asan: $(STAMP)  ## the kernels' tests under AddressSanitizer
	$(call with_asan)
	$(call in_build,asan,$(ASAN),pytest tests/kernels)

# How long a campaign is, and what else it is told, as `python -m tests.fuzz --help` has it: FUZZ="--target sessions --from 1".
MINUTES ?= 10
FUZZ    ?=

fuzz: $(STAMP)  ## random sessions against the reference evaluator, garbage into everything that reads: MINUTES=10
	$(BIN)/python -m tests.fuzz --minutes $(MINUTES) $(FUZZ)

fuzz-asan: $(STAMP)  ## the same under AddressSanitizer
	$(call with_asan)
	$(call in_build,asan,$(ASAN),tests.fuzz --minutes $(MINUTES) $(FUZZ))

# More with `.venv/bin/millstream bench --help`: some of them, or --quick.
bench: $(STAMP)    ## measures the engine beside prototypes and a store, a quarter of an hour
	$(BIN)/millstream bench engine

bench-spark: $(STAMP)  ## the same for the pipeline on Spark
	$(BIN)/millstream bench spark

bench-all: $(STAMP)  ## the experiments of the papers beside peers, half an hour; reports in docs/benchmarks
	$(BIN)/millstream bench

# MkDocs has its own environment: what it needs is no part of millstream's.
DOCS := build/docs
$(DOCS)/.ready: pyproject.toml
	@echo "setting up $(DOCS) ..."
	@test -x $(DOCS)/bin/python || $(PYTHON) -m venv $(DOCS)
	@$(PYTHON) -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['project']['optional-dependencies']['docs'], sep='\n')" >$(DOCS)/docs.txt
	@$(DOCS)/bin/python -m pip install --quiet --disable-pip-version-check -r $(DOCS)/docs.txt || { $(NO_NETWORK); }
	@touch $@

docs: $(DOCS)/.ready  ## the site of the documentation in build/site, its links checked
	NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/mkdocs build --strict --quiet
	@echo "see build/site/index.html"

drawings: $(STAMP)  ## what documentation shows and programs make: drawings of time, the recording, the reference
	$(BIN)/python -m docs.making

check: $(STAMP) console  ## style, types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	cd console && PATH="$(CURDIR)/$(BIN):$$PATH" npm run --silent check

clean:             ## removes what was built
	rm -rf $(VENV) build dist src/*.egg-info console/node_modules src/millstream/server/page
	find src -name '*.so' -delete
