"""How a run's folder is closed, whoever closes it: keys taken out, unfinished tables removed, the end written down, the page."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evalbench.core.progress import forget
from evalbench.errors import BadInput
from evalbench.models.redact import redacted, redactor
from evalbench.readers.runs import ITEMS, NOTEBOOK, PAGE, RESULTS_JSON, RUN_JSON, read_json, read_results, write_json
from evalbench.report.narrative import signed_digests
from evalbench.report.render import render
from evalbench.runs import folder as folders
from evalbench.runs.kernel import Ended
from evalbench.runs.leaks import leaks, redact_errors


def close(folder: Path, begun: Mapping[str, Any], ended: Ended, seconds: float | None = None, key: str = "") -> Ended:
    """Make the folder of a run that has ended fit to be shown, and show it.

    - ``begun``: ``run.json`` as the run began. What it says is not the notebook's to change; what the notebook adds is
      kept.
    - ``key``: That the kernel had for its marks; what was drawn with another is shown as text.

    Returns: Failed where a file held a key, whatever ``ended`` said.
    """
    _mend(folder)
    was_at = forget(folder)
    folders.remove_parts(folder)
    redact_errors(folder / NOTEBOOK)
    if ended.status == "ok" and not (folder / RESULTS_JSON).is_file():
        ended = Ended("no-result", "the notebook ended without record(result), for example by sys.exit")
    if ended.status == "ok":
        ended = _with_whole_results(folder, ended)
    ended = _without_leaks(folder, ended)
    if ended.status != "ok":
        folders.remove_partial(folder)
    redact = redactor()
    ended = ended._replace(error=redact(ended.error))
    drawn = {"drawn": _drawn(folder / NOTEBOOK, key)} if key else {}
    end = {
        **drawn,
        "status": ended.status,
        "error": ended.error,
        **({"was_at": redact(was_at)} if was_at and ended.status != "ok" else {}),
        "finished": folders.now(),
        "seconds": None if seconds is None else round(seconds, 3),
        "peak_memory_mb": None if ended.peak_memory_mb is None else round(ended.peak_memory_mb, 1),
    }
    write_json(folder / RUN_JSON, redacted({**_added(folder), **begun, **end}, redact))
    render(folder)
    return ended


def _mend(folder: Path) -> None:
    """A notebook may have taken its folder away, or made folders of the files that are written or read here."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in (RUN_JSON, RESULTS_JSON, NOTEBOOK, PAGE):
        if (folder / name).is_dir():
            folders.remove(folder / name)


def _added(folder: Path) -> dict[str, Any]:
    """What the notebook has written into ``run.json``; nothing where it can no longer be read."""
    try:
        added = read_json(folder / RUN_JSON)
    except BadInput:
        return {}
    return {name: value for name, value in added.items() if name != "drawn"}


def _drawn(notebook: Path, key: str) -> list[str]:
    """Digests of the outputs that carry the run's mark; none where the notebook cannot be read, which its page says."""
    try:
        return signed_digests(read_json(notebook), key)
    except (BadInput, KeyError, TypeError, AttributeError):
        return []


def _with_whole_results(folder: Path, ended: Ended) -> Ended:
    """No result where ``results.json``, which the notebook may have written itself, is not what ``record`` writes."""
    try:
        results = read_results(folder)
    except BadInput as error:
        return ended._replace(status="no-result", error=str(error).replace(f"{folder}/", ""))
    named = [ITEMS, *results["tables"].values()]
    missing = [name for name in named if not (folder / name).is_file()]
    if missing:
        said = f"{RESULTS_JSON} is not what record(result) writes; missing: {', '.join(missing)}"
        return ended._replace(status="no-result", error=said)
    return ended


def _without_leaks(folder: Path, ended: Ended) -> Ended:
    """Remove every file that holds a key; such a run has failed."""
    try:
        found = leaks(folder)
    except Exception as error:  # noqa: BLE001 - what nobody has looked through is not shown; its words may hold the key
        for path in [path for path in folder.iterdir() if path.name != RUN_JSON]:
            folders.remove(path)
        said = f"the run's files could not be searched for keys and were removed ({type(error).__name__})"
        return ended._replace(status="failed", error=said)
    for file, _ in found:  # of a file in a folder the folder: its name may be what holds the key
        folders.remove(folder / file.relative_to(folder).parts[0])
    if not found:
        return ended
    said = ", ".join(f"{name} in {file.name}" for file, name in found)
    return ended._replace(
        status="failed", error=f"an API key was found in the run's files; the files were deleted: {said}"
    )


def end_orphans(reports: Path) -> list[Path]:
    """Turn ``running`` into ``died`` where the process that ran it on this machine is gone.

    Returns: The folders that were changed; their pages are rendered.
    """
    changed = []
    for folder, content in folders.runs(reports):
        if content.get("status") == "running" and content.get("host") == folders.host() and is_gone(content):
            close(folder, content, Ended("died", "the process that ran it is gone"))
            changed.append(folder)
    return changed


def is_gone(content: Mapping[str, Any]) -> bool:
    """Whether a run's process has ended, or its number belongs to a younger one."""
    import psutil

    try:
        born = psutil.Process(int(content["process"])).create_time()
        started = datetime.strptime(str(content["started"]), "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    except psutil.AccessDenied:
        return False
    except (psutil.NoSuchProcess, KeyError, TypeError, ValueError):
        return True
    return bool(born > started.timestamp() + 1)
