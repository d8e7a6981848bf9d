"""The prose is checked like code: examples run and print what they show, commands and links exist."""

import contextlib
import doctest
import importlib
import inspect
import io
import linecache
import pkgutil
import re
import shlex
import warnings
from itertools import pairwise
from pathlib import Path

import pytest

import linkarms as la

ROOT = Path(__file__).parents[1]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "reference").glob("*.md")),
]
MODULES = sorted(m.name for m in pkgutil.walk_packages(la.__path__, "linkarms."))
PACKAGES = ["linkarms", *(name for name in MODULES if hasattr(importlib.import_module(name), "__path__"))]
SHOWN = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def by_name(path):
    return path.relative_to(ROOT).as_posix()


def blocks(text):
    """Language, first line and content of each fenced block."""
    return [(m[1], text.count("\n", 0, m.start(2)) + 1, m[2]) for m in FENCE.finditer(text)]


def prose(text):
    """The text without its blocks and its inline code."""
    return re.sub(r"`[^`\n]*`", "", FENCE.sub("", text))


def run_block(source, page, line, namespace):
    """Run one block and return what it printed; a traceback shows the page's own line."""
    filename = f"<{page}>"
    padded = "\n" * (line - 1) + source
    linecache.cache[filename] = (len(padded), None, padded.splitlines(keepends=True), filename)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(compile(padded, filename, "exec"), namespace)
    return printed.getvalue()


def same_output(shown, printed):
    """Whether the output is the one shown.

    On another processor a rounding error may change a choice of arm, and with it the number of samples at
    the stop: those may differ by a tenth.
    """
    counts = [[int(n) for n in re.findall(r"(\d+) samples", text)] for text in (shown, printed)]
    if len(counts[0]) != len(counts[1]):
        return False
    close = all(abs(a - b) <= 0.1 * a for a, b in zip(*counts, strict=True))
    shown, printed = (re.sub(r"\d+ samples", "# samples", text) or "\n" for text in (shown, printed))
    return close and doctest.OutputChecker().check_output(shown, printed, SHOWN)


def test_the_pages_have_examples():
    runnable = {by_name(p) for p in PAGES if any(b[0] == "python" for b in blocks(p.read_text("utf-8")))}
    assert {"README.md", "docs/start.md", "docs/families.md", "docs/add-your-own.md"} <= runnable
    assert len(PAGES) >= 11


@pytest.mark.parametrize("page", PAGES, ids=by_name)
def test_examples_run_and_print_what_is_shown(page, tmp_path, monkeypatch):
    """A ``text`` block right after a ``python`` block is its output; ``...`` stands for anything."""
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "__docs__"}
    found = blocks(page.read_text("utf-8"))
    for (language, line, source), after in pairwise([*found, ("", 0, "")]):
        if language != "python":
            continue
        printed = run_block(source, by_name(page), line, namespace)
        shown = after[2] if after[0] == "text" else ""
        assert same_output(shown, printed), f"{by_name(page)}:{line} shows\n{shown}\nand prints\n{printed}"


def reference():
    """The names that the pages of the API reference list, each with what it names."""
    found = {}
    for page in sorted((ROOT / "docs" / "reference").glob("*.md")):
        for text in re.findall(
            r"^```\{eval-rst\}\n(.*?)^```$", page.read_text("utf-8"), re.DOTALL | re.MULTILINE
        ):
            module = re.search(r"^\.\. currentmodule:: (\S+)$", text, re.MULTILINE)[1]
            for name in re.findall(r"^   (\w+)$", text, re.MULTILINE):
                found[f"{module}.{name}"] = getattr(importlib.import_module(module), name)
    return found


REFERENCE = reference()


@pytest.mark.parametrize("name", ["linkarms", *MODULES])
def test_docstring_examples(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(name)
    report = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=SHOWN)
    for test in doctest.DocTestFinder(exclude_empty=True).find(module, name):
        runner.run(test, out=report.write)
    assert runner.failures == 0, report.getvalue()


@pytest.mark.parametrize("name", REFERENCE)
def test_every_entry_of_the_reference_has_an_example_that_is_run(name):
    """A section that numpydoc shows, with code; `test_docstring_examples` runs it in the module that defines the name."""
    value = REFERENCE[name]
    text = inspect.getdoc(value)
    assert "\nExamples\n--------\n" in text
    parsed = doctest.DocTestParser().get_examples(text.partition("\nExamples\n--------\n")[2])
    assert any(not example.options.get(doctest.SKIP) for example in parsed)
    assert value.__module__ in MODULES


#: What a summary that is not an imperative begins with.
NOT_A_VERB = re.compile(
    r"(A|An|All|Any|As|By|For|From|How|If|In|No|None|Of|One|Only|Two|The|This|What|When|Where|Which|Why|With)\b|[\W\da-z]"
)


@pytest.mark.parametrize("name", REFERENCE)
def test_summaries_of_functions_begin_with_a_verb(name):
    """*Return the ...*, *Compute ...*: functions, and public methods that a class of the reference defines or inherits from us."""
    value = REFERENCE[name]
    functions = {name: value} if inspect.isfunction(value) else {}
    if inspect.isclass(value):
        for key, member in inspect.getmembers(value):
            member = getattr(member, "__func__", member)
            if (
                inspect.isfunction(member)
                and not key.startswith("_")
                and member.__module__.startswith("linkarms")
            ):
                functions[f"{name}.{key}"] = member
    for shown, function in functions.items():
        summary = (inspect.getdoc(function) or "").split("\n")[0]
        first = summary.split(" ")[0]
        assert summary, f"{shown} has no docstring"
        assert not NOT_A_VERB.match(summary), f"{shown}: {summary}"
        assert not first.endswith(("s", "ed", "ing")), f"{shown}: {summary}"


def test_everything_public_is_listed_in_the_reference():
    packages = [
        m
        for m in PACKAGES
        if m.rpartition(".")[2] not in ("alternatives", "bound", "cli", "engine", "notebook", "reproduction")
    ]
    modules = [
        *packages,
        "linkarms.campaign.conformance",
        "linkarms.client",
        "linkarms.linkage",
        "linkarms.regions",
        "linkarms.sklearn",
    ]
    listed = {id(value) for value in REFERENCE.values()}
    missing = [
        f"{module}.{name}"
        for module in modules
        for name in importlib.import_module(module).__all__
        for value in [getattr(importlib.import_module(module), name)]
        if (inspect.isclass(value) or inspect.isfunction(value)) and id(value) not in listed
    ]
    assert not missing, f"list {missing} on a page of docs/reference"


@pytest.mark.parametrize("package", PACKAGES)
def test_public_names_have_docstrings(package):
    module = importlib.import_module(package)
    assert (module.__doc__ or "").strip(), f"{package} has no docstring"
    for name in getattr(module, "__all__", []):
        value = getattr(module, name)
        if inspect.isclass(value) or inspect.isfunction(value) or inspect.ismodule(value):
            text = value.__doc__ or ""
            # a dataclass or a named tuple without a docstring gets its signature as one
            assert text.strip(), f"{package}.{name} has no docstring"
            assert not text.startswith(f"{name}("), f"{package}.{name} has no docstring of its own"


def slugs(page):
    """The anchors of a page's headings, as GitHub and MyST make them."""
    heads = re.findall(r"^#+ +(.+?) *$", FENCE.sub("", page.read_text("utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CHANGELOG.md"], ids=by_name)
def test_links_and_images_exist(page):
    targets = re.findall(r"\]\(([^)\s]+)\)", prose(page.read_text("utf-8")))
    for target in targets:
        if re.match(r"https?://|mailto:", target):
            continue
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        assert there.is_relative_to(ROOT), f"{by_name(page)} links outside the project: {target}"
        assert there.is_file(), f"{by_name(page)} links to {target}, which does not exist"
        if anchor:
            assert anchor in slugs(there), f"{by_name(page)} links to {target}, and there is no such heading"


def test_every_page_is_in_a_table_of_contents():
    """Pages of the user guide are listed in docs/guide.md; `make docs` fails on a page that no table of contents lists."""
    docs = ROOT / "docs"
    listed = {"index"}
    for page in docs.glob("*.md"):
        for kind, _, text in blocks(page.read_text("utf-8")):
            if kind == "" and page.stem in ("index", "guide", "theory", "contributing"):
                listed |= set(re.findall(r"^(?:.*<)?([\w/-]+)>?$", text, re.MULTILINE))
    missing = {p.stem for p in docs.glob("*.md")} - listed
    assert not missing, f"add {sorted(missing)} to a toctree of docs/guide.md"


@pytest.mark.parametrize("page", PAGES, ids=by_name)
def test_source_files_that_are_named_exist(page):
    places = [ROOT, ROOT / "src" / "linkarms", ROOT / "src", page.parent]
    for name in re.findall(r"`([\w./-]+\.(?:py|json))`", page.read_text("utf-8")):
        assert any((place / name).is_file() for place in places), (
            f"{by_name(page)} names {name}: no such file"
        )


@pytest.mark.parametrize("page", PAGES, ids=by_name)
def test_functions_that_are_named_in_a_file_exist(page):
    """``the/file.py`` followed by a comma and `name`: the file defines the name."""
    for file, name in re.findall(r"`([\w./-]+\.py)`, `(\w+)`", page.read_text("utf-8")):
        source = (ROOT / "src" / "linkarms" / file).read_text("utf-8")
        assert re.search(rf"^\s*(def|class) {name}\b", source, re.MULTILINE), f"{file} does not define {name}"


def commands(page):
    """The words of each ``linkarms`` or ``make`` command in a page's shell blocks."""
    lines = [
        line
        for language, _, text in blocks(page.read_text("utf-8"))
        if language == "bash"
        for line in text.replace("\\\n", " ").splitlines()
    ]
    return [words for words in (shlex.split(line, comments=True) for line in lines) if words]


def test_commands_exist():
    typer = pytest.importorskip("typer")
    from linkarms.cli._app import app

    known = {}
    for name, command in typer.main.get_command(app).commands.items():
        inner = getattr(command, "commands", None)
        known |= {name: command} if inner is None else {f"{name} {word}": c for word, c in inner.items()}
    seen = set()
    for page in PAGES:
        for program, *words in commands(page):
            if program != "linkarms":
                continue
            name = " ".join(words[:2]) if " ".join(words[:2]) in known else words[0]
            assert name in known, f"{by_name(page)}: there is no command linkarms {name}"
            options = {o for p in known[name].params for o in (*p.opts, *p.secondary_opts)} | {"--help"}
            used = {w.partition("=")[0] for w in words[1:] if re.match(r"--?[a-z]", w)}
            assert used <= options, f"{by_name(page)}: linkarms {name} has no {sorted(used - options)}"
            seen.add(name)
    assert seen == set(known)


def test_make_targets_exist():
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    used = {words[0] for page in PAGES for program, *words in commands(page) if program == "make"}
    text = "".join(page.read_text("utf-8") for page in PAGES)
    used |= set(re.findall(r"`make (\w+)`", text))
    assert {"demo", "test", "lint", "evidence"} <= used <= targets


def test_citation():
    lines = (ROOT / "CITATION.cff").read_text("utf-8").splitlines()
    top = dict(re.match(r"([\w-]+): ?(.*)", line).groups() for line in lines if re.match(r"[\w-]+:", line))
    assert all(re.match(r" *(- )?[\w-]+:( .+)?$| +- \S", line) for line in lines), "a line that is no YAML"
    assert "\t" not in "".join(lines)
    assert top["cff-version"] == "1.2.0"
    assert top["title"] == "linkarms"
    assert top["version"] == la.__version__
    assert top["license"] == "BSD-3-Clause"
    assert {"message", "authors", "references"} <= set(top)
    reference = "\n".join(lines[lines.index("references:") :])
    assert "Efficient Clustering in Stochastic Bandits" in reference
    assert re.findall(r"family-names: (\w+)", reference) == ["Chandran", "Reddy", "Bhashyam"]


def test_changelog_names_this_version_and_changed_decisions():
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    versions = re.findall(r"^## \[(.+?)\]", text, re.MULTILINE)
    assert versions[0] == "Unreleased"
    assert la.__version__ in versions
    assert all("### Changed decisions" in part for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:])


def test_the_table_of_the_paper_has_its_markers():
    text = (ROOT / "docs" / "reproduce.md").read_text("utf-8")
    assert re.search(
        r"^## Mean stopping times beside the paper\n.*^<!-- table: paper_figures -->\n.*^<!-- /table -->$",
        text,
        re.DOTALL | re.MULTILINE,
    )
