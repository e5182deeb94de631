"""Disks of a test's own, seen by nobody else."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest


def mounted(script: str, *arguments: Path | str) -> subprocess.CompletedProcess[str]:
    """Run a shell script where it may mount, seen by nobody else."""
    if shutil.which("unshare") is None:
        pytest.skip("unshare is not installed (Debian package util-linux).")
    root = [] if os.geteuid() == 0 else ["--map-root-user"]
    command = ["unshare", "--mount", *root, "sh", "-c"]
    tried = subprocess.run([*command, "mount --bind / /"], capture_output=True, check=False)
    if tried.returncode:
        pytest.skip("This system does not let us mount.")
    return subprocess.run(
        [*command, script, "sh", *map(str, arguments)], capture_output=True, text=True, check=False
    )
