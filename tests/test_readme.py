"""What the README shows is what the code prints."""

import doctest
import re
from pathlib import Path

import pytest

from stagecut.cli import run

README = Path(__file__).resolve().parents[1] / "README.md"
if not README.exists():
    pytest.skip("needs the README beside the tests", allow_module_level=True)
TEXT = README.read_text()


def without_times(text):
    """The last column of the proof table, and trailing space, differ from run to run."""
    return [re.sub(r"\s+[\d.]+ s$", "", line).rstrip() for line in text.strip().splitlines()]


def test_library_call():
    failures, tried = doctest.testfile(str(README), module_relative=False)
    assert (failures, tried > 8) == (0, True)


SHOWN = re.findall(r"<!-- output of: stagecut (.+?) -->\n```\n(.+?)```", TEXT, re.DOTALL)


@pytest.mark.parametrize(("command", "shown"), SHOWN, ids=[command for command, _ in SHOWN])
def test_printed_output(command, shown, capsys):
    assert run(command.split()) == 0
    assert without_times(capsys.readouterr().out) == without_times(shown)


def test_bad_input_lines(capsys):
    shown = re.findall(r"^\$ stagecut (.+)\n(stagecut: .+)$", TEXT, re.MULTILINE)
    assert len(shown) == 2
    for command, line in shown:
        assert run(command.split()) == 2
        assert capsys.readouterr().err.strip() == line
