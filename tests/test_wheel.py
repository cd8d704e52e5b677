"""A wheel gives everything to run: in a bare environment, away from the checkout.  An editable clone is found beside itself."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest
from documents import blocks, shell
from installed import NOT_THE_CHECKOUT_S, UV, done

from evalbench.workbench import own_files

ROOT = Path(__file__).resolve().parents[1]


def test_the_folder_above_a_clone_imports_the_package(tmp_path: Path) -> None:
    (tmp_path / "evalbench").symlink_to(ROOT)
    code = "import evalbench; print(evalbench.__file__); from evalbench import load, matching"
    found = done(sys.executable, "-c", code, cwd=tmp_path).strip()
    assert Path(found).resolve() == ROOT / "evalbench" / "__init__.py"


@pytest.mark.slow
@pytest.mark.skipif(not (shutil.which("make") and UV.exists()), reason="not on this platform: there is no make or uv")
def test_an_installed_wheel_lays_out_runs_and_compares(tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    shutil.copytree(ROOT, clone, ignore=NOT_THE_CHECKOUT_S)
    (clone / "build" / "lib" / "evalbench").mkdir(parents=True)
    (clone / "build" / "lib" / "evalbench" / "of_an_earlier_build.py").write_text("")
    done("make", "wheel", f"VENV={UV.parents[1]}", cwd=clone)
    (wheel,) = (clone / "dist").glob("*.whl")
    (tmp_path / "dist").mkdir()
    shutil.move(wheel, tmp_path / "dist")

    bare, python = tmp_path / "bare", tmp_path / "bare" / "bin" / "python"
    done(UV, "venv", "--quiet", "--seed", "--python", sys.executable, bare, cwd=tmp_path)
    # What the wheel needs is there before pip looks for it, since uv keeps what it once had.
    packages = [clone / "pyproject.toml", "-c", clone / "constraints.txt"]
    done(UV, "pip", "install", "--quiet", "--python", python, "-r", *packages, cwd=tmp_path)
    shutil.rmtree(clone)
    (tmp_path / "home").mkdir()
    said = shell(blocks("README.md", "Five minutes")[2], tmp_path, home=tmp_path / "home", path=bare / "bin")
    assert "4 runs: 4 ok, 0 failed" in said
    shipped = Path(done(python, "-c", "import evalbench.workbench as w; print(w.root())", cwd=tmp_path).strip())
    assert shipped.is_relative_to(bare)
    files = [p for p in shipped.rglob("*") if p.is_file() and p.parent.name != "__pycache__"]  # pip compiles scripts
    listed = {p.relative_to(shipped).as_posix(): p.read_bytes() for p in files}
    assert listed == {name: path.read_bytes() for name, path in own_files().items()}
    assert not (shipped.parent / "of_an_earlier_build.py").exists()
    hashed = "from evalbench.runs.provenance import package_hash as h; print(h())"
    assert done(python, "-c", hashed, cwd=tmp_path) == done(sys.executable, "-c", hashed, cwd=tmp_path)

    evalbench = bare / "bin" / "evalbench"
    outside = json.loads(done(evalbench, "run", "matching", "-p", "embed=jaccard", "--json", cwd=tmp_path))
    assert Path(outside["folder"]).is_relative_to(tmp_path / "reports")
    bench = tmp_path / "mine"
    assert done(evalbench, "list", cwd=bench).count("@1.1.0") >= 6
    run = json.loads(done(evalbench, "run", "matching", "--json", cwd=bench))
    assert Path(run["folder"]).is_relative_to(bench / "reports" / "matching")
    left, right = sorted((bench / "reports" / "matching").iterdir())[:2]
    assert "comparison" in done(evalbench, "compare", left, right, cwd=bench)
    assert "index.html" in done(evalbench, "index", cwd=bench)
    page = Path(run["folder"]) / "report.html"
    assert page.stat().st_size > 50_000
