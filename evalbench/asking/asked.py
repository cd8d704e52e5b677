"""What a table holds and which studies can be asked of it: values that print themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evalbench.core.wording import count, counted

if TYPE_CHECKING:
    import pandas as pd

SCHEMA_VERSION = 1
_NAMED = 6


@dataclass(frozen=True)
class Offer:
    """A study, and whether it can be asked of a table.

    - ``computes``: Its main figures, in words.
    - ``missing``: What the table lacks for it, in words.
    - ``refused``: Why a run would refuse the table, where it lacks nothing.
    - ``command``: The line that runs it.
    """

    study: str
    question: str
    computes: str
    missing: tuple[str, ...]
    command: str
    refused: str = ""
    used: int = field(default=0, repr=False)

    @property
    def ready(self) -> bool:
        return not (self.missing or self.refused)

    def why_not(self) -> str:
        """What is missing, or why the table is refused."""
        return f"needs {'; '.join(self.missing)}" if self.missing else f"refuses the table: {self.refused}"


@dataclass(frozen=True)
class Asked:
    """What a table holds, and which studies can be asked of it; prints itself.

    - ``rows``: Of its first table; ``tried`` of them were looked at.
    - ``groups``: Names of what answered, where the table has several.
    - ``roles``: Column → what it was read as; an empty text for one that no study reads.
    - ``offers``: A study each, those that are ready first.

    Examples
    --------
    >>> import pandas as pd, evalbench
    >>> asked = evalbench.load(pd.DataFrame({"query": ["Why?", "When?"], "bot_response": ["so", "now"], "gold": ["so", "then"]}))
    >>> asked.roles
    {'query': 'question', 'bot_response': 'answer', 'gold': 'reference'}
    >>> asked.studies()["study"].tolist()[:1]
    ['text_metrics']
    """

    name: str
    rows: int
    tried: int
    groups: tuple[str, ...]
    roles: Mapping[str, str]
    offers: tuple[Offer, ...]
    notes: tuple[str, ...] = ()
    called: str = ""

    @property
    def ready(self) -> tuple[Offer, ...]:
        return tuple(offer for offer in self.offers if offer.ready)

    def studies(self) -> pd.DataFrame:
        """A row for each study that is ready: its question, what it computes, the command."""
        import pandas as pd

        names = ("study", "question", "computes", "command")
        return pd.DataFrame([[getattr(offer, name) for name in names] for offer in self.ready], columns=[*names])

    def not_ready(self) -> pd.DataFrame:
        """A row for each other study, and what the table lacks for it."""
        import pandas as pd

        rows = [[offer.study, offer.question, offer.why_not()] for offer in self.offers if not offer.ready]
        return pd.DataFrame(rows, columns=["study", "question", "why"])

    def to_json(self) -> dict[str, Any]:
        """The object that ``evalbench data check --json`` prints; ``docs/asked.schema.json`` describes it."""
        return {
            "schema_version": SCHEMA_VERSION,
            "data": self.name,
            "rows": self.rows,
            "rows_tried": self.tried,
            "groups": list(self.groups),
            "roles": {column: role or None for column, role in self.roles.items()},
            "studies": [
                {
                    "study": offer.study,
                    "ready": offer.ready,
                    "question": offer.question,
                    "computes": offer.computes,
                    "missing": list(offer.missing),
                    "refused": offer.refused or None,
                    "command": offer.command if offer.ready else None,
                }
                for offer in self.offers
            ],
            "notes": list(self.notes),
        }

    def lines(self) -> Iterator[str]:
        """The text of a terminal."""
        yield self.head()
        yield from (f"note: {note}" for note in self.notes)
        if self.roles:
            yield ""
            yield "Columns"
            width = max(map(len, self.roles))
            for column, role in self.roles.items():
                yield f"  {column:<{width}}  {role or '– not read'}"
        yield ""
        yield "Ready" if self.ready else "No study is ready for this table"
        for number, offer in enumerate(self.ready, 1):
            yield f"  {number}  {offer.study}: {offer.question}"
            yield f"     computes {offer.computes}"
            yield f"     {offer.command}"
        if others := [offer for offer in self.offers if not offer.ready]:
            yield ""
            yield "Not ready"
            width = max(len(offer.study) for offer in others)
            yield from (f"  {offer.study:<{width}}  {offer.why_not()}" for offer in others)

    def head(self) -> str:
        """Rows and groups, a line."""
        who = f", {counted(len(self.groups), self.called)}: {_listed(self.groups)}" if len(self.groups) > 1 else ""
        return f"{self.name}: {count(self.rows)} {'row' if self.rows == 1 else 'rows'}{who}"

    def __repr__(self) -> str:
        return "\n".join(self.lines())

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        from evalbench.draw.html import Html, escape
        from evalbench.draw.show import Shown
        from evalbench.draw.tables import folded, html_table

        read_as = " · ".join(f"{column}: {role or 'not read'}" for column, role in self.roles.items())
        said = [self.head(), *self.notes, read_as]
        head = "".join(f"<p>{escape(line)}</p>" for line in said if line)
        ready = html_table(self.studies(), caption="Ready for this table", rows=30)
        others = folded("What the other studies need", html_table(self.not_ready(), rows=30))
        return Shown(Html(f"{head}{ready}{others}"), repr(self), "asked")._repr_mimebundle_()


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")
