# A clean clone needs Python 3.10+ and make; everything else goes into .venv.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.installed
COMPILED := build/compiled
WRITTEN := build/written
# A process a core; a file stays in one, because its tests share what is slow to start.
PARALLEL ?= -n auto --dist loadfile --no-loadscope-reorder

.PHONY: demo test lint types package compiled test-compiled conformance bench captures rule-names architecture site clean

demo: $(READY)
	$(BIN)/tsguard check fixtures/conv2d.py

test: $(READY)
	$(BIN)/python -m pytest $(PARALLEL)

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/vulture

types: $(READY)
	$(BIN)/mypy

package: $(READY)
	$(BIN)/python -m build --no-isolation

# With these gcc reaches across the files of the library.
ifeq ($(shell uname),Linux)
LINKED := CFLAGS="-flto=auto -fno-semantic-interposition" LDFLAGS="-flto=auto -O3"
endif

# A wheel for this Python and platform with the analysis compiled to C: of a copy of the sources in which dataclasses
# have their methods written out, beside one as people read it, which the tests run.
compiled: $(READY)
	rm -rf $(COMPILED) $(WRITTEN)
	$(BIN)/python -m build --sdist --outdir $(COMPILED)
	tar -xzf $(COMPILED)/*.tar.gz -C $(COMPILED) --strip-components 1
	cp -r $(COMPILED) $(WRITTEN)
	$(BIN)/python -m tools.written_dataclasses $(WRITTEN)
	HATCH_BUILD_HOOKS_ENABLE=1 $(LINKED) $(BIN)/python -m build --wheel --outdir dist $(WRITTEN)
	cd $(WRITTEN) && find . -name '*.so' -exec cp --parents {} $(CURDIR)/$(COMPILED) \;

test-compiled: compiled
	cd $(COMPILED) && PYTHONPATH=$(CURDIR)/$(COMPILED) $(CURDIR)/$(BIN)/python -m pytest $(PARALLEL)

conformance: $(READY)
	$(BIN)/python -m pytest -m slow tests/conformance

bench: $(READY)
	$(BIN)/python benchmarks/startup.py

# What README.md shows, printed anew.
captures: $(READY)
	$(BIN)/python tools/captures.py

# The type of all rule names, made anew from the pages.
rule-names: $(READY)
	$(BIN)/python -m tools.rule_names

# The tables of docs/architecture.md, made anew from the code.
architecture: $(READY)
	$(BIN)/python -m tools.architecture

# The documentation site, in build/site: strict, so that a broken link fails.
site: $(READY)
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

clean:
	rm -rf .venv build dist

$(READY): pyproject.toml constraints/dev.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
		{ echo "tsguard needs Python 3.10 or newer; say which with: make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints/dev.txt --editable '.[torch,dev]'
	@touch $@
