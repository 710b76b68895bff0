# Summary: shortcuts; the work is done by install.sh, tests/run and tests/lint
.PHONY: install test lint unit bats eval docs torch bench measurements settings locks wheel clean uninstall

UV ?= uv
COMPILE = $(UV) pip compile --quiet --universal --generate-hashes --no-annotate \
	--python-version 3.10 --fork-strategy requires-python

install:
	./install.sh

test:
	./tests/run

lint unit bats eval docs torch bench:
	./tests/run $@

# docs/settings.md, from the table in lib/chitta/settings.py.
settings:
	.venv/bin/python -I -m chitta.settings >docs/settings.md

# docs/measurements/, from a folder of data sets (docs/measuring.md says which): make measurements DATA=FOLDER
REPORT ?= docs/measurements
measurements:
	bin/chitta evaluate retrieval $(foreach set,til:title locomo cosqa:test scifact:test longmemeval \
		peer-golden/ainb peer-golden/qmd,"$(DATA)/$(set)") --report $(REPORT)
	bin/chitta evaluate switches $(foreach set,golden peer-golden/ainb peer-golden/qmd til:title locomo cosqa:test \
		scifact:test,"$(DATA)/$(set)") --report $(REPORT)
	bin/chitta evaluate admission "$(DATA)/golden" --notes "$(DATA)/til/notes.jsonl" --report $(REPORT)
	bin/chitta evaluate ablation "$(DATA)/golden" --notes "$(DATA)/til/notes.jsonl" --report $(REPORT)
	bin/chitta calibrate "$(DATA)/golden" --notes "$(DATA)/til/notes.jsonl" --report $(REPORT) --dry-run

# The pinned packages; a new version of one: make locks COMPILE_ARGS='--upgrade-package numpy'
locks:
	$(COMPILE) $(COMPILE_ARGS) -o requirements/runtime.lock pyproject.toml >/dev/null
	$(COMPILE) $(COMPILE_ARGS) -c requirements/runtime.lock --extra test -o requirements/test.lock pyproject.toml >/dev/null
	$(COMPILE) $(COMPILE_ARGS) -c requirements/test.lock --extra eval -o requirements/eval.lock pyproject.toml >/dev/null
	$(COMPILE) $(COMPILE_ARGS) -c requirements/test.lock --extra torch --no-emit-package torch -o requirements/torch.lock pyproject.toml >/dev/null
	$(COMPILE) $(COMPILE_ARGS) -c requirements/test.lock --extra fuzz -o requirements/fuzz.lock pyproject.toml >/dev/null
	$(COMPILE) --no-deps -o requirements/torch-test.lock requirements/torch-test.in >/dev/null

wheel:
	.venv/bin/python -m pip wheel --no-deps --wheel-dir dist .

uninstall:
	./install.sh --uninstall

clean:
	rm -rf build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find lib tests -name __pycache__ -type d -prune -exec rm -rf {} +
