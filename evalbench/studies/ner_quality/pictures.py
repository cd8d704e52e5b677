"""Pictures, tables and marked texts of an ner_quality result."""

from __future__ import annotations

from typing import Any

import pandas as pd

from evalbench import core, draw, kit, readers
from evalbench.metrics.entities import COUNTS, MODES
from evalbench.studies.ner_quality import scores
from evalbench.studies.ner_quality.items import MISSED, SPURIOUS

KEYS = ("id", "model")
MOST_SHOWN = 12
LONGEST = 1200


def picture_strict(result: core.Result) -> draw.Drawn:
    """Strict F1 of every model."""
    rows = [e for e in result.summary.estimates if e.metric == scores.STRICT]
    return draw.pictures.estimate_bars(
        [e.group["model"] for e in rows],
        rows,
        title="Strict F1 of every model: the same boundaries and the same class",
        xlabel="strict F1 (0–1)",
        domain=(0, 1),
    )


def picture_modes(result: core.Result) -> draw.Drawn:
    """F1 of every model in the four modes."""
    own = result.tables["modes"]
    table = own[own["over"] == "all entities"].pivot(index="model", columns="mode", values="f1")[list(MODES)]
    return draw.pictures.heat_map(
        table.to_numpy(),
        [*map(str, table.index)],
        list(MODES),
        title="F1 of every model, the stricter modes first",
        unit="F1 (0–1), over all entities",
        low=0,
        high=1,
    )


def picture_classes(result: core.Result) -> draw.Drawn | None:
    """Strict F1 of every class and model, the most frequent classes first; None where there is no true entity."""
    own = result.tables["classes"]
    own = own[own["mode"] == "strict"]
    if own.empty:
        return None
    if readers.schema.TRIAL in own:
        own = own.groupby(["true_class", "predicted_class"], as_index=False, sort=False).agg(
            {"share": "mean", "n": "sum"}
        )
    table = own.pivot(index="entity_class", columns="model", values="f1")
    order = own.drop_duplicates("entity_class").sort_values(["n_true", "entity_class"], ascending=[False, True])
    table = table.loc[order["entity_class"].head(MOST_SHOWN)]
    return draw.pictures.heat_map(
        table.to_numpy(),
        [*map(str, table.index)],
        [*map(str, table.columns)],
        title="Strict F1 of every class",
        unit="F1 (0–1)",
        low=0,
        high=1,
    )


def picture_confusions(result: core.Result, model: str = "") -> draw.Drawn | None:
    """What the entities of each class were taken for, of one model; by default of the one that decides the light."""
    place = result.verdict.decided_by or {}
    model = model or place.get("model", "") or str(result.items["model"].iloc[0])
    own = result.tables["confusions"]
    own = own[(own["model"] == model) & (own["true_class"] != SPURIOUS)]
    if own.empty:
        return None
    if readers.schema.TRIAL in own:
        own = own.groupby(["true_class", "predicted_class"], as_index=False, sort=False).agg(
            {"share": "mean", "n": "sum"}
        )
    table = own.pivot(index="true_class", columns="predicted_class", values="share")
    counts = own.pivot(index="true_class", columns="predicted_class", values="n")
    total = counts.sum(axis=1).sort_values(ascending=False, kind="stable")
    rows = [*total.index[:MOST_SHOWN]]
    others = [c for c in counts.sum().sort_values(ascending=False, kind="stable").index if c not in (*rows, MISSED)]
    columns = [*rows, *others[: max(0, MOST_SHOWN - len(rows))], MISSED]
    table, counts = table.loc[rows, columns], counts.loc[rows, columns]
    return draw.pictures.heat_map(
        table.to_numpy(),
        [f"{name} ({total[name]})" for name in rows],
        columns,
        title=f"What {model} takes the entities of each class for",
        text=[
            [f"{x:.2f}" if n else "" for x, n in zip(*two, strict=True)]
            for two in zip(table.to_numpy(), counts.to_numpy(), strict=True)
        ],
        unit="share of the class's true entities (their number in brackets); empty: none",
        low=0,
        high=1,
    )


def modes(result: core.Result) -> pd.DataFrame:
    """Precision, recall and F1 of every mode with intervals, over all entities, and the counts."""
    own = result.tables["modes"]
    own = own[own["over"] == "all entities"]
    counts = [" · ".join(map(str, row)) for row in own[list(COUNTS)].to_numpy().tolist()]
    heading = " · ".join(name[:3] for name in COUNTS)
    return _written(own.assign(**{heading: counts}), ["model", "mode"], [heading])


def means(result: core.Result) -> pd.DataFrame:
    """Precision, recall and F1 of every mode with intervals, as mean over classes."""
    own = result.tables["modes"]
    return _written(own[own["over"] != "all entities"], ["model", "mode"], [])


def classes(result: core.Result) -> pd.DataFrame:
    """Precision, recall and F1 of every class, strict; the other modes are in the file."""
    own = result.tables["classes"]
    found = own[own["mode"] == "strict"].sort_values(["entity_class", "model"])
    return _written(
        found.rename(columns={"entity_class": "class", "n_true": "true", "n_predicted": "predicted"}),
        ["class", "model"],
        ["true", "predicted"],
    )


def _written(own: pd.DataFrame, keys: list[str], last: list[str]) -> pd.DataFrame:
    def cells(figure: str) -> list[str]:
        three = own[[figure, f"{figure}_low", f"{figure}_high"]].astype(float).to_numpy()
        return [core.wording.rounded(*(None if x != x else x for x in row)) for row in three.tolist()]

    figures = {name: cells(figure) for name, figure in (("precision", "precision"), ("recall", "recall"), ("F1", "f1"))}
    return pd.DataFrame({**{k: own[k].tolist() for k in keys}, **figures, **{c: own[c].tolist() for c in last}})


def confused(result: core.Result, rows: int = 20) -> pd.DataFrame:
    """The largest confusions of every model with the light of their class, then what is missed most."""
    own = result.tables["confusions"]
    other = own[(own["true_class"] != own["predicted_class"]) & (own["true_class"] != SPURIOUS) & (own["n"] > 0)]
    lights = {(e.group["model"], e.metric): e.light for e in result.summary.estimates if e.group}
    found = other.sort_values(["share", "model", "true_class", "predicted_class"], ascending=[False, True, True, True])
    found = found.head(rows)
    largest = ~found.assign(missed=found["predicted_class"] == MISSED).duplicated(["model", "true_class", "missed"])
    kept = [
        lights.get((m, f"{scores.OWN}{scores.class_id(c)}"), "") if first and p != MISSED else ""
        for m, c, p, first in zip(found["model"], found["true_class"], found["predicted_class"], largest, strict=True)
    ]
    named = found.rename(columns={"true_class": "true class", "predicted_class": "taken for", "n": "entities"})
    return named.assign(**{"light of the class": kept}).reset_index(drop=True)


def comparisons(result: core.Result) -> pd.DataFrame:
    """Every pair of models on the same texts: difference of F1 with its interval, Holm's p-value, the verdict."""
    return kit.comparing.shown(result.tables.get("comparisons"), "model")


@kit.trials.each_trial
def parting(result: core.Result, rows: int = 20) -> pd.DataFrame:
    """True entities that some models find, right in boundaries and class, and others do not: the most disputed first."""
    spans = result.tables["spans"]
    models = sorted(result.items["model"].unique())
    true = spans[spans["outcome"] != "spurious"]
    if len(models) < 2 or true.empty:
        return true.head(0)
    keys = ["id", "start", "end", "entity_class"]
    again = true.groupby([*keys, "model"], sort=False).cumcount()  # a true span that is listed twice
    true = true.assign(right=true["outcome"] == "right", again=again)
    share = true.groupby([*keys, "again"], sort=True)["right"].mean().reset_index()
    share = share[(share["right"] > 0) & (share["right"] < 1)]
    share = share.assign(split=(share["right"] - 0.5).abs()).sort_values(["split", *keys], kind="stable").head(rows)
    said = true.merge(share[[*keys, "again"]], on=[*keys, "again"])
    words = [
        outcome
        if outcome in ("right", "missed")
        else f"{'' if outcome == 'other class' else f'“{_cut(result, i, int(a), int(b))}” '}as {kind}"
        for i, outcome, a, b, kind in zip(
            said["id"],
            said["outcome"],
            said["predicted_start"].fillna(0),
            said["predicted_end"].fillna(0),
            said["predicted_class"],
            strict=True,
        )
    ]
    wide = said.assign(words=words).pivot(index=[*keys, "again"], columns="model", values="words").reset_index()
    wide = share[[*keys, "again"]].merge(wide, on=[*keys, "again"])
    entity = [_cut(result, i, a, b) for i, a, b in zip(wide["id"], wide["start"], wide["end"], strict=True)]
    named = wide.assign(entity=entity).rename(columns={"entity_class": "class"})
    return named[["id", "entity", "class", *models]].rename_axis(columns=None)


def _cut(result: core.Result, text_id: str, start: int, end: int) -> str:
    texts = result.tables["texts"]
    if "text" not in texts:
        return f"[{start}, {end})"
    at = int(texts["id"].searchsorted(text_id))
    return str(texts["text"].iloc[at][start:end])


@kit.trials.each_trial
def worst(result: core.Result, n: int = 6) -> draw.Html:
    """Texts with most faults, the models in turn: true and predicted entities marked, paired ones by number."""
    texts = result.tables["texts"]
    if "text" not in texts:
        return draw.Html(
            '<p class="eb-small">The texts are not among the tables, so that no entity can be shown in its text.</p>'
        )
    items = result.items
    faults = items["n_true"] + items["n_predicted"] - 2 * items["strict"]
    cases = items.assign(faults=faults)[faults > 0].sort_values(
        ["faults", *KEYS], ascending=[False, True, True], kind="stable"
    )
    if cases.empty:
        return draw.Html(
            '<p class="eb-small">Every entity was found with its boundaries and its class, and no other.</p>'
        )
    known = texts.set_index("id")
    chosen = kit.cases.in_turn(cases, "model", n)
    spans = result.tables["spans"]
    spans = spans[spans["id"].isin(chosen["id"])]
    return draw.spans.documents([_document(spans, case, known) for case in chosen.to_dict("records")])


def _document(all_spans: pd.DataFrame, case: dict[Any, Any], texts: pd.DataFrame) -> draw.spans.Document:
    text = str(texts.at[case["id"], "text"])
    marks: list[draw.spans.Span] = []
    pair = 0
    for row in kit.cases.rows_of(all_spans, case, KEYS).to_dict("records"):
        both = row["outcome"] not in ("missed", "spurious")
        pair += both
        number = pair if both else None
        if row["outcome"] != "spurious":
            marks.append(draw.spans.Span(int(row["start"]), int(row["end"]), "truth", row["entity_class"], number))
        if row["outcome"] != "missed":
            end = int(row["predicted_end"])
            marks.append(
                draw.spans.Span(int(row["predicted_start"]), end, "prediction", row["predicted_class"], number)
            )
    shown_text = text if len(text) <= 2 * LONGEST else text[:LONGEST]
    note = f"the first {LONGEST} characters of {len(text)}" if len(shown_text) < len(text) else ""
    lang = str(texts.at[case["id"], "lang"]) if "lang" in texts else None
    title = f"{case['id']}, {case['model']}: {int(case['strict'])} of {int(case['n_true'])} right, {int(case['n_predicted'])} predicted"
    return draw.spans.Document(title, shown_text, [m for m in marks if m.end <= len(shown_text)], note, lang or None)
