"""The items of two sides laid side by side by id and group, in a table of a database in memory: sorted, counted and paged by it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from evalbench.compare.changes import FLICKERS, flickers, moved, verdicts
from evalbench.compare.runs import Hooks
from evalbench.compare.sides import Side
from evalbench.errors import BadInput
from evalbench.explorer.conditions import as_text, condition
from evalbench.explorer.database import PLACE, Database, as_json, quoted
from evalbench.explorer.inputs import differing, same_data
from evalbench.explorer.sided import SIDES, Score, keys_of
from evalbench.readers.runs import ITEMS

if TYPE_CHECKING:
    import pandas as pd

    from evalbench.explorer.rows import Rows

OTHER, NEITHER, NOT_LEFT, NOT_RIGHT, ONLY_LEFT, ONLY_RIGHT = (
    "inputs differ", "no value", "no value left", "no value right", "only left", "only right",
)  # fmt: skip
VERDICTS = (
    "better", "worse", "higher", "lower", "same", FLICKERS, OTHER, NOT_LEFT, NOT_RIGHT, NEITHER, ONLY_LEFT, ONLY_RIGHT,
)  # fmt: skip
"""What may be said of a pair, in the order in which it is counted."""
_VALUES = ("left", "right", "change")
_REASONS = ("unscored", "undefined")
_MEMORY = "400MB"


def _with_nulls(texts: Any) -> Any:
    """Texts of a query, None where they are null."""
    out = np.array(np.ma.getdata(texts), dtype=object)
    out[np.ma.getmaskarray(texts)] = None
    return out


class Pairs:
    """The items of two sides, a row for each id and group that one of them has.

    Several items of one id and group are one: the score is that of their sums, as :mod:`evalbench.compare` has it.

    - ``left``, ``right``, ``sides``: See :func:`sides`.
    - ``where``: Only pairs of which one item fits this filter.

    Raises ``BadInput`` for a filter that cannot be read, and where it leaves no item.
    """

    def __init__(
        self, left: Rows, right: Rows, of: tuple[Side, Side], score: Score, hooks: Hooks, where: str = ""
    ) -> None:
        self.rows, self.sides, self.score, self.where = (left, right), of, score, where
        self.free = keys_of(*of)
        self.keys = [left.id, *self.free]
        self._sums = list(dict.fromkeys(score.measure.sums))
        moving = [j for j, name in enumerate(self._sums) if not name.startswith("#")]
        self._moving = moving if len(moving) > 1 else []  # counts of which is said how they moved
        files = {name: rows.folder / ITEMS for name, rows in zip(SIDES, self.rows, strict=True)}
        self.database = Database({name: file.resolve() for name, file in files.items()}, _MEMORY)
        self._given = not same_data(left, right, hooks.content_unit)
        if self._given:
            self.database.keep("differing", differing(left, right))
        self._values_of_hooks(hooks)
        self._fitting()
        self._join()
        self._judge()
        self.counts = self._counted()
        self.n = sum(self.counts.values())
        if where and not self.n:
            raise BadInput("no item fits the filter")

    def page(self, verdict: str = "", sort: str = "", offset: int = 0, limit: int = 100) -> list[dict[str, Any]]:
        """Some of the pairs, the largest changes first.

        - ``verdict``: One of :data:`VERDICTS`: only these.
        - ``sort``: ``left``, ``right``, ``change`` or a key, falling with ``-`` before it; what has no value is last.

        Returns: ``key`` (by column), ``left``, ``right``, ``change``, ``verdict``, ``what`` (the counts that moved), and of
        each side its first item's place in the file (``left_row``), how many items it is (``left_n``) and why it has no
        value (``left_why``).
        """
        kept, values = self._where(verdict)
        found = self.database.records(
            f"SELECT * FROM pairs{kept} ORDER BY {self._order(sort)} LIMIT ? OFFSET ?", [*values, limit, offset]
        )
        why = [self._reasons(name, [row for row in found if row[name] is None]) for name in SIDES]
        return [
            {
                "key": {name: row[f"k{i}"] for i, name in enumerate(self.keys)},
                **{name: row[name] for name in _VALUES},
                "verdict": VERDICTS[row["verdict"]],
                "what": self._what(row),
                **{f"{name}_row": row[f"{name}_place"] for name in SIDES},
                **{f"{name}_n": row[f"{name}_n"] for name in SIDES},
                **{f"{name}_why": of.get(row[f"{name}_place"], "") for name, of in zip(SIDES, why, strict=True)},
            }
            for row in found
        ]

    def frame(self) -> pd.DataFrame:
        """All pairs, the largest changes first: the keys, ``left``, ``right``, ``change`` and ``verdict``."""
        import pandas as pd

        names = {f"k{i}": f"{key} (group)" if key in (*_VALUES, "verdict") else key for i, key in enumerate(self.keys)}
        listed = ", ".join([*names, *map(quoted, _VALUES), "verdict"])
        found = self.database.arrays(f"SELECT {listed} FROM pairs ORDER BY {self._order('')}")
        table = {name: np.ma.filled(found[name].astype(float), np.nan) for name in _VALUES}
        keys = {title: _with_nulls(found[name]) for name, title in names.items()}
        return pd.DataFrame({**keys, **table, "verdict": np.array(VERDICTS)[found["verdict"]]})

    def places(self, side: int, sample: int | None = None) -> Any:
        """The places of the items of a side that are in these pairs.

        - ``sample``: Those of so many pairs that both sides have, drawn evenly by a fixed hash of their keys.
        """
        own = self._side(side)
        keys = " AND ".join(f"p.k{i} IS NOT DISTINCT FROM {text}" for i, text in enumerate(self._texts(side)))
        drawn = "pairs"
        if sample is not None:
            of = ", ".join(f"k{i}" for i in range(len(self.keys)))
            both = "left_place IS NOT NULL AND right_place IS NOT NULL"
            drawn = f"(SELECT * FROM pairs WHERE {both} ORDER BY hash({of}), {of} LIMIT {int(sample)})"
        asked = f"SELECT i.{PLACE} AS place FROM {own[0]} JOIN {drawn} p ON {keys} WHERE {own[1]} ORDER BY place"
        return np.asarray(self.database.arrays(asked, own[2])["place"], dtype=np.int64)

    def _where(self, verdict: str) -> tuple[str, list[int]]:
        if not verdict:
            return "", []
        if verdict not in VERDICTS:
            raise BadInput(f"a pair is one of {', '.join(VERDICTS)}; not {verdict!r}")
        return " WHERE verdict = ?", [VERDICTS.index(verdict)]

    def _order(self, sort: str) -> str:
        if not sort:
            return 'abs("change") DESC NULLS LAST, verdict, pair'
        known = {**{name: quoted(name) for name in _VALUES}, **{key: f"k{i}" for i, key in enumerate(self.keys)}}
        falls = sort.startswith("-") and sort not in known
        if (name := sort[1:] if falls else sort) not in known:
            raise BadInput(f"pairs are sorted by {', '.join(known)}; not by {name!r}")
        return f"{known[name]} {'DESC' if falls else 'ASC'} NULLS LAST, pair"

    def _side(self, side: int) -> tuple[str, str, list[Any]]:
        """A side's items ``i``, the condition of its groups, and the values of this condition."""
        of, name = self.sides[side], SIDES[side]
        fixed = [of.items[column].iloc[0] for column in of.selected]
        values = [
            None if value is None or value != value else getattr(value, "item", lambda v=value: v)() for value in fixed
        ]
        sql = " AND ".join(f"i.{quoted(column)} IS NOT DISTINCT FROM ?" for column in of.selected) or "true"
        return f"{quoted(name)} i", sql, values

    def _texts(self, side: int) -> list[str]:
        """The keys of a side's items, as texts: ids of any type are equal by these."""
        return [as_text(name, "i") for name in (self.rows[side].id, *self.free)]

    def _values_of_hooks(self, hooks: Hooks) -> None:
        """Columns that the figure sums and the file does not hold, such as who passed a threshold."""
        import pandas as pd

        columns = [name.removeprefix("#") for name in self._sums]
        self._computed: list[bool] = []
        for rows, side, name in zip(self.rows, self.sides, SIDES, strict=True):
            own = {column.name for column in rows.columns_of("items")}
            computed = not own.issuperset(columns)
            self._computed.append(computed)
            if computed:
                items = hooks.summed(replace(side, items=rows.frame())).items
                if lacking := [column for column in columns if column not in items]:
                    raise BadInput(f"{side.run_id}: the items have no column {', '.join(dict.fromkeys(lacking))}")
                values = {f"c{j}": items[column].astype(float).to_numpy() for j, column in enumerate(columns)}
                self.database.keep(f"{name} computed", pd.DataFrame({"place": np.arange(len(items)), **values}))

    def _fitting(self) -> None:
        """The places of the items of either side that fit the filter."""
        import pandas as pd

        for rows, side, name in zip(self.rows, self.sides, SIDES, strict=True) if self.where else ():
            try:
                sql, values = condition(rows, self.where)
            except BadInput as error:
                raise BadInput(f"{side.run_id}: {error}") from None
            found = rows.database.arrays(f"SELECT {PLACE} AS place FROM items i WHERE {sql}", values)
            self.database.keep(f"{name} fitting", pd.DataFrame({"place": np.asarray(found["place"], dtype=np.int64)}))

    def _grouped(self, side: int) -> tuple[str, list[Any]]:
        """A side's items by key, with the sums of the score; a query and its values."""
        name, (source, sql, values) = SIDES[side], self._side(side)
        computed = self._computed[side]
        if computed:
            source += f' JOIN "{name} computed" c ON c.place = i.{PLACE}'
        sums = []
        for j, column in enumerate(self._sums):
            number = f"c.c{j}" if computed else f"CAST(i.{quoted(column.removeprefix('#'))} AS DOUBLE)"
            known = f"FILTER ({number} IS NOT NULL AND isfinite({number}))"
            of = f"count(*) {known}" if column.startswith("#") else f"coalesce(sum({number}) {known}, 0)"
            sums.append(f"CAST({of} AS DOUBLE) s{j}")
        fits = f'bool_or(i.{PLACE} IN (SELECT place FROM "{name} fitting"))' if self.where else "true"
        keys = ", ".join(f"{text} k{i}" for i, text in enumerate(self._texts(side)))
        names = ", ".join(f"k{i}" for i in range(len(self.keys)))
        listed = ", ".join(
            [f"CAST(min(i.{PLACE}) AS UINTEGER) place", "CAST(count(*) AS UINTEGER) n", *sums, f"{fits} fits"]
        )
        return f"SELECT {keys}, {listed} FROM {source} WHERE {sql} GROUP BY {names}", values

    def _join(self) -> None:
        queries = [self._grouped(side) for side in (0, 1)]
        n, sums = len(self.keys), range(len(self._sums))
        keys = [f"coalesce(l.k{i}, r.k{i}) k{i}" for i in range(n)]
        own = [f"coalesce({of}.s{j}, 0) {of}{j}" for of in "lr" for j in sums]
        places = [f"{of}.place {name}_place" for of, name in zip("lr", SIDES, strict=True)]
        places += [f"coalesce({of}.n, 0) {name}_n" for of, name in zip("lr", SIDES, strict=True)]
        on = " AND ".join(f"l.k{i} IS NOT DISTINCT FROM r.k{i}" for i in range(n))
        other = "coalesce(l.k0 IN (SELECT k FROM differing), false)" if self._given else "false"
        self.database.keep(
            "joined",
            f"SELECT CAST(row_number() OVER (ORDER BY l.place NULLS LAST, r.place) - 1 AS UINTEGER) pair, {', '.join([*keys, *places, *own])}, "
            f"{other} other FROM ({queries[0][0]}) l FULL JOIN ({queries[1][0]}) r ON {on} WHERE coalesce(l.fits, false) OR coalesce(r.fits, false)",
            [value for _, values in queries for value in values],
        )

    def _judge(self) -> None:
        """Values, change and verdict of each pair, by the figure's own formula."""
        import pandas as pd

        measure = self.score.measure
        listed = ", ".join(f"{of}{j}" for of in "lr" for j in range(len(self._sums)))
        found = self.database.arrays(
            f"SELECT left_place IS NOT NULL has_left, right_place IS NOT NULL has_right, other, {listed} FROM joined ORDER BY pair"
        )
        has = [np.asarray(found[f"has_{name}"], dtype=bool) for name in SIDES]
        with np.errstate(all="ignore"):
            values = [
                np.where(own, measure.value(*(found[f"{of}{self._sums.index(name)}"] for name in measure.sums)), np.nan)
                for of, own in zip("lr", has, strict=True)
            ]
        values = [np.where(np.isfinite(value), value, np.nan) for value in values]
        other = np.asarray(found["other"], dtype=bool)
        change = np.where(other, np.nan, values[1] - values[0])
        said = verdicts(
            pd.DataFrame({"reference": values[0], "side": values[1], "change": change}), self.score.higher_is_better
        )
        flicker = np.zeros(len(change), dtype=bool)
        for rows, value in zip(self.rows, values, strict=True):
            flicker |= flickers([column.name for column in rows.columns_of("items")], measure, value)
        none = [np.isnan(value) for value in values]
        codes = {name: i for i, name in enumerate(VERDICTS)}
        code = np.full(len(change), codes[NEITHER], dtype=np.uint8)
        for name in ("better", "worse", "higher", "lower", "same"):
            code[said == name] = codes[name]
        for at, name in (
            (flicker, FLICKERS), (none[0] & ~none[1], NOT_LEFT), (none[1] & ~none[0], NOT_RIGHT), (none[0] & none[1], NEITHER),
            (other, OTHER), (~has[1], ONLY_LEFT), (~has[0], ONLY_RIGHT),
        ):  # fmt: skip
            code[at] = codes[name]
        judged = {"left": values[0], "right": values[1], "change": change, "verdict": code}
        self.database.keep("judged", pd.DataFrame({"pair": np.arange(len(code), dtype=np.uint32), **judged}))
        null = ", ".join(
            f"CASE WHEN isnan(j.{quoted(n)}) THEN NULL ELSE j.{quoted(n)} END {quoted(n)}" for n in _VALUES
        )
        sums = [f"{of}{j}" for of in "lr" for j in range(len(self._sums)) if j not in self._moving]
        unused = ", ".join([*sums, "other"])
        self.database.keep(
            "pairs", f"SELECT o.* EXCLUDE ({unused}), {null}, j.verdict FROM joined o JOIN judged j USING (pair)"
        )
        of_sides = [f"{side} {what}" for side in SIDES for what in ("computed", "fitting")]
        for name in ("joined", "judged", "differing", *of_sides):
            self.database.drop(name)

    def _counted(self) -> dict[str, int]:
        found = self.database.fetch("SELECT verdict, count(*) FROM pairs GROUP BY verdict ORDER BY verdict")
        return {VERDICTS[code]: int(n) for code, n in found}

    def _what(self, row: Mapping[str, Any]) -> str:
        """The counts of the score that moved."""
        if not self._moving or row["left_place"] is None or row["right_place"] is None:
            return ""
        before, after = (np.array([[row[f"{of}{j}"] for j in self._moving]], dtype=float) for of in "lr")
        return moved([self._sums[j] for j in self._moving], before, after)[0]

    def _reasons(self, name: str, rows: Sequence[Mapping[str, Any]]) -> dict[int, str]:
        """Why items have no value, by place."""
        side = SIDES.index(name)
        columns = [column.name for column in self.rows[side].columns_of("items") if column.name in _REASONS]
        places = [int(row[f"{name}_place"]) for row in rows if row[f"{name}_place"] is not None]
        if not columns or not places:
            return {}
        texts = ", ".join(f"nullif({as_text(column, 'i')}, '')" for column in columns)
        found = self.database.fetch(
            f"SELECT {PLACE}, coalesce({texts}) FROM {quoted(name)} i WHERE {PLACE} IN ({', '.join('?' * len(places))})",
            places,
        )
        return {int(place): str(as_json(why)) for place, why in found if why}
