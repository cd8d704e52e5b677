"""HELM: a run folder with ``run_spec.json``, ``scenario_state.json``, ``per_instance_stats.json`` and ``stats.json``.

Instances are joined on id, train trial and perturbation.  Scores are the statistics that the run's specification names; the
tool's figures are compared split by split, those without a perturbation.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from evalbench.errors import BadInput
from evalbench.readers.tools.probe import Probe
from evalbench.readers.tools.safe import document, mapping, objects, sequence
from evalbench.readers.tools.shapes import (
    UNSCORED,
    Figure,
    Row,
    Run,
    Score,
    metadata_columns,
    number_of,
    present,
    question_hash,
    text_of,
    whole_of,
)

NAME = "helm"
FILES = "run folder with scenario_state.json and per_instance_stats.json"
NEEDED = ("scenario_state.json", "per_instance_stats.json")
NO_SCORE = "helm: no value"
_CORRECT = "correct"

Key = tuple[str, int, str]


def recognises(look: Probe) -> bool:
    """Whether a folder holds the files of a run."""
    return look.form == "folder" and all((look.path / name).is_file() for name in NEEDED)


def refused(look: Probe) -> str:
    """Why a single file of a run is not read."""
    if look.form == "document" and ("request_states" in look.keys or {"instance_id", "stats"} <= look.keys):
        return f"one file of a HELM run; import its folder, {look.path.parent}"
    return ""


def read(look: Probe) -> Run:
    """The instances of a run.

    Raises ``BadInput`` if a file of the run is missing or is not what its name says.
    """
    if look.form != "folder":
        raise BadInput(f"{look.path}: {refused(look) or 'not a folder of a HELM run'}")
    state = mapping(document(look.path / NEEDED[0]))
    spec = _optional(look.path / "run_spec.json")
    adapter = mapping(spec.get("adapter_spec") or state.get("adapter_spec"))
    stats = _by_instance(objects(document(look.path / NEEDED[1])))
    present_names = {name for found in stats.values() for name in found}
    asked = [str(n) for s in objects(spec.get("metric_specs")) for n in sequence(mapping(s.get("args")).get("names"))]
    names = [name for name in dict.fromkeys(asked) if name in present_names]
    run = Run(NAME, iter(()), model=str(adapter.get("model") or ""), task=str(spec.get("name") or "").partition(":")[0])
    if not names:
        names = sorted(name for name in present_names if not _technical(name))
        run.assumed.append(f"the scores are {', '.join(names)}: the run's specification names none")
    if absent := [name for name in dict.fromkeys(asked) if name not in present_names]:
        run.notes.append(f"named by the run's specification, without a value for any instance: {', '.join(absent)}")
    run.left_aside.update(name for name in sorted(present_names) if name not in names)
    sums: dict[tuple[str, str], list[float]] = defaultdict(list)
    states = objects(state.get("request_states"))
    changed = any(mapping(s.get("instance")).get("perturbation") for s in states)
    if changed:
        run.notes.append(
            "some rows are perturbed copies of others (perturbation, instance_id), which HELM's own figures leave out"
        )
    run.rows = _each(states, stats, names, sums)
    whole = objects(document(look.path / "stats.json")) if (look.path / "stats.json").is_file() else []
    run.figures = lambda tally: _figures(whole, names, sums, run.model, changed)
    return run


def _optional(path: Path) -> dict[str, Any]:
    return mapping(document(path)) if path.is_file() else {}


def _technical(name: str) -> bool:
    parts = (
        "num_",
        "inference_",
        "training_",
        "finish_reason_",
        "batch_size",
        "prompt_truncated",
        "logprob",
        "max_prob",
        "none_",
    )
    return "@" in name or name.startswith(parts)


def _perturbation(value: Any) -> str:
    """A perturbation as text: its name, with what else it has; empty for none."""
    given = mapping(value)
    return text_of({k: v for k, v in given.items() if k not in ("computed_on",)}) if given else ""


def _by_instance(entries: Sequence[Mapping[str, Any]]) -> dict[Key, dict[str, float | None]]:
    """Key → statistic → its mean; None where it counted nothing."""
    out: dict[Key, dict[str, float | None]] = {}
    for entry in entries:
        key = (
            str(entry.get("instance_id")),
            whole_of(entry.get("train_trial_index")),
            _perturbation(entry.get("perturbation")),
        )
        found = out.setdefault(key, {})
        for stat in objects(entry.get("stats")):
            name = mapping(stat.get("name"))
            if _perturbation(name.get("perturbation")) in ("", key[2]):
                found[str(name.get("name"))] = number_of(stat.get("mean")) if stat.get("count") else None
    return out


def _each(
    states: Sequence[Mapping[str, Any]],
    stats: Mapping[Key, Mapping[str, float | None]],
    names: Sequence[str],
    sums: dict[tuple[str, str], list[float]],
) -> Iterator[Row]:
    grouped: dict[Key, list[Mapping[str, Any]]] = defaultdict(list)
    for state in states:
        instance = mapping(state.get("instance"))
        trial = whole_of(state.get("train_trial_index"))
        grouped[str(instance.get("id")), trial, _perturbation(instance.get("perturbation"))].append(state)
    repeated = len({trial for _, trial, _ in grouped}) > 1
    for key, group in grouped.items():
        found = stats.get(key, {})
        scores = [Score(name, found.get(name), "" if found.get(name) is not None else NO_SCORE) for name in names]
        item = _item(key, group, repeated)
        if not key[2]:
            for score in scores:
                if score.value is not None:
                    sums[score.metric, str(item.get("split") or "")].append(score.value)
        yield Row(item, scores, [verdict for state in group for verdict in _verdicts(state)])


def _item(key: Key, group: Sequence[Mapping[str, Any]], repeated: bool) -> dict[str, Any]:
    instance = mapping(group[0].get("instance"))
    asked = mapping(instance.get("input")).get("text") or ""
    changed = mapping(instance.get("perturbation"))
    name = f"{key[0]}/{changed.get('name') or 'perturbed'}" if key[2] else key[0]
    seed = changed.get("seed")
    item: dict[str, Any] = {"id": f"{name}/{seed}" if key[2] and seed is not None else name}
    item |= present(trial=key[1] + 1 if repeated else None, split=instance.get("split"))
    item |= {"question_hash": question_hash(asked), **_answer(group)}
    right = [
        mapping(reference.get("output")).get("text")
        for reference in objects(instance.get("references"))
        if _CORRECT in sequence(reference.get("tags"))
    ]
    item["reference"] = right[0] if len(right) == 1 else right or None
    if asked != item["question"]:
        item["metadata_question"] = asked
    if key[2]:
        item |= {"instance_id": key[0], "perturbation": str(changed.get("name") or key[2])}
    return item | {k: v for k, v in metadata_columns(mapping(instance.get("extra_data"))).items() if k not in item}


def _answer(group: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Request, answer and what became of it; of one request per reference the likeliest one's reference is the answer."""
    state = max(group, key=_likelihood) if len(group) > 1 else group[0]
    result = mapping(state.get("result"))
    said = [entry.get("text") for entry in objects(result.get("completions"))]
    texts = [text for text in said if isinstance(text, str)]
    output = texts[0] if texts and result.get("success") is not False else None
    out: dict[str, Any] = {"question": text_of(mapping(state.get("request")).get("prompt") or ""), "answer": output}
    letters = mapping(state.get("output_mapping"))
    if len(group) > 1:
        references = objects(mapping(state.get("instance")).get("references"))
        place = state.get("reference_index")
        if isinstance(place, int) and 0 <= place < len(references):
            out["answer"] = mapping(references[place].get("output")).get("text")
    elif output is not None and output.strip() in letters:
        out |= {"answer": text_of(letters[output.strip()]), "raw_answer": output}
    if letters:
        out["choices"] = [text_of(value) for value in letters.values()]
    if len(texts) > 1 and len(group) == 1:
        out["samples"] = texts
    failed = result.get("error") if result.get("success") is False else None
    return out | present(error=text_of(failed) if failed else None, seconds=number_of(result.get("request_time")))


def _likelihood(state: Mapping[str, Any]) -> float:
    completions = objects(mapping(state.get("result")).get("completions"))
    found = number_of(completions[0].get("logprob")) if completions else None
    return float("-inf") if found is None else found


def _verdicts(state: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The verdicts among the annotations: objects with a score, whether one per annotator or one per judge."""
    for annotator, value in mapping(state.get("annotations")).items():
        inner = (
            {annotator: value}
            if "score" in mapping(value)
            else {k: v for k, v in mapping(value).items() if "score" in mapping(v)}
        )
        for judge, said in inner.items():
            mark = number_of(mapping(said).get("score"))
            reason = mapping(said).get("reasoning") or mapping(said).get("explanation") or mapping(said).get("reason")
            yield {
                "judge": judge, "criterion": annotator, "mark": mark, "label": "", "reason": str(reason or ""),
                "unscored": UNSCORED if mark is None else "", "detail": "" if mark is not None else "helm: the annotation has no score",
            }  # fmt: skip


def _figures(
    stats: Sequence[Mapping[str, Any]],
    names: Sequence[str],
    sums: Mapping[tuple[str, str], Sequence[float]],
    model: str,
    changed: bool,
) -> Iterator[Figure]:
    unperturbed = {"perturbation": ""} if changed else {}
    for stat in stats:
        name = mapping(stat.get("name"))
        metric, split = str(name.get("name")), str(name.get("split") or "")
        if metric not in names or name.get("perturbation") or name.get("sub_split") or (metric, split) not in sums:
            continue
        values, tool = sums[metric, split], number_of(stat.get("mean")) if stat.get("count") else None
        ours = sum(values) / len(values)
        agrees = tool is not None and abs(tool - ours) <= 1e-9
        reason = ("", "") if agrees else ("other", "the tool's figure is not the mean over the instances of the split")
        yield Figure(
            metric,
            "stats.json, by split",
            tool,
            ours,
            len(values),
            *reason,
            model=model,
            slice={"split": split, **unperturbed},
        )
