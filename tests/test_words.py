"""The words of the style guide: phrases that it replaces occur nowhere in what people read."""

import re
import runpy
from pathlib import Path

import pytest

TOOL = runpy.run_path(str(Path(__file__).parents[1] / "tools" / "count_words.py"))


def test_no_phrase_that_the_style_guide_replaces():
    found = {phrase: places for phrase, places in TOOL["count"]().items() if places}
    assert not found, (
        f"write instead: {[(TOOL['PHRASES'][phrase], places[:5]) for phrase, places in found.items()]}"
    )


@pytest.mark.parametrize(
    "text",
    [
        "one row a sample",
        "3 ms a step",
        "mend it",
        "safe and dear",
        "made anew",
        "it was broken off",
        "'x' is no number",
        "samples that no rule can do without",
        "does with fewer samples",
        "a thousand are no problem",
        "how the house is laid out",
        "whoever keeps account of samples apart",
        "the other way round than",
        "what lives there",
        "100 samples will do",
        "-1 for one a core",
        "would go on for ever",
        "give one number, or one for each feature",
        "cheap candidates come first",
    ],
)
def test_the_count_finds_them(text):
    assert any(re.search(phrase, text, re.IGNORECASE) for phrase in TOOL["PHRASES"])
