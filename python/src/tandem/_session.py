"""A process of the program's library, driven by lines of JSON over its standard input and output."""

from __future__ import annotations

import atexit
import collections
import itertools
import json
import os
import pathlib
import queue
import subprocess
import tempfile
import threading
from collections.abc import Callable
from typing import Any

import numpy

from ._program import node, program_folder
from .errors import TandemError, error_from

# How long calls that were interrupted may take to end in order.
_GRACE_SECONDS = 10

OnProgress = Callable[[dict], None]


class Session:
    """One process. Calls may be made from several threads; each waits for its own answer."""

    def __init__(self) -> None:
        self._errors: collections.deque[str] = collections.deque(maxlen=20)
        self._answers: dict[int, queue.SimpleQueue] = {}
        self._listeners: dict[int, OnProgress] = {}
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._ended = False
        self._process = subprocess.Popen(
            [node(), str(program_folder() / "dist" / "program" / "stdio.cjs")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            # Ctrl-C at a terminal reaches this process alone, which ends calls in order.
            start_new_session=True,
        )
        threading.Thread(target=self._read_answers, daemon=True).start()
        threading.Thread(target=self._read_errors, daemon=True).start()

    @property
    def is_running(self) -> bool:
        return not self._ended and self._process.poll() is None

    def call(
        self, call: str, /, *, on_progress: OnProgress | None = None, listen: bool = False, **parameters: Any
    ) -> Any:
        """Makes a call and returns its result.

        With ``listen``, ``on_progress`` is called for what happens after the result too, from another thread.
        """
        number = next(self._numbers)
        answers: queue.SimpleQueue = queue.SimpleQueue()
        self._answers[number] = answers
        if listen and on_progress is not None:
            self._listeners[number] = on_progress
        try:
            self._send({"id": number, "call": call, **parameters})
            while True:
                answer = self._next(answers)
                if "result" in answer:
                    return answer["result"]
                if "error" in answer:
                    raise error_from(answer["error"])
                if on_progress is not None and not listen:
                    on_progress(answer["progress"])
        except KeyboardInterrupt:
            self._cancel(number, answers)
            raise
        finally:
            del self._answers[number]

    def tell(self, call: str, /, **parameters: Any) -> None:
        """Makes a call whose result nobody waits for."""
        self._send({"id": next(self._numbers), "call": call, **parameters})

    def close(self) -> None:
        """Ends the process, and with it whatever it was doing."""
        if self._process.poll() is None and self._process.stdin is not None:
            try:
                self._process.stdin.close()
                self._process.wait(_GRACE_SECONDS)
            except (OSError, subprocess.TimeoutExpired):
                self._process.kill()
        self._ended = True

    def _send(self, request: dict) -> None:
        line = json.dumps(request, allow_nan=False) + "\n"
        with self._lock:
            try:
                self._process.stdin.write(line)
                self._process.stdin.flush()
            except (OSError, ValueError):
                raise self._lost() from None

    def _next(self, answers: queue.SimpleQueue) -> dict:
        while True:
            try:
                # A wait without an end would not notice Ctrl-C on Windows.
                answer = answers.get(timeout=0.5)
            except queue.Empty:
                if self._ended and answers.empty():
                    raise self._lost() from None
                continue
            return answer

    def _cancel(self, number: int, answers: queue.SimpleQueue) -> None:
        """Ends a call; if that takes too long, the process."""
        try:
            self._send({"id": number, "call": "cancel", "request": number})
            deadline = threading.Event()
            timer = threading.Timer(_GRACE_SECONDS, deadline.set)
            timer.start()
            try:
                while not deadline.is_set() and self.is_running:
                    try:
                        answer = answers.get(timeout=0.2)
                    except queue.Empty:
                        continue
                    if "progress" not in answer:
                        return
            finally:
                timer.cancel()
        except TandemError:
            return
        self._process.kill()
        self._ended = True

    def _lost(self) -> TandemError:
        said = "\n".join(self._errors).strip()
        return TandemError("INTERNAL", f"the program has ended{': ' + said if said else ''}")

    def _read_answers(self) -> None:
        for line in self._process.stdout:
            answer = json.loads(line)
            number = answer.pop("id")
            listener = self._listeners.get(number)
            if "progress" in answer and listener is not None:
                listener(answer["progress"])
                continue
            waiting = self._answers.get(number)
            if waiting is not None:
                waiting.put(answer)
        self._ended = True

    def _read_errors(self) -> None:
        for line in self._process.stderr:
            self._errors.append(line.rstrip())


_shared: Session | None = None
_shared_pid = 0
_shared_lock = threading.Lock()


def shared_session() -> Session:
    """The session of this Python process for simulations and whole models."""
    global _shared, _shared_pid
    with _shared_lock:
        # A forked process must not use its parent's pipes.
        if _shared is None or _shared_pid != os.getpid() or not _shared.is_running:
            _shared, _shared_pid = Session(), os.getpid()
            atexit.register(_shared.close)
        return _shared


class Scratch:
    """A folder for the tables and numbers of one call, which only its owner can read; it is removed afterwards."""

    def __enter__(self) -> Scratch:
        self._folder = tempfile.TemporaryDirectory(prefix="tandem-")
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    def path(self, name: str) -> str:
        return str(pathlib.Path(self._folder.name) / name)

    def numbers(self, name: str = "out") -> numpy.ndarray:
        return numpy.fromfile(self.path(name), dtype=numpy.float64)
