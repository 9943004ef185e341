# Weir's commands; `make` alone lists them. Each does its own set-up, once.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory
SHELL := /bin/sh

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
COMPILE := .lock-tool/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-config --no-strip-extras --no-emit-index-url --no-emit-find-links --custom-compile-command "make lock"

# The tools that the bench and the tests run beside Weir, each in an environment of its own with a lock of its own.
OTHERS := bench/others/delta_rs bench/others/dlt_merge bench/others/duckdb_merge bench/others/paimon tests/others/airflow tests/others/dbt tests/others/moto tests/others/polars

# The port of Dagster's pages can be set from outside.
PORT ?= 3000

# The first Python from 3.11 to 3.14 that can make a virtual environment; name another with `make PYTHON=...`.
FIT := import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))
PYTHONS := python3 python3.13 python3.12 python3.11 python3.14
PYTHON ?= $(shell for p in $(PYTHONS); do \
	if $$p -c '$(FIT)' >/dev/null 2>&1; then echo $$p; exit; fi; done; echo python3)

# One process has all tests with Spark, the others have everything else (tests/conftest.py).
PYTEST = $(BIN)/python -m pytest -n $(or $(WORKERS),2) --dist loadgroup --no-loadscope-reorder

.PHONY: help run test test-long test-laws test-mutations test-cdc test-faults cluster-test lint check format bench ui docs screenshots archive lock clean

help: ## list the commands
	@echo "Weir: change data capture drops to current-state Delta tables."
	@echo
	@grep -E '^[a-z][a-z-]*:.*## ' $(firstword $(MAKEFILE_LIST)) \
		| awk -F ':.*## ' '{ printf "  make %-14s %s\n", $$1, $$2 }'
	@echo
	@echo "Needs Python 3.11 to 3.14 (with venv), Java 17 or 21, and make. The first command sets up."

run: $(READY) ## run the demo: sample drops from landing to gold, with a summary
	@$(BIN)/weir demo

test: $(READY) ## run the tests that prove the product, in two processes (WORKERS=1 for one)
	@WEIR_LAW_HISTORIES=$(or $(HISTORIES),1000) $(PYTEST) -m "not long"

test-long: $(READY) ## run the rest: what kills, fills, drives clusters and other programs (SHARD=3/23 for a part)
	@$(PYTEST) --shard "$(or $(SHARD),1/1)"

test-laws: $(READY) ## test the laws over more random histories (HISTORIES=100000, say; SEED=... for different ones)
	@WEIR_LAW_HISTORIES=$(or $(HISTORIES),10000) WEIR_LAW_SEED=$(or $(SEED),0) $(BIN)/python -m pytest -q tests/laws

test-mutations: $(READY) ## break the product on purpose, a line at a time: the law for that line must fail (LAWS="1 4" for some)
	@$(BIN)/python -m tests.laws.mutations $(LAWS)

test-cdc: $(READY) ## capture a real Postgres and MariaDB by Debezium and Kafka: gold must be what the database holds
	@$(BIN)/python -m pytest -q tests/cdc

test-faults: $(READY) ## kill runs at random moments (KILLS=50, SEED=...), and try other faults: half an hour or more
	@WEIR_FAULT_KILLS=$(or $(KILLS),50) WEIR_FAULT_SEED=$(or $(SEED),$(shell date +%s)) \
		WEIR_FAULT_PAIRS=4 WEIR_FAULT_FILLINGS=8 WEIR_FAULT_MACHINES=12 $(BIN)/python -m pytest -q -s tests/faults

cluster-test: $(READY) ## a Spark cluster of processes, tables in a real S3 store: 5,000,000 events, a killed worker (EVENTS=... for others)
	@WEIR_CLUSTER_EVENTS=$(or $(EVENTS),5000000) $(BIN)/python -m pytest -q -s tests/cluster

lint: $(READY) ## check style, format, types and import contracts
	@$(BIN)/python -m tests.check style format types imports

check: $(READY) ## run lint, and the quick tests, which need no Spark: a minute, to be run all day
	@WORKERS=$(WORKERS) $(BIN)/python -m tests.check

format: $(READY) ## format the code, sort its imports, and repair what the linter can repair by itself
	@$(BIN)/ruff check --fix-only .
	@$(BIN)/ruff format .

bench: $(READY) ## measure how fast Weir is, against the textbook and the floor (SCALE=full, BENCH="--line apply")
	@$(BIN)/python -m bench --scale $(or $(SCALE),small) $(BENCH)

ui: $(READY) ## start Dagster's web pages and daemon on 127.0.0.1:3000 (PORT=... for another port)
	@$(BIN)/weir ui --port $(PORT)

docs: $(READY) ## make the reference from the code, and the site of the documentation in site/
	@$(BIN)/python -m docs.site.reference.pages
	@$(BIN)/python -m docs.site

screenshots: $(READY) ## take the pictures of the UI in docs/images, of the demo, in a headless Chromium
	@$(BIN)/python -m tests.journeys.screenshots

archive: $(READY) ## pack what the executors of a Spark cluster need of Weir into dist/weir.tar.gz
	@$(BIN)/python -m orchestration.spark.archive dist/weir.tar.gz

lock: ## pin every dependency again, also those of the tools in bench/others and tests/others (for all supported Pythons, with hashes)
	@$(PYTHON) -I orchestration/spark/java.py --python-only
	@test -x .lock-tool/bin/uv || $(PYTHON) -m venv .lock-tool
	@.lock-tool/bin/pip install --quiet --disable-pip-version-check --require-hashes -r .ci/uv.lock
	@$(COMPILE) --extra dev --output-file requirements.lock pyproject.toml
	@for tool in $(OTHERS) .ci/uv; do \
		$(COMPILE) --output-file $$tool.lock $$tool.in || exit 1; done
	@echo "requirements.lock and the locks in bench/others and tests/others are up to date; to move a pin, delete it or its lines first"

clean: ## remove the environment, Dagster's history and caches; landing/ and warehouse/ stay
	rm -rf $(VENV) .lock-tool .bench-environments .dagster build dist site weir.egg-info spark-warehouse
	rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
	@echo "Tables and drops are kept: for a fresh demo, remove landing/ and warehouse/ yourself."

# Set-up: the machine is checked first, so that what is missing is reported before anything is downloaded.
$(READY): requirements.lock .ci/uv.lock pyproject.toml
	@if command -v $(PYTHON) >/dev/null 2>&1; then $(PYTHON) -I orchestration/spark/java.py; \
		else echo "error: there is no $(PYTHON); install Python 3.11 to 3.14 with venv" >&2; exit 1; fi
	@echo "Setting up in $(VENV) with $$($(PYTHON) --version): a minute or two and 2 GB, once."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -I orchestration/installation.py .ci/uv.lock requirements.lock
	@echo "the jars that Spark needs"
	@$(BIN)/python -m orchestration.spark.jars
	@touch $@
	@echo "Weir is set up."
