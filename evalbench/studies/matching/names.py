"""Names that tables of others give to the columns of ``matching``, and words that tell true violations from predicted ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from evalbench import readers

SIDE = "side"
BY_TEXT, CLEAN = "read as one row per text", "of texts without violations"
"""Parts of notes on tables that also say where a checker found nothing."""
NOT_NAMED = "checker not named"
"""The checker where the table names none."""
OTHERS: Mapping[str, tuple[str, ...]] = {
    "id": (
        "sample_id",
        "doc_id",
        "document_id",
        "doc",
        "text_id",
        "sample",
        "item_id",
        "номер текста",
        "id текста",
        "текст_id",
    ),
    "violation_id": ("номер нарушения", "id нарушения"),
    "text": ("document", "content", "sentence", "текст"),
    "start": ("start_offset", "span_start", "begin", "начало"),
    "end": ("end_offset", "span_end", "конец"),
    "context": ("quote", "excerpt", "fragment", "span_text", "passage", "цитата", "фрагмент", "отрывок"),
    "rule": ("rule_text", "rule_name", "violated_rule", "violation", "правило", "нарушение", "нарушенное правило"),
    "category": ("category_name", "категория"),
    "explanation": ("reason", "rationale", "объяснение", "пояснение", "комментарий"),
    "correction": ("suggestion", "fix", "corrected_text", "исправление"),
    "model": ("checker", "model_name", "system", "модель", "система"),
    "lang": ("language", "язык"),
}
"""Column → names under which it is read too, the likeliest first."""
WITHIN: Mapping[str, tuple[str, ...]] = {
    **OTHERS,
    "spans": ("span",),
    "start": (*OTHERS["start"], *readers.offsets.START),
    "end": (*OTHERS["end"], *readers.offsets.END),
    "context": (*OTHERS["context"], "text", "span"),
    "rule": (*OTHERS["rule"], "label", "type", "name", "title"),
}
"""The same of a violation that a cell lists, in which ``text`` is its passage."""
TRUE_LISTS = (
    "truth", "true_violations", "gold", "gold_violations", "ground_truth", "expected", "expected_violations", "reference",
    "annotations", "labels", "эталон", "эталонные нарушения", "истинные нарушения", "violations", "нарушения",
)  # fmt: skip
FOUND_LISTS = (
    "predictions", "predicted", "prediction", "predicted_violations", "found", "found_violations", "detected", "output",
    "предсказания", "предсказанные нарушения", "найденные нарушения", "найдено", "предсказано", "violations", "нарушения",
)  # fmt: skip
SIDES = (
    "source", "origin", "kind", "set", "annotator", "author", "who", "found_by", "checker", "model", "system",
    "источник", "кто", "кто нашёл", "кто нашел", "автор", "разметчик",
)  # fmt: skip
WHO = frozenset({"annotator", "author", "who", "found_by", "кто", "кто нашёл", "кто нашел", "автор", "разметчик"})
TRUE_WORDS = frozenset(
    [
        "truth",
        "true",
        "gold",
        "golden",
        "human",
        "humans",
        "reference",
        "expert",
        "experts",
        "manual",
        "ground_truth",
        "эталон",
        "эксперт",
        "эксперты",
        "человек",
        "люди",
        "разметка",
    ]
) | {"ground truth"}
FOUND_WORDS = frozenset(
    [
        "prediction",
        "predictions",
        "predicted",
        "pred",
        "model",
        "checker",
        "system",
        "llm",
        "output",
        "предсказание",
        "предсказания",
        "модель",
    ]
)
FORMS = (
    "tables truth and predictions, one row per violation: id (of the text), rule, and start and end, or context (the quoted passage)",
    "one table of both, with a column side, truth or prediction, and model (the checker) for several",
    "one row per text: text, and truth and predictions: lists of objects with rule and start and end or context, of rules, "
    "or rules between semicolons",
)


def known(columns: Iterable[str], own: str, others: Mapping[str, tuple[str, ...]] = OTHERS) -> str:
    """The column that is ``own``, or is read as it; empty without one.

    Examples
    --------
    >>> known(["Quote", "Rule"], "context"), known(["context", "quote"], "context"), known(["text"], "rule")
    ('Quote', 'context', '')
    """
    names = {str(c).strip().casefold(): str(c) for c in reversed(list(columns))}
    return next((names[name] for name in (own, *others.get(own, ())) if name in names), "")
