# Every target sets up what it needs in this checkout (.venv, .cache) and nothing outside it.
PYTHON ?= $(firstword $(foreach p,python3 python3.13 python3.12 python3.11,$(shell command -v $(p) 2>/dev/null)))
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
# What setup.py compiles: an old copy would win over the source.
COMPILED := $(foreach name,column walk,src/penstock/records/$(name).py src/penstock/records/$(name).pxd)
TARGET ?= penstock
SEEDS ?= 1-200
# Tests wait more than they compute: more processes than cores. PYTEST_ARGS="-n 0" runs them in one.
WORKERS ?= 3
export PENSTOCK_JAR_CACHE ?= $(CURDIR)/.cache/jars

.DEFAULT_GOAL := help

help: ## list the targets
	@echo "Penstock: a streaming platform that speaks Apache Kafka's protocol."
	@echo
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY) ## install everything into .venv

$(READY): pyproject.toml constraints.txt setup.py $(COMPILED)
	@test -n "$(PYTHON)" || { echo "penstock: Python 3.11 or newer is needed: install python3 from your system's packages or python.org" >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "penstock: $$("$(PYTHON)" --version) is too old: install Python 3.11 or newer, then: make PYTHON=python3.11 $(MAKECMDGOALS)" >&2; exit 1; }
	@"$(PYTHON)" -c 'import venv, ensurepip' 2>/dev/null || { echo "penstock: Python's venv module is missing: install python3-venv" >&2; exit 1; }
	@echo "creating $(VENV) with $$("$(PYTHON)" --version); packages take a minute or two, once"
	@"$(PYTHON)" -m venv $(VENV)
	@PYTHONPATH=src $(BIN)/python -m tools.install $(VENV) -c constraints.txt -e '.[dev,spark,sql]'
	@touch $(READY)

demo: $(READY) ## a broker, three nodes and a leader killed, a fraud detector on Spark, an order saga (two minutes and a half; Ctrl-C ends it)
	@$(BIN)/python -m tools.demo $(DEMO_ARGS)

test: $(READY) ## run all tests (those that need Java or Maven say so when they are missing)
	@$(BIN)/python -m pytest -n $(WORKERS) $(PYTEST_ARGS)

check: $(READY) ## ruff, mypy strict, import-linter
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

format: $(READY) ## format the source
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

generate: $(READY) ## write the generated code and pages anew
	@$(BIN)/python -m tools.generate_protocol
	@$(BIN)/python tools/generate_config_docs.py
	@$(BIN)/python -m tools.generate_monitoring

conformance: $(READY) ## real clients and Kafka's tools; TARGET=cluster: on three nodes, TARGET=kafka: on Apache Kafka
	@$(BIN)/python -m pytest -n $(WORKERS) tests/conformance tests/pipelines --target $(TARGET) --conformance-report .cache/conformance/$(TARGET).json $(PYTEST_ARGS)

conformance-table: $(READY) ## write docs/conformance.md from the last conformance runs
	@$(BIN)/python -m tools.conformance_table $(wildcard .cache/conformance/*.json)

authorization: $(READY) ## every API at every version, as users with one grant each, beside Apache Kafka; writes docs/conformance.md (three minutes)
	@AUTHORIZATION=long $(BIN)/python -m pytest -n 0 tests/authorization $(PYTEST_ARGS)
	@$(BIN)/python -m tools.conformance_table

hostile: $(READY) ## hostile input beside a well-behaved client, also on Apache Kafka; writes docs/reliability.md (half an hour)
	-@$(BIN)/python -m pytest -n 0 tests/hostile --target kafka --hostile-requests 20000 --hostile-report .cache/hostile/kafka.json $(PYTEST_ARGS)
	@$(BIN)/python -m pytest -n 0 tests/hostile --hostile-requests 20000 --hostile-report .cache/hostile/penstock.json $(PYTEST_ARGS)
	@$(BIN)/python -m tools.hostile_table .cache/hostile/penstock.json .cache/hostile/kafka.json

bench: $(READY) ## measure beside Apache Kafka 4.3; writes docs/benchmarks.md (long)
	@$(BIN)/python -m bench $(BENCH_ARGS)
	$(if $(BENCH_ARGS),,@$(BIN)/python -m bench.security)

bench-security: $(READY) ## measure TLS, logins, access control, audit and quotas; writes docs/benchmarks.md (ten minutes)
	@$(BIN)/python -m bench.security $(BENCH_ARGS)

bench-pipelines: $(READY) ## measure pipelines on Penstock and on Apache Kafka; writes docs/benchmarks.md (half an hour)
	@$(BIN)/python -m bench.pipelines $(BENCH_ARGS)

bench-cluster: $(READY) ## measure three nodes beside three of Apache Kafka 4.3; writes docs/benchmarks-cluster.md (25 minutes)
	@$(BIN)/python -m bench.cluster $(BENCH_ARGS)

bench-client: $(READY) ## measure consumers as functions beside FastStream; writes docs/applications.md (five minutes)
	@$(BIN)/python -m pip install -q -c constraints.txt -e '.[bench]'
	@$(BIN)/python -m bench.client --write $(BENCH_ARGS)

bench-large: $(READY) ## measure the metadata of 200 brokers and 500,000 partitions; writes docs/scale.md (two minutes)
	@$(BIN)/python -m bench.large --write $(BENCH_ARGS)

bench-sql: $(READY) ## measure `penstock sql` over 10 GB beside kafka-console-consumer and jq, and Spark; writes docs/catalog.md (half an hour)
	@$(BIN)/python -m bench.sql --write $(BENCH_ARGS)

clusters: $(READY) ## long tests of clusters: chaos by dice, planted faults, Apache Kafka's nodes among ours, a Spark cluster that loses its parts (a quarter of an hour)
	@PENSTOCK_CLUSTERS=1 $(BIN)/python -m pytest -n 2 tests/cluster tests/chaos tests/mixed tests/pipelines/test_pipeline_cluster_faults.py tests/pipelines/test_pipeline_object_store.py tests/pipelines/test_pipeline_search.py tests/pipelines/test_pipeline_shared_kill.py tests/pipelines/test_pipeline_store_start.py tests/unit/cli/test_cli_drill.py $(PYTEST_ARGS)
	@PENSTOCK_CLUSTERS=1 $(BIN)/python -m pytest -n 1 --target kafka tests/pipelines/test_pipeline_cluster_faults.py $(PYTEST_ARGS)

deploy: $(READY) ## carry out the container file and the systemd unit in a root of their own; as root (five minutes)
	@DEPLOY=long $(BIN)/python -m pytest -n 0 tests/deploy $(PYTEST_ARGS)

simulate: $(READY) ## whole nodes in virtual time, with crashes and cuts from seeds; SEEDS=1-1000, or one to see it again
	@SEEDS=$(SEEDS) $(BIN)/python -m pytest -n $(WORKERS) tests/simulation/test_node.py tests/simulation/test_cluster.py $(PYTEST_ARGS)

crash: $(READY) ## kill a loaded broker many times and look for lost records (long)
	@$(BIN)/python -m tools.crash $(CRASH_ARGS)

eos: $(READY) ## copy in transactions while copiers and broker are killed (half an hour)
	@$(BIN)/python -m tools.eos $(EOS_ARGS)

chaos: $(READY) ## kill, stop, pause and cut off the nodes of loaded clusters (two hours)
	@$(BIN)/python -m tools.chaos $(CHAOS_ARGS)

silence: $(READY) ## how long a producer hears nothing when its leader goes away (ten minutes)
	@$(BIN)/python -m tools.silence $(SILENCE_ARGS)

sink-kill: $(READY) ## kill Spark under the exactly-once sink and compare what was written (long)
	@$(BIN)/python -m tools.pipeline_kill $(SINK_KILL_ARGS)

fraud-kill: $(READY) ## kill detector and broker under load, prove one verdict each (half an hour)
	@$(BIN)/python -m tools.fraud_kill $(FRAUD_ARGS)

saga-kill: $(READY) ## kill services, broker and database connections of the order saga, then check all books; also with planted faults (a quarter of an hour)
	@$(BIN)/python -m tools.saga_kill --seconds 300 $(SAGA_ARGS)
	@$(BIN)/python -m tools.saga_kill --seconds 300 --postgres $(SAGA_ARGS)
	@for fault in no-outbox no-idempotence no-compensation; do $(BIN)/python -m tools.saga_kill --seconds 60 --fault $$fault $(SAGA_ARGS) || exit 1; done

bench-outbox: $(READY) ## measure the outbox relay on PostgreSQL (a minute)
	@$(BIN)/python -m bench.outbox $(BENCH_ARGS)

clean: ## remove what the other targets made
	rm -rf $(VENV) .cache build dist src/*.egg-info penstock-data
	find src -name '*.so' -delete
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.PHONY: $(shell awk -F: '/^[a-z-]+:.*\#\# / {print $$1}' $(firstword $(MAKEFILE_LIST)))
