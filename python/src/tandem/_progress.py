"""Progress of a job: a bar in notebooks and terminals."""

from __future__ import annotations

import sys
from collections.abc import Callable

Progress = bool | Callable[[dict], None]


class ProgressBar:
    """Shows trees and the newest metric. With tqdm installed it is tqdm's bar, otherwise a line that is rewritten."""

    def __init__(self) -> None:
        self._bar = None
        self._width = 0
        self._is_line_open = False

    def __call__(self, step: dict) -> None:
        kind = step["type"]
        if kind == "tree" and "metrics" in step:
            self._show(step)
        elif kind == "notice":
            print(f"tandem: {step['message']}", file=sys.stderr)
        elif kind == "waiting":
            print(f"tandem: waiting: {step['message']}", file=sys.stderr)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
        elif self._is_line_open:
            print(file=sys.stderr)

    def _show(self, step: dict) -> None:
        done, total = step["treesDone"], step["treeCount"]
        rows = step["metrics"].get("validation") or step["metrics"]["train"]
        metric = ", ".join(f"{name} {value:.4f}" for name, value in rows.items() if value is not None)
        try:
            from tqdm.auto import tqdm
        except ImportError:
            line = f"\rtandem: tree {done} of {total}, {metric}"
            print(line.ljust(self._width), end="", file=sys.stderr, flush=True)
            self._width, self._is_line_open = len(line), True
            return
        if self._bar is None:
            self._bar = tqdm(total=total, unit="tree", desc="tandem")
        self._bar.set_postfix_str(metric, refresh=False)
        self._bar.update(done - self._bar.n)


class Reporting:
    """``with Reporting(progress) as on_progress``: a bar, nothing, or the caller's own function."""

    def __init__(self, progress: Progress | None) -> None:
        if progress is None:
            progress = sys.stderr.isatty() or "ipykernel" in sys.modules
        self._bar = ProgressBar() if progress is True else None
        self._function = progress if callable(progress) else self._bar

    def __enter__(self) -> Callable[[dict], None] | None:
        return self._function

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
