"""The command line: ``stagecut solve | front | check | model | convert | examples``."""

import contextlib
import io
import os
import sys

from stagecut.backend import leave
from stagecut.errors import StagecutError

__all__ = ["main"]

OK, INFEASIBLE, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit.

    The exit code is 0 for success, 1 for no plan, a plan that fails its check or solvers that
    disagree, 2 for bad input or output that cannot be written, and 130 for an interrupt that leaves
    no plan.
    """
    _open_streams()
    leave(run(sys.argv[1:] if arguments is None else arguments))


def run(arguments: list[str]) -> int:
    """Run one command and return its exit code; bad input is one line on standard error."""
    from stagecut.cli.app import Abort, UsageError, app

    try:
        code = int(app(arguments, standalone_mode=False, prog_name="stagecut") or OK)
        sys.stdout.flush()
    except UsageError as error:
        return _refuse(getattr(error, "format_message", error.__str__)())
    except StagecutError as error:
        return _refuse(str(error))
    except (BrokenPipeError, SystemExit):  # typer and rich make the second of the first
        _drop_output()
        return OK
    except OSError as error:
        _drop_output()
        return _refuse(f"cannot write the output: {error.strerror or error}")
    except (KeyboardInterrupt, Abort):
        code = INTERRUPTED
    if code == INTERRUPTED:
        _tell("interrupted")
    return code


def _refuse(message: str) -> int:
    _tell(message)
    return BAD_INPUT


def _tell(message: str) -> None:
    """Print one line on standard error, if anyone can still read it."""
    from stagecut.report.text import printable

    with contextlib.suppress(OSError):
        print(f"stagecut: {printable(' '.join(message.split()))}", file=sys.stderr)


def _open_streams() -> None:
    """Let closed streams swallow what is printed, and odd characters be printed as escapes."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w"))  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _drop_output() -> None:
    """Let nothing more be written to standard output, not even at exit."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
