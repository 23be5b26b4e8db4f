# Two commands do all the set-up: `make demo` (the main job) and `make test` (the tests).
# PYTHON is the interpreter that makes the environment; with PY=... an environment that is already there is used as it is.
PYTHON ?= python3
VENV ?= .venv
PY ?= $(VENV)/bin/python
PIP_INSTALL = $(VENV)/bin/python -m pip install --quiet --disable-pip-version-check
# 580 is the first driver branch of CUDA 13, 525 that of CUDA 12; no driver, no extra.
CUDA_EXTRA := $(shell $(PYTHON) tools/cuda_extra.py 2>/dev/null)
SCALE ?= 18
GRAPHS ?=
DIST ?=
SHARE ?=
SECONDS_OF_FUZZ ?= 600
JOBS_OF_FUZZ ?= 1

ifeq ($(PY),$(VENV)/bin/python)
RUN_ENV := $(VENV)/.stamp-run
DEV_ENV := $(VENV)/.stamp-dev
KERNEL_ENV := $(VENV)/.stamp-kernels
SITE_ENV := $(VENV)/.stamp-site
endif

.DEFAULT_GOAL := help
.PHONY: help demo site test test-wide test-bounds test-python fuzz lint kernels verify test-gpu bench mutants results dist clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(VENV)/.stamp-venv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "bigbfs needs Python 3.11 or newer; have " + sys.version.split()[0] + ": make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.stamp-run: pyproject.toml | $(VENV)/.stamp-venv
	$(PIP_INSTALL) -e '.$(if $(CUDA_EXTRA),[$(CUDA_EXTRA)])'
	@touch $@

$(VENV)/.stamp-dev: pyproject.toml $(VENV)/.stamp-run
	$(PIP_INSTALL) -e '.[dev,report,site]'
	@touch $@

# NVRTC compiles without a GPU; a machine that has one keeps the CuPy that fits its driver
$(VENV)/.stamp-kernels: pyproject.toml $(VENV)/.stamp-dev
	$(PIP_INSTALL) -e '.[dev,$(or $(CUDA_EXTRA),cuda13)]' 'nvidia-cuda-nvdisasm>=13.2'
	@touch $@

$(VENV)/.stamp-site: pyproject.toml $(VENV)/.stamp-run
	$(PIP_INSTALL) -e '.[site]'
	@touch $@

demo: $(RUN_ENV)  ## generate, convert, traverse and verify a Kronecker graph (SCALE=18)
	@$(PY) tools/demo.py --scale $(SCALE)

# a thousand tests start Python: without byte code each of them compiles the package, a third of its time
test test-wide test-bounds test-python: export PYTHONDONTWRITEBYTECODE :=

test: $(DEV_ENV)  ## run the tests (no GPU needed; ten to eighteen minutes on two cores)
	$(PY) -m pytest -n 2 -m "not wide"

test-wide: $(DEV_ENV)  ## the cases that `make test` leaves out: cross products, sanitizers, long fuzzing (SHARE=1/12: a twelfth)
	$(PY) -m pytest -n 2 -m wide $(if $(SHARE),--share $(SHARE))

# what the kernels do with arrays is in these; the emulation of the GPU has sanitizers of its own
KERNEL_TESTS = tests/algorithms tests/conversion tests/engines tests/formats tests/fuzzing tests/generate tests/graph tests/jit tests/report

test-bounds: $(DEV_ENV)  ## the tests of the CPU kernels with every index checked (minutes: all is compiled anew)
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR='$(CURDIR)/.cache/bounds' $(PY) -m pytest -n 2 $(KERNEL_TESTS)

test-python: $(DEV_ENV)  ## the tests of readers and conversion with the kernels run as Python, not compiled
	NUMBA_DISABLE_JIT=1 $(PY) -m pytest -n 2 tests/formats/readers/test_text.py tests/formats/readers/test_metis.py tests/conversion/test_relabel.py tests/conversion/test_order.py tests/graph/test_varint.py tests/formats/readers/test_npy.py

fuzz: $(DEV_ENV)  ## fuzz tokenizer, readers, decompressors and graph files (SECONDS_OF_FUZZ=600 JOBS_OF_FUZZ=1)
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR='$(CURDIR)/.cache/bounds' $(PY) tools/fuzz.py --seconds $(SECONDS_OF_FUZZ) --jobs $(JOBS_OF_FUZZ)

lint: $(DEV_ENV)  ## ruff, mypy, import directions, layout of the kernels, spelling
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	$(PY) tools/check_imports.py
	$(PY) tools/format_kernels.py --check
	$(PY) -m codespell_lib

kernels: $(KERNEL_ENV)  ## compile every kernel for sm_80, sm_90, sm_100 without a GPU; spills fail (SHARE=1/12: sm_90, a twelfth of the others)
	$(PY) tools/compile_kernels.py --arch 80 --arch 90 --arch 100 $(if $(SHARE),--share $(SHARE))

verify: $(RUN_ENV)  ## check every algorithm, backend and encoding against the reference (GRAPHS=files too)
	$(PY) -m bigbfs verify $(GRAPHS)

test-gpu: $(DEV_ENV)  ## the suite on a real GPU; writes tests/gpu/evidence.json
	$(PY) tools/gpu_evidence.py

bench: $(RUN_ENV)  ## time the small suite (about a minute)
	$(PY) tools/bench_matrix.py --suite configs/bench-small.toml

mutants: $(DEV_ENV)  ## plant bugs into copies of the kernels; every one must be caught
	$(PY) tools/mutants.py --first

results: $(RUN_ENV)  ## remake docs/results/real-graphs.md from the real graphs (BIGBFS_DATA=folder)
	$(PY) tools/real_graphs.py

site: $(SITE_ENV)  ## build the documentation site to build/site; dead links fail
	$(PY) tools/make_site.py

dist: $(RUN_ENV)  ## build wheel and sdist; try them, and each extra, in empty environments (DIST=--quick)
	$(PY) tools/make_dist.py $(DIST)

clean:  ## remove the environment, caches and the demo
	rm -rf $(VENV) .cache demo build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
