"""The build of the wheel: notebooks, sample data and documents of the checkout go into it, as ``evalbench/shipped``."""

from __future__ import annotations

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
# As in evalbench/workbench.py; tests/test_wheel.py compares what both lead to.
SHIPPED = (
    "notebooks/*.ipynb",
    "data/**/*",
    "docs/*.schema.json",
    "docs/batches.md",
    "docs/comparing.md",
    "docs/data.md",
    "docs/glossary.md",
    "docs/images/label.png",
    "docs/judges.md",
    "docs/methods.md",
    "docs/models.md",
    "docs/monitoring.md",
    "docs/running.md",
    "docs/start.md",
    "scripts/metrics/*.py",
)


class WithShipped(build_py):
    """The package's own files, then the shipped ones; an editable installation reads these where they are."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        target = Path(self.build_lib) / "evalbench" / "shipped"
        shutil.rmtree(target, ignore_errors=True)
        for file in sorted({path for pattern in SHIPPED for path in ROOT.glob(pattern) if path.is_file()}):
            place = target / file.relative_to(ROOT)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, place)


setup(cmdclass={"build_py": WithShipped})
