"""Libraries and memory: obtained before a charge, or the release is refused.

A C library that is loaded when memory is short, or interrupted while it loads, may end the whole
process. So the memory is checked first, and the library is loaded where no interrupt arrives.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from importlib import import_module
from mmap import mmap
from types import ModuleType
from typing import Any

from dproo.counting.boundary import apart
from dproo.errors import UnpreparedError

MEBIBYTE = 1 << 20
LIBRARY = 384
"""Mebibytes of addresses that a library may take; unused addresses cost nothing."""


def load(name: str, *, extra: str = "", room: int = LIBRARY) -> ModuleType:
    """Return a library, loading it if necessary.

    Args:
        name: the name of the module.
        extra: this package's extra that installs it, if it is optional.
        room: the mebibytes of addresses that must be free for it.
    """
    if (ready := loaded(name)) is not None:
        return ready
    require_room(room)
    found, failure = None, ""
    try:
        found = apart(lambda: import_module(name))
    except MemoryError:
        failure = (
            "the release cannot be prepared: there is too little memory; free some, or raise the"
            " limit (ulimit -v). Nothing was read or charged."
        )
    except Exception as error:  # noqa: BLE001 - a library may fail in any way
        is_missing = isinstance(error, ModuleNotFoundError) and name.startswith(error.name or " ")
        library = name.partition(".")[0]
        if is_missing and extra:
            failure = f"{library} must be installed for this: pip install 'dproo[{extra}]'."
        else:
            failure = (
                f"the release cannot be prepared: {library} cannot be loaded; install it again."
                " Nothing was read or charged."
            )
    if found is None:
        raise UnpreparedError(failure)
    return found


class Lazy:
    """An optional library, which is imported where it is first used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._name), name)


def loaded(name: str) -> ModuleType | None:
    """Return a library if it has been loaded, to its end: another thread may still be at it."""
    found = sys.modules.get(name)
    is_begun = getattr(getattr(found, "__spec__", None), "_initializing", False)
    return None if is_begun else found


def require_room(mebibytes: int) -> None:
    """Refuse if a limit on addresses leaves less than this; without a limit, always pass."""
    if not _is_limited():
        return
    try:
        mmap(-1, mebibytes * MEBIBYTE).close()
    except (OSError, MemoryError):
        pass
    else:
        return
    raise UnpreparedError(
        f"the release cannot be prepared: it needs {mebibytes:,} MiB of addresses, and the limit"
        " leaves less; raise it (ulimit -v). Nothing was read or charged."
    )


def _is_limited() -> bool:
    with suppress(ImportError, OSError, ValueError):  # not a POSIX system
        import resource  # noqa: PLC0415 - only POSIX has it

        return resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY
    return False
