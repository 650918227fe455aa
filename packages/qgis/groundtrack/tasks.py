"""Work in the background, so that the window stays responsive. The result, or the failure, arrives in the main thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from qgis.core import QgsApplication, QgsFeedback, QgsTask

from .errors import CanceledError

_running: set[_Task] = set()
"""QGIS deletes a task that Python does not hold."""


class _Task(QgsTask):
    def __init__(
        self,
        title: str,
        work: Callable[[QgsFeedback, Callable[[float], None]], Any],
        on_result: Callable[[Any], None],
        on_error: Callable[[BaseException], None],
    ) -> None:
        super().__init__(title, QgsTask.Flag.CanCancel)
        self._work, self._on_result, self._on_error = work, on_result, on_error
        self._feedback = QgsFeedback()
        self._result: Any = None
        self._error: BaseException | None = None

    def run(self) -> bool:
        try:
            self._result = self._work(self._feedback, self.setProgress)
        except BaseException as error:
            self._error = error
        return self._error is None

    def cancel(self) -> None:
        self._feedback.cancel()
        super().cancel()

    def finished(self, is_done: bool) -> None:
        _running.discard(self)
        if is_done and not self.isCanceled():
            self._on_result(self._result)
        else:
            self._on_error(self._error or CanceledError())


def run(
    title: str,
    work: Callable[[QgsFeedback, Callable[[float], None]], Any],
    on_result: Callable[[Any], None],
    on_error: Callable[[BaseException], None],
) -> QgsTask:
    task = _Task(title, work, on_result, on_error)
    _running.add(task)
    QgsApplication.taskManager().addTask(task)
    return task


def cancel_all() -> None:
    for task in list(_running):
        task.cancel()
