"""One row per answer, criterion and judge: mark, labels, and what every figure sums."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from evalbench import core
from evalbench.judge.families import related
from evalbench.studies.judge_audit import inputs, kinds

ZERO_ONE, ORDERED, GRADED, NOMINAL = "0/1", "ordered", "graded", "kinds"
MANY_ANNOTATORS = 40
"""With more annotators than this the k-th label of each answer stands for annotator k."""
MOST_LEVELS = 12
LABEL = "label_"
_BY_CHANCE = 0.01
NULL_ANSWER, PROBED = "the null answer", "asked as a probe only"
AGREE = ("agree_x", "agree_xx", "agree_y", "agree_yy", "agree_xy")
AMONG = ("among_y", "among_yy", "among_xy")
LENGTHS = ("mark", "length", "human")
OF_RANKS = tuple(f"length_{a}{b}" for i, a in enumerate(("m", "l", "h")) for b in ("m", "l", "h")[i:])


def items_of(readings: inputs.Readings, *, null_model: str, labels_drawn: str) -> tuple[pd.DataFrame, list[str]]:
    """One row per answer, criterion and judge, and notes.

    - ``null_model``: The model whose answers are one constant text; empty for none.
    - ``labels_drawn`` ({"random", "elsewhere", "probability"})
    """
    verdicts = readings.verdicts
    of_null = (verdicts["probe"] == "null") | ((verdicts["model"] == null_model) & (null_model != ""))
    plain, null = verdicts[(verdicts["probe"] == "") & ~of_null], verdicts[of_null]
    injected = verdicts[~of_null & (verdicts["probe"] == "injected")]
    items = _averaged(pd.concat([plain, null]) if len(plain) else verdicts, null_model)
    named = kinds.kinds_of(verdicts)
    scale = NOMINAL if named else items[inputs.CRITERION].map(_scales(plain, readings))
    items = items.assign(scale=scale)
    if named:
        key = ["judge", *inputs.KEYS]
        items["mark"] = kinds.most_common(plain, key).reindex(pd.MultiIndex.from_frame(items[key])).to_numpy()
    items, notes = _with_labels(items, readings)
    items["mark"] = np.where(items["scale"] == ZERO_ONE, _decided(items["mark"]), items["mark"])
    items = _with_raised(items, injected)
    aside = (items["undefined"] != "").to_numpy()
    outside = plain.loc[(plain["mark"] < 0) | (plain["mark"] > 1), inputs.CRITERION].unique()
    rated = (items["undefined"] == NULL_ANSWER) & ~items[inputs.CRITERION].isin(outside) & items["mark"].between(0, 1)
    items["null_mark"] = items.pop("effect").where(items["undefined"] == NULL_ANSWER).fillna(items["mark"].where(rated))
    for column in ("mark", "human", "first_slot", "inconsistent", "repeat_equal", "lost", *annotators_of(items)):
        items[column] = items[column].mask(aside)
    criteria = items[inputs.CRITERION].nunique()
    group = items["judge"] + (": " + items[inputs.CRITERION].replace("", "no criterion") if criteria > 1 else "")
    items = items.rename(columns={"judge": "asked"}).assign(judge=group)
    items = items.sort_values(["judge", *inputs.KEYS], ignore_index=True)
    items = items.assign(**_outcomes(items, plain))
    for parts in (_agreement(items, len(named)), _correction(items, labels_drawn), _family(items)):
        items = pd.concat([items, pd.DataFrame(parts, index=items.index)], axis=1)
    items = items.assign(**_lengths(items))
    first = [
        "id",
        "judge",
        "asked",
        "model",
        "trial",
        inputs.CRITERION,
        "scale",
        "mark",
        "human",
        "unscored",
        "undefined",
    ]
    return items[[*first, *(c for c in items if c not in first)]], notes


def _averaged(verdicts: pd.DataFrame, null_model: str) -> pd.DataFrame:
    """Verdicts of an answer by one judge as one row: mean over orders and repeats, and what these show."""
    key = ["judge", *inputs.KEYS]
    given = verdicts.sort_values([*key, "order", "repeat", "mark"], kind="stable", ignore_index=True)
    groups = given.groupby(key, sort=True)
    reason = given.sort_values("unscored", kind="stable").groupby(key)["unscored"].agg("max")
    items = groups.agg(n=("mark", "size"), marked=("mark", "count"), mark=("mark", "mean"))
    asked = (given["unscored"] != core.budget.REASON).groupby([given[name] for name in key], sort=True).sum()
    items["lost"] = 1 - items["marked"] / asked.where(asked > 0)
    items["unscored"] = reason.where(items["marked"] == 0, "")
    null = given["model"].eq(null_model) & (null_model != "") | given["probe"].eq("null")
    probed = given["probe"].ne("")
    items["undefined"] = np.where(
        null.groupby([given[c] for c in key]).any().reindex(items.index),
        NULL_ANSWER,
        np.where(probed.groupby([given[c] for c in key]).all().reindex(items.index), PROBED, ""),
    )
    items.loc[items["unscored"] != "", "undefined"] = ""
    by_order = given.groupby([*key, "order"])["mark"].mean().unstack("order")
    ab, ba = (
        by_order[o].reindex(items.index) if o in by_order else pd.Series(np.nan, items.index) for o in ("ab", "ba")
    )
    items["first_slot"], items["inconsistent"] = core.probes.first_slot(ab, ba), core.probes.inconsistent(ab, ba)
    place = given.groupby([*key, "order"]).cumcount()
    repeats = given.assign(place=place).set_index([*key, "order", "place"])["mark"].unstack("place")
    equal = pd.Series(core.probes.equal_repeats(repeats.to_numpy(dtype=float)), repeats.index)
    items["repeat_equal"] = equal.groupby(level=key).mean().reindex(items.index)
    items["length"] = given.assign(length=_length(given)).groupby(key)["length"].mean()
    items["effect"] = groups["effect"].mean() if "effect" in given else np.nan
    for column in ("tokens", "seconds", "cost"):
        if column in given:
            items[column] = groups[column].sum(min_count=1)
    return items.drop(columns=["n", "marked"]).reset_index()


def _length(verdicts: pd.DataFrame) -> core.Floats:
    """The answer's length, in pairs less that of the other."""

    def of(length: str, text: str) -> core.Floats:
        written = verdicts[text].str.len().where(verdicts[text] != "").to_numpy(dtype=float)
        if length not in verdicts:
            return np.asarray(written)
        known = verdicts[length].to_numpy(dtype=float)
        return np.where(np.isnan(known), written, known)

    own, other = of("length", "answer"), of("length_other", "answer_other")
    return np.where(np.isnan(other), own, own - other) if (~np.isnan(other)).any() else own


def _scales(plain: pd.DataFrame, readings: inputs.Readings) -> dict[str, str]:
    """What kind of marks each criterion has."""
    found = {}
    for criterion in readings.verdicts[inputs.CRITERION].unique():
        marks = plain.loc[plain[inputs.CRITERION] == criterion, "mark"].dropna().unique()
        labels = readings.labels
        own = (
            labels["mark"]
            if inputs.CRITERION not in readings.on
            else labels.loc[labels[inputs.CRITERION] == criterion, "mark"]
        )
        levels = np.union1d(marks, own.unique())
        paired = bool((plain.loc[plain[inputs.CRITERION] == criterion, "order"] != "").any())
        if np.isin(levels, (0.0, 0.5, 1.0) if paired else (0.0, 1.0)).all():
            found[criterion] = ZERO_ONE
        elif len(levels) <= MOST_LEVELS and (levels * 2 == np.round(levels * 2)).all():
            found[criterion] = ORDERED
        else:
            found[criterion] = GRADED
    return found


def _decided(mark: pd.Series) -> core.Floats:
    """The side of ½ that most of several 0/1 verdicts are on; ½ for as many."""
    x = mark.to_numpy(dtype=float)
    return np.where(np.isnan(x), np.nan, (np.sign(x - 0.5) + 1) / 2)


def _with_labels(items: pd.DataFrame, readings: inputs.Readings) -> tuple[pd.DataFrame, list[str]]:
    """A column for each annotator, and what they say together."""
    labels, on, notes = readings.labels, list(readings.on), []
    if labels["annotator"].nunique() > MANY_ANNOTATORS:
        ordered = labels.sort_values([*on, "annotator"], kind="stable")
        notes.append(
            f"{labels['annotator'].nunique()} annotators: the k-th label of each answer, by annotator's name, stands for annotator k."
        )
        labels = ordered.assign(annotator=(ordered.groupby(on).cumcount() + 1).map("label {:02d}".format))
    table = labels.pivot(index=on, columns="annotator", values="mark")
    table.columns = [f"{LABEL}{name or 'not named'}" for name in table.columns]
    chance = labels.groupby(on)["probability"].mean()
    items = items.merge(table.reset_index(), on=on, how="left", validate="many_to_one")
    items = items.merge(chance.reset_index(), on=on, how="left", validate="many_to_one")
    known = items[[*annotators_of(items)]].to_numpy(dtype=float).reshape(len(items), -1)
    n = (~np.isnan(known)).sum(axis=1)
    mean = np.where(n > 0, np.nansum(known, axis=1) / np.maximum(n, 1), np.nan)
    most = core.panels.majority(known) if known.shape[1] else mean
    zero_one = (items["scale"] == ZERO_ONE).to_numpy()
    tied = int((zero_one & (n > 0) & np.isnan(most) & (items["undefined"] == "").to_numpy()).sum())
    if tied:
        of = items.loc[zero_one & (n > 0) & np.isnan(most), list(inputs.KEYS)].drop_duplicates()
        notes.append(f"{len(of)} answers on which as many annotators say one as the other have no truth of a majority.")
    one_of = zero_one | (items["scale"] == NOMINAL).to_numpy()
    return items.assign(human=np.where(one_of, most, mean), n_labels=n), notes


def _with_raised(items: pd.DataFrame, injected: pd.DataFrame) -> pd.DataFrame:
    """By how much an order to the judge, written into the answer, raises its mark, as a share of the scale."""
    key = ["judge", *inputs.KEYS]
    given = injected.assign(effect=injected.get("effect", np.nan))
    with_order = given.groupby(key)[["mark", "effect"]].mean().add_suffix("_injected").reset_index()
    out = items.merge(with_order, on=key, how="left", validate="one_to_one")
    gain = (out["mark_injected"] - out["mark"]) / _spans(out)
    return out.assign(raised=out["effect_injected"].fillna(gain)).drop(columns=["mark_injected", "effect_injected"])


def _spans(items: pd.DataFrame) -> pd.Series:
    """Of each criterion the span of the marks that judges and people gave."""
    marks = items[["mark", *(c for c in items if str(c).startswith(LABEL))]]
    span = (
        marks.max(axis=1).groupby(items[inputs.CRITERION]).max()
        - marks.min(axis=1).groupby(items[inputs.CRITERION]).min()
    ).clip(lower=0)
    span = span.where((items["scale"] != ZERO_ONE).groupby(items[inputs.CRITERION]).any(), 1.0)
    return items[inputs.CRITERION].map(span.where(span > 0))


def _per_group(items: pd.DataFrame, column: str) -> dict[str, np.ndarray[Any, Any]]:
    return {str(name): np.asarray(index) for name, index in items.groupby(column, sort=True).indices.items()}


def _agreement(items: pd.DataFrame, n_kinds: int = 0) -> dict[str, core.Floats]:
    """What kappa and Spearman's coefficient sum: an answer's pairs of the judge's mark with each label, and of two labels."""
    labels = items[[*annotators_of(items)]].to_numpy(dtype=float).reshape(len(items), -1)
    mark = items["mark"].to_numpy(dtype=float).copy()
    labels = np.where(np.isnan(mark)[:, None] & (items["undefined"] != "").to_numpy()[:, None], np.nan, labels)
    for rows in _per_group(items, "judge").values():
        if items["scale"].iloc[rows[0]] == GRADED:
            both = ~np.isnan(mark[rows]) & (~np.isnan(labels[rows])).any(axis=1)
            mark[rows] = _standard(np.where(both, mark[rows], np.nan))
            labels[rows] = _standard(labels[rows])
    of_kinds = kinds.sums_of(mark, labels, n_kinds) if n_kinds else {}
    n = (~np.isnan(labels)).sum(axis=1)
    some = np.maximum(n, 1)
    total, squares = np.nansum(labels, axis=1), np.nansum(labels**2, axis=1)
    both, several = (n > 0) & ~np.isnan(mark), n > 1
    mean, square, of_two = total / some, squares / some, (total**2 - squares) / np.maximum(n * (n - 1), 1)
    # A side of a pair means nothing, so each pair counts as it is and with its sides changed.
    side, half = items["is_side"].to_numpy(dtype=bool), np.full(len(items), 0.5)
    pairs = (half, mark**2 - mark + 0.5, half, square - mean + 0.5, (1 - mark - mean) / 2 + mark * mean)
    single = (mark, mark**2, mean, square, mark * mean)
    parts = [np.where(side, one, other) for one, other in zip(pairs, single, strict=True)]
    among = (parts[2], parts[3], np.where(side, of_two - mean + 0.5, of_two))
    return {
        **{name: np.where(both, part, np.nan) for name, part in zip(AGREE, parts, strict=True)},
        **{name: np.where(several, part, np.nan) for name, part in zip(AMONG, among, strict=True)},
        **of_kinds,
    }


def _standard(values: core.Floats) -> core.Floats:
    """Midranks of the values that are there, about 0 and of size 1."""
    out, there = np.full(values.shape, np.nan), ~np.isnan(values)
    if there.any():
        own = values[there]
        ranks = core.correlation.midranker(own)(np.ones((1, len(own))))[0]
        out[there] = (ranks - ranks.mean()) / max(float(ranks.std()), 1e-12 * len(ranks), 1e-300)
    return out


def _correction(items: pd.DataFrame, labels_drawn: str) -> dict[str, core.Floats]:
    """What corrected rates and means sum."""
    mark, human = items["mark"].to_numpy(dtype=float).copy(), items["human"].to_numpy(dtype=float)
    zero_one = (items["scale"] == ZERO_ONE).to_numpy()
    for rows in _per_group(items, "judge").values():
        if only := labelled_models(items.iloc[rows]):
            mark[rows] = np.where(items["model"].iloc[rows].isin(only), mark[rows], np.nan)
    known, labelled = ~np.isnan(mark), ~np.isnan(mark) & ~np.isnan(human)

    human = np.where(labelled, human, 0.0)

    def of_marked(value: core.Floats, also: bool = True) -> core.Floats:
        return np.where(known & (zero_one | also), value, np.nan)

    out: dict[str, core.Floats] = {"is_labelled": of_marked(labelled.astype(float)), "square": of_marked(mark**2)}
    out["corrected_mark"] = of_marked(mark)
    for name, level in (("passed", 1.0), ("tied", 0.5), ("failed", 0.0)):
        here = (mark == level).astype(float)
        out[f"n_{name}"] = of_marked(here, also=False)
        out[f"m_{name}"] = of_marked(here * labelled, also=False)
        out[f"good_{name}"] = of_marked(here * human, also=False)
    rest = known & ~labelled
    out["is_rest"] = of_marked(rest.astype(float))
    out["rest"] = of_marked(np.where(rest, mark, 0.0))
    for name, truth in (("good", 1.0), ("bad", 0.0)):
        of = (labelled & (human == truth) & (mark != 0.5)).astype(float)
        out[f"is_{name}"] = of_marked(of, also=False)
        out[f"seen_{name}"] = of_marked(of * (mark == truth), also=False)
    out["mean_f"], out["mean_y"] = of_marked(np.where(labelled, mark, 0.0)), of_marked(human)
    out["mean_fy"] = of_marked(np.where(labelled, mark * human, 0.0))
    return out


PAIRS = ("pairs_right", "pairs_undecided", "pairs_wrong")


def _outcomes(items: pd.DataFrame, plain: pd.DataFrame) -> dict[str, core.Floats]:
    """Of pairs without models, whose sides mean nothing: whether the winner over both orders is the one of people.

    A pair on which one order decides and the other is a tie has its winner; one whose orders disagree has none.
    """
    paired = plain[plain["order"] != ""][inputs.CRITERION].unique()
    named = plain[plain["model"] != ""][inputs.CRITERION].unique()
    sides = (items[inputs.CRITERION].isin(set(paired) - set(named)) & (items["scale"] == ZERO_ONE)).to_numpy()
    mark, human = items["mark"].to_numpy(dtype=float), items["human"].to_numpy(dtype=float)
    known = sides & ~np.isnan(mark) & np.isin(human, (0.0, 1.0))
    found = (mark == human, mark == 0.5, mark == 1 - human)
    outcomes = {name: np.where(known, of.astype(float), np.nan) for name, of in zip(PAIRS, found, strict=True)}
    return {"is_side": sides.astype(float), **outcomes}


def labelled_models(items: pd.DataFrame) -> tuple[str, ...]:
    """The models that labels are of, where others have too few by chance alone: empty where all have some, or none has.

    A correction learnt on the answers of one model does not hold for a mean over several.
    """
    there = items[items["mark"].notna()]
    labelled = there["human"].notna()
    counts = labelled.groupby(there["model"]).agg(["sum", "size"])
    if len(counts) < 2 or not labelled.any() or (counts["sum"] > 0).all():
        return ()
    bare = counts.loc[counts["sum"] == 0, "size"]
    by_chance = (1 - labelled.mean()) ** bare
    one = (counts["sum"] > 0).sum() == 1
    return tuple(map(str, counts.index[counts["sum"] > 0])) if one or (by_chance < _BY_CHANCE).any() else ()


def correctable(items: pd.DataFrame) -> pd.DataFrame:
    """One judge's answers that its labels can correct: of the labelled models alone where others have no label."""
    only = labelled_models(items)
    return items[items["model"].isin(only)] if only else items


def _family(items: pd.DataFrame) -> dict[str, core.Floats]:
    """The judge's mark less the human one, of answers by its own family and by others."""
    pairs = {
        (str(j), str(m)): bool(related(str(j), str(m)))
        for j, m in items[["asked", "model"]].drop_duplicates().itertuples(index=False, name=None)
    }
    own = np.array([pairs[str(j), str(m)] for j, m in zip(items["asked"], items["model"], strict=True)], dtype=bool)
    gap = (items["mark"] - items["human"]).to_numpy(dtype=float)
    known = ~np.isnan(gap)
    return {
        "gap": np.where(known, gap, np.nan),
        "is_own": (known & own).astype(float),
        "own_gap": np.where(known & own, gap, 0.0),
    }


def _lengths(items: pd.DataFrame) -> dict[str, core.Floats]:
    """Products of midranks of mark, length and human label, by judge, for the partial correlation."""
    columns = items[[*LENGTHS]].to_numpy(dtype=float)
    columns[np.isnan(columns).any(axis=1)] = np.nan
    for rows in _per_group(items, "judge").values():
        for j in range(3):
            columns[rows, j] = _standard(columns[rows, j])
    products = [columns[:, i] * columns[:, j] for i in range(3) for j in range(i, 3)]
    return dict(zip(OF_RANKS, products, strict=True)) | {f"length_{c}": columns[:, i] for i, c in enumerate("mlh")}


def annotators_of(items: pd.DataFrame) -> Sequence[str]:
    """The columns of labels."""
    return [str(c) for c in items if str(c).startswith(LABEL)]
