# Few verbs; each works from a bare checkout with Python 3.11+ and make.
PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/.installed
BENCH_INSTALLED := .venv/.installed-bench
DOCS_INSTALLED := .venv/.installed-docs
# Tests run in as many processes as there are processors, at most four; a file stays in one.
PYTEST := $(BIN)/python -m pytest -q -n auto --maxprocesses 4 --dist loadfile
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet -c constraints.txt

.PHONY: install kernels wheel demo test test-all check lint fmt bench linear-road bench-start fuzz docs constraints
.DEFAULT_GOAL := install

install: $(INSTALLED) kernels

# Bytecode and kernels, compiled ahead: only what is new or has changed since the last time.
kernels: $(INSTALLED)
	@$(BIN)/python -m compileall -q src
	@$(BIN)/xstreamcast kernels

# A wheel with the kernels for every processor of a kind of machine: this one, or x86_64 or aarch64
# (`make wheel MACHINE=aarch64`; needs aarch64-linux-gnu-ld or ld.lld).
MACHINE ?=
wheel: $(INSTALLED)
	@$(BIN)/xstreamcast kernels --every-level $(MACHINE:%=--machine %)
	XSC_WHEEL_MACHINE=$(MACHINE) $(BIN)/python -m pip --disable-pip-version-check wheel --quiet --no-deps --wheel-dir dist .
	@ls -l dist/*.whl

demo: install
	@$(BIN)/xstreamcast demo

# What a contributor runs: all rooms, Spark in a few cases, fewer generated cases.
test: install
	@XSC_PROFILE=$${XSC_PROFILE:-short} $(PYTEST) -m "not slow"

# Everything; CI runs it.
test-all: install
	@$(PYTEST)

check: lint docs
	@$(MAKE) --no-print-directory test-all

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict
	$(BIN)/lint-imports --no-cache

fmt: $(INSTALLED)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(BENCH_INSTALLED)
	$(BIN)/xstreamcast bench tape

# Ten minutes of the Linear Road benchmark: played, drawn and validated. See docs/linear-road.md.
linear-road: install
	@$(BIN)/xstreamcast bench linear_road --segments 30 --crowded 130 --accident 120 --speed 5 --view

# How long a command takes to begin, in processor time.
bench-start: install
	$(BIN)/xstreamcast bench start

# Mutated inputs, files and queries, until the time is over: wire, mapped, updates, changes, queries,
# documents, checkpoints or tables.
TARGET ?= wire
SECONDS ?= 60
fuzz: install
	@nice $(BIN)/python -m tests.fuzz.target $(TARGET) --seconds $(SECONDS) --count

# The docs site in build/site; a broken link fails.
docs: $(DOCS_INSTALLED)
	$(BIN)/python -m docs.site.draw
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

# The one command that refreshes the pins: names and versions, no addresses.
constraints:
	@scratch=$$(mktemp -d) && trap 'rm -rf "$$scratch"' EXIT && \
	$(PYTHON) -m venv "$$scratch" && \
	"$$scratch/bin/pip" --disable-pip-version-check install --quiet uv && \
	"$$scratch/bin/uv" pip compile --quiet --upgrade --all-extras --python-version 3.11 \
	  --no-emit-index-url --no-header --no-annotate --output-file constraints.txt pyproject.toml
	@wc -l constraints.txt

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed; try: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 2; }
	$(PYTHON) -m venv .venv

$(INSTALLED): pyproject.toml constraints.txt | .venv/bin/python
	$(PIP) -e '.[test,spark,sources]'
	@touch $@

$(BENCH_INSTALLED): $(INSTALLED)
	$(PIP) -e '.[test,spark,sources,bench]'
	@touch $@

$(DOCS_INSTALLED): $(INSTALLED)
	$(PIP) -e '.[test,spark,sources,docs]'
	@touch $@
