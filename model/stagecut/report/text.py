"""Text that is safe to print."""


def printable(text: str) -> str:
    r"""Return ``text`` with whatever a terminal could take as a command written as an escape.

    Examples
    --------
    >>> print(printable("\x1b[31mred"))
    \x1b[31mred
    """
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in text
    )
