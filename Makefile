# make demo | setup | lab | docs | test | check | soak | gallery | notebooks | lint | wheel      (nothing is needed beforehand but Python >= 3.11 and make)
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
export PATH := $(abspath $(BIN)):$(PATH)
# Offline wheel folders that pip knows are told to uv as well; otherwise uv picks the torch build for this machine.
ifdef PIP_FIND_LINKS
export UV_FIND_LINKS ?= $(PIP_FIND_LINKS)
else
export UV_TORCH_BACKEND ?= auto
endif
INSTALL := $(BIN)/uv pip install --quiet --python $(BIN)/python -c constraints.txt
export HF_HUB_OFFLINE ?= 1
# Without bytecode every process compiles all that it imports: runs and tests take twice as long.
unexport PYTHONDONTWRITEBYTECODE
BYTECODE := $(BIN)/python -m evalbench.runs.bytecode
TESTED := pytest xdist hypothesis scipy.stats sklearn.metrics statsmodels.api nltk sacrebleu rouge_score.rouge_scorer
# Processes that the tests run in, a gigabyte each; more than cores, since many tests wait for a kernel, a server or a browser.
WORKERS ?= 3
PYTEST = $(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal

.PHONY: demo setup lab docs test check slow-tests soak bench gallery notebooks lint wheel clean

$(BIN)/uv:
	$(PYTHON) -c 'import sys; sys.exit("evalbench needs Python 3.11 or newer: make PYTHON=python3.12 …" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv

$(VENV)/.base: $(BIN)/uv pyproject.toml constraints.txt
	$(INSTALL) -e .
	$(BYTECODE)
	touch $@

$(VENV)/.dev: $(BIN)/uv pyproject.toml constraints.txt
	$(INSTALL) -e '.[dev]'
	$(BYTECODE) $(TESTED)
	touch $@ $(VENV)/.base

$(VENV)/.all: $(BIN)/uv pyproject.toml constraints.txt
	$(INSTALL) -e '.[all,dev]'
	$(BYTECODE) $(TESTED)
	touch $@ $(VENV)/.dev $(VENV)/.base

$(VENV)/.docs: $(BIN)/uv pyproject.toml constraints.txt
	$(INSTALL) -e '.[docs]'
	$(BYTECODE)
	touch $@ $(VENV)/.base

demo: $(VENV)/.base
	$(BIN)/evalbench run matching

setup: $(VENV)/.all

# A workbench of one's own: the notebooks of the studies stay as they were released.
lab: $(VENV)/.all
	[ -e lab/data/catalog.yaml ] || $(BIN)/evalbench init lab
	cd lab && jupyter lab

# build/site/index.html: every page, with what the code knows and a run of each study; no server, no network.
docs: $(VENV)/.docs
	$(BIN)/python scripts/build_docs.py

# The parameters cell and the call of every study's notebook, from the signature and docstring of its evaluate.
notebooks: $(VENV)/.base
	$(BIN)/python scripts/notebooks.py

gallery: $(VENV)/.base
	$(BIN)/evalbench batch notebooks/gallery.yaml

test: $(VENV)/.dev
	$(PYTEST) -m "not slow and not browser and not benchmark and not external and not wordnet"

# Types are looked at beside the tests, and not before them while a core is idle.
check: $(VENV)/.dev
	+$(MAKE) --no-print-directory -j 2 lint slow-tests

slow-tests: WORKERS = 4
slow-tests: $(VENV)/.dev
	EVALBENCH_TEST_GENERATED=all EVALBENCH_TEST_MACHINE=complete $(PYTEST) -m "(slow or browser or generated or external or wordnet) and not benchmark"

# What takes minutes each with every case: by hand, before a release or after a change of what reads tables.
soak: $(VENV)/.dev
	EVALBENCH_TEST_GENERATED=soak $(PYTEST) -m soak

# One after another and alone; with ALL=1 the large ones too, into the table that is committed.
bench: $(VENV)/.dev
	$(BIN)/python -m pytest -q tests/benchmarks $(if $(ALL),--table docs/benchmarks,-m "not large" --budget 300 --table build/benchmarks)

lint: $(VENV)/.dev
	$(BIN)/ruff check . && $(BIN)/ruff format --check .
	$(BIN)/mypy

# dist/evalbench-VERSION-py3-none-any.whl, with notebooks and sample data; what an earlier build left must not get into it.
wheel: $(BIN)/uv
	rm -rf build/lib build/bdist.* dist
	$(BIN)/uv build --quiet --wheel --out-dir dist

clean:
	rm -rf $(VENV) build dist *.egg-info
