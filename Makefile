# make demo   set up, train and evaluate on the bundled sample
# make test   set up and run the tests; `make test-all` also runs those that take long
# make docs   the documentation as a site, build/docs/index.html; `make man` builds manual pages
# make reproduce   the tables and figures of the papers; QUICK=1 in minutes

PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check
# what setup.py needs, read from pyproject.toml; in .venv it is unpacked once and serves all builds
BUILD := $(shell sed -n '/^requires = \[/ { s/^requires = \[//; s/\]$$//; s/", "/" "/g; p; }' pyproject.toml)
# compat: a plain path entry; the import hook of the default mode costs every start 20 ms
EDITABLE := --no-build-isolation --config-settings editable_mode=compat --editable .
SAMPLE := examples/sample
unexport PYTHONDONTWRITEBYTECODE
KERNELS := $(wildcard cwtool_ext/*.pyx cwtool_ext/*.pxd cwtool_ext/*.h)

.PHONY: demo test test-slow test-all test-oldest wheel sanitize fuzz fuzz-coverage lint stubs estimators reference docs man debug reproduce bench-peers bench-self sample data clean

demo: .venv/ready
	@mkdir -p build
	$(BIN)/cwtool train --algo arow $(SAMPLE)/day1.svm -m build/demo.cw
	$(BIN)/cwtool predict $(SAMPLE)/day2.svm -m build/demo.cw --evaluate
	$(BIN)/cwtool train $(SAMPLE)/day2.svm --resume build/demo.cw -m build/demo.cw
	$(BIN)/cwtool inspect build/demo.cw --top 8 --feature-names $(SAMPLE)/names.tsv
	$(BIN)/cwtool train $(SAMPLE)/topics.svm -m build/topics.cw
	$(BIN)/cwtool predict $(SAMPLE)/topics_test.svm -m build/topics.cw --evaluate
	$(BIN)/cwtool report build/demo.cw -o build/demo.html
	@echo "open build/demo.html: the page of the two days"
	@echo "source .venv/bin/activate lets the shell find the command cwtool"

test: .venv/test
	$(BIN)/pytest -n auto

# the tests marked slow, and the property tests with more examples; `make test-all` runs all there are
test-slow: .venv/test
	$(BIN)/pytest -n auto -m slow
	$(BIN)/pytest -n auto tests/property --hypothesis-profile thorough

test-all: test test-slow

# a part of the tests with the lowest versions that pyproject.toml allows, and without extras
test-oldest: .venv/ready
	$(BIN)/python tools/versions.py --lowest

lint: .venv/lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python tools/stubs.py --check # names stale stubs; `make stubs` writes them
	$(BIN)/python tools/estimators.py --check # and `make estimators` these classes
	$(BIN)/python tools/reference.py --check # and `make reference` these pages
	$(BIN)/python tools/readme.py --check # and what the README shows
	$(BIN)/mypy
	PATH="$(CURDIR)/$(BIN):$$PATH" cython-lint cwtool_ext/

# cwtool_ext/*.pyi, from the signatures in cwtool_ext/*.pyx
stubs: .venv/lint
	$(BIN)/python tools/stubs.py

# cwtool/estimators/classifiers.py and selectors.py, from the parameters of the algorithms
estimators: .venv/lint
	$(BIN)/python tools/estimators.py

# docs/reference, from the declared options, parameters and events, and what the README shows
reference: .venv/lint
	$(BIN)/python tools/reference.py
	$(BIN)/python tools/readme.py

# the site of docs/, which needs no network; a broken link or a page that nothing leads to is an error
SPHINX = $(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going --nitpicky

docs: .venv/docs
	$(SPHINX) -b html docs build/docs
	@echo "open build/docs/index.html"

# a manual page for each command: man -l build/man/cwtool-train.1
man: .venv/docs
	$(SPHINX) -b man docs build/man

# changed lines and model files and random settings, many more than the tests try; FUZZ=N: how many
# model files, 100 times as many lines, and a tenth as many settings
FUZZ ?= 20000
fuzz: .venv/test
	$(BIN)/python tools/fuzz_lines.py --lines $(FUZZ)00
	$(BIN)/python tools/fuzz_models.py --count $(FUZZ)
	$(BIN)/python tools/fuzz_settings.py --count $$(($(FUZZ) / 10))

# libFuzzer on the parser, for SECONDS; it needs clang: apt install clang libclang-rt-14-dev
SECONDS ?= 300
fuzz-coverage: .venv/test
	$(BIN)/python tools/fuzz_coverage.py --seconds $(SECONDS)

# kernels that end the process where they read or write outside an array or do what C does not define,
# in a folder of their own, and the tests that use them most; the processes that tests start use them
# too. libstdc++ has to be there before the sanitizer looks for it, for the C++ exceptions of matplotlib.
# Leaks are not looked for: Python and NumPy keep memory to the end. test_layers.py reads the sources,
# which are not in that folder.
PRELOADED := $$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libstdc++.so)
WATCHED := LD_PRELOAD="$(PRELOADED)" ASAN_OPTIONS=detect_leaks=0 \
	PYTHONPATH="$(CURDIR)/build/sanitize" PYTHONMALLOC=malloc
sanitize: .venv/test
	CWTOOL_SANITIZE=1 $(BIN)/python setup.py -q build_ext --build-lib build/sanitize \
		--build-temp build/sanitize/temp
	cp cwtool_ext/*.py build/sanitize/cwtool_ext/
	cd build && $(WATCHED) ../$(BIN)/python -c 'import cwtool_ext.libsvm as k; assert "sanitize" in k.__file__'
	$(WATCHED) $(BIN)/pytest -n auto tests/unit tests/oracle tests/fuzz tests/property --ignore tests/unit/test_layers.py

# kernels with bounds checks, for hunting a crash; `make clean` brings the fast ones back
debug: .venv/ready
	CWTOOL_DEBUG=1 $(BIN)/python setup.py build_ext --inplace --force

# the tables and figures of the papers beside ours, in bench-out/report.html; QUICK=1: in minutes;
# DATA: a folder of real data; `cwtool bench --list` prints the names for reproduce-NAME
DATA ?= $(wildcard data)
BENCH = $(BIN)/cwtool bench -o bench-out $(if $(DATA),--data $(DATA)) $(if $(QUICK),--quick)

reproduce: .venv/report
	$(BENCH) all

reproduce-%: .venv/report
	$(BENCH) $*

# speed against other tools, on this machine, in one run
bench-peers: .venv/peers .venv/report
	$(BENCH) peers

# speed against another commit of cwtool, built beside this one: make bench-self BASE=v0.1
BASE ?= HEAD~1
bench-self: .venv/ready
	$(BIN)/python tools/bench_self.py $(BASE)

# dist/: an archive of the sources, and a wheel that is built from it, tagged and tried
wheel: .venv/release
	$(BIN)/python tools/wheel.py

sample: .venv/ready
	$(BIN)/python examples/make_sample.py $(SAMPLE)

# the public data sets: `make data` lists them, `make data-NAME` fetches one into data/NAME
data: .venv/ready
	@$(BIN)/python data_scripts/fetch.py --list

data-%: .venv/ready
	$(BIN)/python data_scripts/fetch.py $*

.venv/ready: pyproject.toml setup.py $(KERNELS)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
		{ echo "cwtool needs Python 3.10 or newer; try: make PYTHON=python3.11 $(MAKECMDGOALS)"; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(PIP) --no-compile $(BUILD)
	$(PIP) $(EDITABLE)
	@$(BIN)/python -c 'import scipy.linalg, scipy.sparse' # the bytecode of what cwtool imports
	@touch $@

.venv/test .venv/lint .venv/docs .venv/peers .venv/report .venv/release: .venv/%: .venv/ready
	$(PIP) 'cwtool[$*]' # installed already: fetches the extra alone and compiles nothing again
	@touch $@

clean:
	rm -rf .venv build dist *.egg-info cwtool_ext/*.so cwtool_ext/*.c bench-out
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
