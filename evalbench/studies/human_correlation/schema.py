"""The tables that the study takes: outputs with their marks, marks of their own, comparisons."""

from __future__ import annotations

from collections.abc import Mapping

from evalbench.readers.schema import Column, Table

SCHEMA: Mapping[str, Table] = {
    "items": Table(
        (
            Column("doc_id", "id"),
            Column("system", "id", groups=True, required=False),
            Column("output", "text", required=False, empty_ok=True, keep_null=True, help="null: unscored"),
            Column("better", "text", required=False, empty_ok=True, keep_null=True, help="the text that people prefer"),
            Column("worse", "text", required=False, empty_ok=True, keep_null=True, help="the other text of the pair"),
            Column("reference", "texts", required=False, empty_ok=True),
            Column("context", "texts", required=False, empty_ok=True),
            Column("prompt", "text", required=False, empty_ok=True, help="the request"),
            Column("samples", "texts", required=False, empty_ok=True),
            Column("annotator", "id", required=False),
            Column("criterion", "id", required=False),
            Column("score", "float", required=False, empty_ok=True),
        ),
        help="one row per document and system, with a column per criterion and per ready-made metric; "
        "or one row per human score, with annotator, criterion, score; or one row per pair, with better and worse",
    ),
    "ratings": Table(
        (
            Column("doc_id", "id"),
            Column("system", "id", groups=True, required=False),
            Column("annotator", "id"),
            Column("criterion", "id"),
            Column("score", "float", empty_ok=True),
        ),
        required=False,
        help="one row per human score",
    ),
    "pairs": Table(
        (
            Column("doc_id", "id"),
            Column("better", "id", help="the system whose output people prefer"),
            Column("worse", "id"),
            Column("criterion", "id", required=False),
            Column("annotator", "id", required=False),
        ),
        required=False,
        help="one row per comparison of two outputs of a document",
    ),
}
