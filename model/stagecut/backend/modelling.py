"""Time limits and memory management while PuLP builds and hands over a model in Python.

A large model takes seconds before any solver sees it, and a time limit counts them too.
"""

import contextlib
import ctypes
import gc
import threading
from collections.abc import Iterator


class OutOfTimeError(BaseException):
    """The deadline came while Python code was running.

    Not an ``Exception``, so that no library's handler takes it for an error of its own.
    """


@contextlib.contextmanager
def modelling(seconds: float | None) -> Iterator[None]:
    """Run Python code for at most ``seconds``, with the garbage collector at rest.

    Building makes a great many objects and no cycles: the collector's walks over them would take
    half of the time.

    Raises
    ------
    OutOfTimeError
        In the code inside, as soon as it runs Python after the deadline.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        with _alarm(seconds):
            yield
    finally:
        if was_enabled:
            gc.enable()


@contextlib.contextmanager
def _alarm(seconds: float | None) -> Iterator[None]:
    if seconds is None:
        yield
        return
    caller, lock = ctypes.c_ulong(threading.get_ident()), threading.Lock()
    active, has_rung = True, False
    throw = ctypes.pythonapi.PyThreadState_SetAsyncExc

    def ring() -> None:
        nonlocal has_rung
        with lock:
            if active:
                has_rung = True
                throw(caller, ctypes.py_object(OutOfTimeError))

    timer = threading.Timer(max(seconds, 0.0), ring)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        with lock:
            active = False
            if has_rung:  # takes back what has not been raised yet; not an outer alarm's
                throw(caller, None)
