# Two commands do all the set-up: `make demo` and `make test`. They share one environment, .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test lint evidence bench clean

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# The build tools stay in the environment, so that an editable install can build the core again when its sources change.
$(VENV)/.build: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install -q 'scikit-build-core>=0.11' 'nanobind>=2.7' cmake ninja
	@touch $@

$(VENV)/.demo: $(VENV)/.build CMakeLists.txt
	$(BIN)/python -m pip install -q --no-build-isolation -e '.[all]'
	@touch $@

$(VENV)/.test: $(VENV)/.build CMakeLists.txt
	$(BIN)/python -m pip install -q --no-build-isolation -e '.[test]'
	@touch $@ $(VENV)/.demo

$(VENV)/.lint: $(VENV)/.build CMakeLists.txt
	$(BIN)/python -m pip install -q --no-build-isolation -e '.[test,lint]'
	@touch $@

demo: $(VENV)/.demo  ## cluster the arms of a built-in problem, with a live view and a picture
	$(BIN)/linkarms demo

test: $(VENV)/.test  ## run the suite
	$(BIN)/python -m pytest -n 2

lint: $(VENV)/.lint  ## ruff check, ruff format --check, mypy strict
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

evidence: $(VENV)/.test  ## the long proofs: seeded, resumable; results under evidence/
	$(BIN)/python -m evidence

bench: $(VENV)/.test  ## times beside yardsticks; the figures go to benchmarks/results.json
	$(BIN)/linkarms bench --out benchmarks/results.json

clean:
	rm -rf $(VENV) build dist
