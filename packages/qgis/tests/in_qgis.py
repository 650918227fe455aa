"""Run by QGIS itself (`qgis --code`): runs the tests in its window, writes what happened, and ends QGIS."""

from __future__ import annotations

import os
import platform
import sys
import traceback
import unittest
from types import TracebackType

from qgis.core import Qgis
from qgis.PyQt.QtCore import QTimer, qVersion

sys.path.insert(0, os.environ["GROUNDTRACK_TESTS"])


def main() -> None:
    code = 1
    import support

    def unforeseen(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        """QGIS would open a dialog and wait for somebody to close it."""
        support.messages.append("".join(traceback.format_exception(kind, error, trace)))

    sys.excepthook = unforeseen
    with open(os.environ["GROUNDTRACK_REPORT"], "a", encoding="utf-8", buffering=1) as report:
        report.write(f"QGIS {Qgis.version()}, Qt {qVersion()}, Python {platform.python_version()}\n")
        try:
            if os.environ.get("GROUNDTRACK_PICTURES"):
                import pictures

                pictures.take(os.environ["GROUNDTRACK_PICTURES"])
                code = 0
            else:
                import test_interruptions
                import test_plugin

                names = os.environ.get("GROUNDTRACK_ONLY", "").split()
                load = unittest.TestLoader()
                suite = unittest.TestSuite()
                for module in (test_interruptions, test_plugin):
                    chosen = [name for name in names if hasattr(module, name.split(".")[0])]
                    suite.addTests(load.loadTestsFromNames(chosen, module) if names else load.loadTestsFromModule(module))
                result = unittest.TextTestRunner(report, verbosity=2, failfast=not names).run(suite)
                code = 0 if result.wasSuccessful() and result.testsRun > 0 and not result.skipped else 1
        except BaseException:
            report.write(traceback.format_exc())
        report.write(f"\nexit {code}\n")
    os._exit(code)  # QGIS would ask whether to save the project.


QTimer.singleShot(0, main)
