"""Examples in the documentation print what it says."""

import doctest
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGES = sorted(page.name for page in DOCS.glob("*.md") if ">>>" in page.read_text())
if not PAGES:
    pytest.skip("needs the documentation beside the tests", allow_module_level=True)


@pytest.mark.parametrize("page", PAGES)
def test_examples(page):
    failures, tried = doctest.testfile(str(DOCS / page), module_relative=False)
    assert (failures, tried > 0) == (0, True)
