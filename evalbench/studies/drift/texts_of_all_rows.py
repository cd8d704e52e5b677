"""Test 2 over all rows of tables of which only a sample was read; everything else is of the sample."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import pandas as pd

from evalbench import core, kit, readers
from evalbench.metrics.text_streams import StreamedStatistics
from evalbench.studies.drift import inputs, key_of_all_rows, lights, statistics

_INDEX = {lights.STOP: "stop_share", lights.COUNTS: "n_tokens", lights.FREQUENCIES: "tokens"}


class AllRows(NamedTuple):
    """What was counted over all rows.

    - ``values`` (mapping of (str, str) to float): Statistic and part → its index, without what chance gives; of new
      tokens their increase.
    - ``n``: Part → texts of both sides.
    - ``key``: Of the key metric, see :func:`evalbench.studies.drift.key_of_all_rows.summed`.
    """

    values: Mapping[tuple[str, str], float]
    n: Mapping[str, int]
    notes: list[str]
    key: Mapping[str, Any] | None = None


NOT_COUNTED = AllRows({}, {}, [])


def beside(tables: Mapping[str, pd.DataFrame], over_all: AllRows) -> dict[str, pd.DataFrame]:
    """The tables of a result with ``all_rows`` and ``n_all_rows`` in that of the statistics."""
    found = dict(tables)
    if over_all.values and "statistics" in found:
        own = found["statistics"]
        parts = [of.removesuffix("s") for of in own["of"]]
        values = [over_all.values.get(key, math.nan) for key in zip(own["statistic"], parts, strict=True)]
        found["statistics"] = own.assign(all_rows=values, n_all_rows=[over_all.n[part] for part in parts])
    return found


def counted(
    data: readers.Dataset, samples: inputs.Samples, windows: Mapping[str, Any], options: Mapping[str, Any], metric: str
) -> AllRows:
    """The key metric and the statistics of texts over all rows, where a table is a sample of a larger one; nothing elsewhere.

    Raises ``BadInput`` for cells that the rows outside of the sample have, and nothing can be counted in.
    """
    tables = {side: data.tables[side] for side in inputs.SIDES if side in data.tables}
    large = {
        side: key_of_all_rows.named(frame.attrs[readers.large.STREAM], data.read_as.get(side, {}))
        for side, frame in tables.items()
        if readers.large.STREAM in frame.attrs
    }
    if not large:
        return NOT_COUNTED
    streams = {id(tables[side].attrs[readers.large.STREAM]) for side in large}
    if len(large) == 2 and len(streams) == 1:
        why = "all rows are counted where OOS and OOT are two tables, or times divide one"
        return AllRows({}, {}, [_sampled(samples, large, options, key=False), f"Of the sample alone: {why}"])
    ends = inputs.ends_of(tables["oos"], windows) if len(tables) == 1 else dict(windows)
    every = {side: large.get(side) or readers.large.whole(side, frame) for side, frame in tables.items()}
    key = None
    if metric and core.clusters.CLUSTER not in samples.rows:
        core.progress.at("the key metric of all rows")
        key = key_of_all_rows.summed(every, ends, metric=metric, period=options["period"], sampled=len(samples.rows))
    head: list[str] = [_sampled(samples, large, options, key=key is not None)]
    if "statistics" not in options["tests"]:
        return AllRows({}, {}, head, key)
    parts = {side: kit.streaming.Window(ends.get(f"{side}_from"), ends.get(f"{side}_to")) for side in inputs.SIDES}
    core.progress.at("the texts of all rows")
    found = kit.streaming.streamed(
        every,
        samples.rows,
        windows=parts,
        columns=tuple(statistics.COLUMNS[part] for part in statistics.PARTS),
        languages=tuple(options["languages"]),
        n_bins=options["n_bins"],
        epsilon=options["epsilon"],
        seed=options["seed"],
    )
    of_parts = {part: found.columns[statistics.COLUMNS[part]] for part in statistics.PARTS}
    values = {(name, part): own.psi[number].value for part, own in of_parts.items() for name, number in _INDEX.items()}
    for part, own in of_parts.items():
        values[lights.NEW, part] = own.new.increase if options["new_tokens"] == "increase" else own.new.ratio - 1
    one = of_parts[statistics.PARTS[0]]
    said = (
        f"The column “all rows” of test 2 is of all {core.wording.count(one.rows[0])} rows of OOS and {core.wording.count(one.rows[1])} of OOT, without what chance "
        f"gives; lights, intervals and p of test 2 are of the {core.wording.count(len(samples.rows))} rows that were read"
    )
    if found.outside:
        said += f"; {core.counted(found.outside, 'row')} of the tables lie on neither side"
    return AllRows(
        values,
        {part: sum(own.texts) for part, own in of_parts.items()},
        [*head, said, *(_loss(part, own) for part, own in of_parts.items() if own.vocabulary.one_in > 1)],
        key,
    )


def _sampled(
    samples: inputs.Samples, large: Mapping[str, readers.large.Large], options: Mapping[str, Any], *, key: bool
) -> core.notes.Note:
    """What is of all rows, and what of a sample."""
    n = core.wording.count(len(samples.rows))
    rows = core.wording.count(sum({table.name: table.rows for table in large.values()}.values()))
    most = max(table.sampled for table in large.values())
    asked = options["n_samples"]
    more = (
        f", although n_samples is {core.wording.count(asked)}: no more texts are read of so large a table"
        if asked > most
        else ""
    )
    what = "the key metric is of all rows, the texts are" if key else "all tests are"
    return core.notes.Note("sample", f"{what} of a sample of {n} of {rows} rows{more}")


def _loss(part: str, own: StreamedStatistics) -> str:
    """What a capped vocabulary lacks."""
    lost = own.vocabulary
    index = "" if math.isnan(lost.psi_error) else f"; standard error of the index {lost.psi_error:.2g}"
    return (
        f"{part}s, all rows: of the tokens that the sample lacks one in {lost.one_in} was counted: {core.percent(lost.left_out)} of all "
        f"tokens have no count of their own{index}, of the increase of new tokens {lost.increase_error:.2g}"
    )
