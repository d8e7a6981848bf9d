# Two commands do all the set-up: `make demo` and `make test`. They share one environment, .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test lint evidence bench clean

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install -q -e '.[all]'
	@touch $@

$(VENV)/.test: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install -q -e '.[test]'
	@touch $@ $(VENV)/.demo

$(VENV)/.lint: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install -q -e '.[test,lint]'
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
