# One word a task. `make run` and `make test` do all the set-up that they need.

PYTHON ?= python3
VENV ?= .venv
# Passed on: make run ARGS="--docs ~/papers", make test ARGS="tests/laws -x"
ARGS ?=

IN = $(VENV)/bin/

# Where this is set, every start would compile every module again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help run test test-slow lint format bench docs clean set-up-run set-up-test chromium

help:  ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s  %s\n", $$1, $$2 }' Makefile

run: set-up-run  ## Set up, then open the dashboard on the sample documents
	@$(IN)python -m dashboard $(ARGS)

test: set-up-test chromium  ## Set up, then run the tests
	@$(IN)python -m pytest $(ARGS)

test-slow: set-up-test chromium  ## All tests, the slow ones too, with more random examples
	@HYPOTHESIS_PROFILE=slow $(IN)python -m pytest -m "" --timeout=1800 $(ARGS)

lint: set-up-test  ## Check style and layout of the code
	@$(IN)ruff check .
	@$(IN)ruff format --check .

format: set-up-test  ## Lay the code out
	@$(IN)ruff check --fix .
	@$(IN)ruff format .

bench: set-up-test  ## Run the benchmarks; each prints its table
	@for script in benchmarks/[a-z]*.py; do \
		echo "== $$script"; $(IN)python $$script $(ARGS) || exit 1; \
	done

docs: set-up-run  ## Write the documents that are made from the code
	@$(IN)python tools/make_docs.py

clean:  ## Remove the environment and all that the tools left
	rm -rf $(VENV) *.egg-info build dist .pytest_cache .hypothesis .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

set-up-run set-up-test:
	@command -v $(PYTHON) >/dev/null || { \
		echo "set-up stopped: there is no $(PYTHON). On Debian: apt-get install python3 python3-venv" >&2; \
		exit 1; }
	@$(PYTHON) tools/setup.py $(@:set-up-%=%) --venv $(VENV)

chromium:
	@$(PYTHON) tools/chromium.py
