"""What the tests of PostgreSQL share."""

from __future__ import annotations

from typing import Any

from dproo import engines


def counted(data: Any, table: Any = "ward.visits", column: str = "code") -> list[int]:
    return list(engines.count(data, alphabet=["a", "b"], column=column, table=table))


def role_of(url: str, name: str, **settings: str) -> str:
    options = "%20".join(f"-c%20{key}%3D{value}" for key, value in settings.items())
    return url.replace("user=dproo", f"user={name}") + (f"&options={options}" if options else "")
