"""The command line: ``stagecut solve | check | convert | examples``."""

import os
import sys

from stagecut.errors import StagecutError

__all__ = ["main"]

OK, INFEASIBLE, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit: 0 success, 1 infeasible, 2 bad input, 130 interrupted."""
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))


def run(arguments: list[str]) -> int:
    """Run one command and return its exit code; bad input is one line on standard error."""
    from stagecut.cli.app import UsageError, app

    try:
        code = app(arguments, standalone_mode=False, prog_name="stagecut")
        sys.stdout.flush()
        return int(code or OK)
    except UsageError as error:
        return _refuse(getattr(error, "format_message", error.__str__)())
    except StagecutError as error:
        return _refuse(str(error))
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except KeyboardInterrupt:
        print("stagecut: interrupted", file=sys.stderr)
        return INTERRUPTED


def _refuse(message: str) -> int:
    print(f"stagecut: {' '.join(message.split())}", file=sys.stderr)
    return BAD_INPUT
