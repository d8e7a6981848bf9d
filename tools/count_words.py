"""Count phrases that the style guide replaces: ``python tools/count_words.py [REVISION]`` prints how often each occurs, and where.

Without a revision the files on disk are read, otherwise those of the git revision. Documentation counts, and so do docstrings, comments and
messages in the source. Names of other people's things (a program called ``dear``) do not occur, so every match is one to fix.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
#: A phrase as a regular expression, and what to write instead.
PHRASES = {
    r"\b(one|row|ms|µs|MB|number|numbers|samples?|pull|pulls|draws?|seconds?|merge|line|file|entry|function|stream|covariance|tells|"
    r"commits|tracebacks) an? (sample|step|arm|row|pull|trial|run|merge|delta|pair|rule|line|campaign|second|minute|core|curve|category)\b"
    r"(?!\s+(is|are|was|that|of|needs|takes|keeps))|\btime a sample\b": "per",
    r"\bmend(s|ed|ing)?\b": "fix, correct",
    r"\bdear(er|est)?\b": "expensive",
    r"\banew\b": "again",
    r"\bbroken off\b": "interrupted",
    r"(?<!there )\b(is|are|was|were) no (arms?|numbers?|parameters?|errors?|sample|partition|family)\b": "is not a",
    r"\b(so that|and) (it|they|he) cannot be dumped\b": "cannot be serialised",
    r"\b(can|could|to|would|will|cannot) do without\b|\bdo(es)? with fewer\b": "needs fewer, can be omitted",
    r"\bare no problem\b": "it handles",
    r"\b(house|doors?|_?ROOMS)\b|\b(inside a|each) rooms?\b(?! (for|between|to|that|is left))": "package, module, entry point",
    r"\bwhoever\b": "callers that",
    r"\bthe other way round\b": "the reverse",
    r"\buntil it is that itself\b|\bkeeps? account\b": "name the thing",
    r"\blives? in\b|\bwhat lives\b|\bstands? on top\b": "is in",
    r"\bfor ever\b|\bcounted apart\b|\bin the place of\b": "forever, separately, in place of",
    r"\bsamples (would|will) do\b": "are enough",
    r"\bone for each (arm|feature|coordinate|category|row)\b|[;,] (give|or) one for each\b(?! of)": "one per arm",
    r"\bcheap (candidates?|alternatives?)\b": "low-cost",
    r"\bhow (it|a campaign) stands\b": "the state",
}
#: Where a phrase is right: the example of sensors in rooms, and this script.
EXCEPT = {"tools/count_words.py", "examples/unknown_noise.py"}
#: The table of CONTRIBUTING.md that names the phrases.
QUOTED = re.compile(r"<!-- words -->.*?<!-- /words -->", re.DOTALL)
KINDS = ("*.md", "*.py", "*.rst", "*.hpp", "*.cpp", "*.js", "*.html")


def files(revision: str | None) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each file that people read."""
    if revision or (ROOT / ".git").exists():
        listed = ["git", "ls-tree", "-r", "--name-only", revision] if revision else ["git", "ls-files"]
        names = subprocess.run(
            listed, cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout.splitlines()
    else:  # an sdist
        names = [path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.*") if path.is_file()]
    for name in names:
        if name in EXCEPT or not any(Path(name).match(kind) for kind in KINDS) or name.startswith("tests/"):
            continue
        if revision:
            shown = subprocess.run(
                ["git", "show", f"{revision}:{name}"], cwd=ROOT, capture_output=True, check=True
            )
            yield name, shown.stdout.decode("utf-8")
        elif (ROOT / name).is_file():
            yield name, (ROOT / name).read_text("utf-8")


def count(revision: str | None = None) -> dict[str, list[str]]:
    """Return the places of each phrase, as ``file:line: text``."""
    places: dict[str, list[str]] = {phrase: [] for phrase in PHRASES}
    for name, text in files(revision):
        text = QUOTED.sub(lambda quoted: "\n" * quoted[0].count("\n"), text)
        for phrase, found in places.items():
            for match in re.finditer(phrase, text, re.IGNORECASE):
                line = text.count("\n", 0, match.start()) + 1
                found.append(f"{name}:{line}: {' '.join(match[0].split())}")
    return places


if __name__ == "__main__":
    places = count(sys.argv[1] if len(sys.argv) > 1 else None)
    for phrase, found in places.items():
        print(f"{len(found):5}  {PHRASES[phrase]:35}  {phrase[:60]}")
        if len(sys.argv) == 1:
            print("".join(f"         {place}\n" for place in found), end="")
    print(f"{sum(map(len, places.values())):5}  in all")
