# make demo: the main job on the bundled demo, without key or network. make studies: every study on it. make test: the tests.
# Both create .venv from the hash-locked requirements when it is missing or outdated.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STUDIES := outputs/studies
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: images demo studies test lint site bench lock changelog clean

demo: $(VENV)/.stamp-run
	$(BIN)/python -m dreambench +experiment=backbone_sweep

# Every study of conf/experiment, one after the other and offline: a line each with its seconds, what failed at the end.
studies: $(VENV)/.stamp-dev
	@mkdir -p $(STUDIES); failed=; for file in conf/experiment/*.yaml; do \
	  name=$$(basename $$file .yaml); log=$(STUDIES)/$$name.log; began=$$(date +%s); \
	  $(BIN)/python -m dreambench +experiment=$$name paths.outputs=$(STUDIES) >$$log 2>&1; code=$$?; \
	  printf '%-22s %4d s  %s\n' $$name $$(( $$(date +%s) - began )) "$$(sed -n 's/^written to //p' $$log)"; \
	  test $$code = 0 || failed="$$failed $$name"; \
	done; for name in $$failed; do echo; echo "failed: $$name ($(STUDIES)/$$name.log)"; tail -n 5 $(STUDIES)/$$name.log; done; \
	test -z "$$failed"

test: $(VENV)/.stamp-dev
	$(BIN)/python -m pytest -n auto --dist worksteal

lint: $(VENV)/.stamp-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The documentation as a site that opens without server and network: build/site/index.html. Every link and anchor is checked.
site: $(VENV)/.stamp-dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build

bench: $(VENV)/.stamp-dev
	$(BIN)/python -m bench

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "dreambench needs Python 3.11 or newer: make PYTHON=python3.11 ...")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.stamp-run: requirements/run.lock | $(VENV)/bin/python
	@echo "installing the requirements into $(VENV), some minutes the first time ..."
	$(BIN)/python -m pip install --quiet --require-hashes --no-deps -r requirements/run.lock
	touch $@

$(VENV)/.stamp-dev: requirements/dev.lock | $(VENV)/bin/python
	@echo "installing the requirements into $(VENV), some minutes the first time ..."
	$(BIN)/python -m pip install --quiet --require-hashes --no-deps -r requirements/dev.lock
	touch $@ $(VENV)/.stamp-run

# Needs chromium: the pictures of README and docs.
images: $(VENV)/.stamp-dev
	$(BIN)/python -m docs.images.render

# Needs uv (https://docs.astral.sh/uv): resolves pyproject.toml for all declared Pythons at once.
lock:
	uv pip compile pyproject.toml --extra dev --extra local --universal --python-version 3.11 --generate-hashes --no-header --no-annotate -q -o requirements/dev.lock
	uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes --no-header --no-annotate -q -c requirements/dev.lock -o requirements/run.lock

# make changelog VERSION=0.2.0: the sentences of changes/ go into CHANGELOG.md, under that version.
changelog: $(VENV)/.stamp-dev
	@test -n "$(VERSION)" || { echo "which version? make changelog VERSION=0.2.0"; exit 1; }
	$(BIN)/towncrier build --yes --version $(VERSION)

clean:
	rm -rf $(VENV) outputs .dreambench
