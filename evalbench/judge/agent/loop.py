"""Judging by an agent: all items step by step, each step one request, until every one has a verdict or is at its bound."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from evalbench.core import dry
from evalbench.core.judging_time import judged_at
from evalbench.core.unscored import Unscored
from evalbench.judge.agent import evidence, pages, protocol
from evalbench.judge.agent.corpus import Corpus, corpus_of
from evalbench.judge.agent.desk import Desk
from evalbench.judge.agent.naming import Agent, agent_of
from evalbench.judge.rows import Judgement, Judgements, labelled
from evalbench.judge.tasks import Task
from evalbench.models.prompts import Prompt, load_prompt, prompt_language
from evalbench.models.wire.tool_calls import calls_text

if TYPE_CHECKING:
    import pandas as pd

    from evalbench.models.exchange import Reply, Request, Tool
    from evalbench.web.fetch import Fetcher

LIMIT: Unscored = "agent-limit"
COLUMNS = {"step": "Int64", "parent": "string", "result": "string"}
"""What the calls of an agent have besides: the number of the step, the key of the call before it, what the tool answered."""
LONGEST_CALL = 4000
NOT_YET = "Not taken: this verdict came before the results of the calls beside it. Read them, then decide."
NOT_USED = "Not carried out: no calls are left."
_LOOKED_UP = {"en": "looked up", "ru": "найдено", "zh": "查得"}
_NOW = {
    "en": "No replies are left for looking things up. Give the verdict now, with what you have.",
    "ru": "Справок больше нет. Вынесите решение сейчас, по тому, что у вас есть.",
    "zh": "不能再查证了。请根据现有材料立即作出裁决。",
}


@dataclass(frozen=True, kw_only=True)
class Asked:
    """How the language model behind an agent is asked; as of :func:`evalbench.judge.verdicts.judge`."""

    language: str = "en"
    prompt: str = ""
    samples: int = 1
    temperature: float | None = 0.0
    max_tokens: int | None = None
    seed: int | None = None
    units: Mapping[str, str] = field(default_factory=dict)
    documents: Sequence[tuple[str, str]] = ()


def judged(
    items: Sequence[Mapping[str, Any]],
    by: str,
    task: Task,
    asked: Asked,
    options: Mapping[str, Any],
    fetcher: Fetcher | None = None,
) -> Judgements:
    """Judgements of an agent on items that were checked.

    Every step of all open items is asked at once, so that a run that was ended goes on from its cache: the same replies lead to the
    same requests.

    Raises
    ------
    BadInput
        If the name, its corpus or the prompts are faulty, or as :func:`evalbench.models.chat.collect.collect` does.
    """
    from evalbench.models.accounting import accounting
    from evalbench.models.chat.collect import collect
    from evalbench.models.chat.replay import judge_speaks

    agent = agent_of(by)
    court = _court(agent, task, asked, options, fetcher)
    chains = [court.opened(item, sample) for item in items for sample in range(asked.samples)]
    while waiting := [chain for chain in chains if chain.verdict is None]:
        with judge_speaks(by):
            replies = collect([court.request(chain) for chain in waiting], agent.model, **options)
        for chain, reply in zip(waiting, replies, strict=True):
            court.take(chain, reply)
    rows = tuple(chain.verdict for chain in chains if chain.verdict is not None)
    replies = [reply for chain in chains for reply in chain.replies]
    account = accounting(replies)
    ours = Counter(row.unscored for row in rows if row.unscored in (LIMIT, evidence.NOT_FOUND, evidence.WRONG_SUM))
    return Judgements(
        judge=by,
        task=task,
        rows=rows,
        calls=_calls(chains),
        accounting={
            **account,
            "unscored": dict(sorted((Counter(account["unscored"]) + ours).items())),
            "judge_prompts": sorted({court.template.sha256, court.words.sha256}),
            "judge_versions": sorted({reply.served_by for reply in replies if reply.served_by}),
        },
    )


@dataclass
class Chain:
    """The steps of one item so far."""

    item: Mapping[str, Any]
    sample: int
    desk: Desk
    messages: list[dict[str, str]]
    sources: frozenset[int]
    replies: list[Reply] = field(default_factory=list)
    results: list[str] = field(default_factory=list)
    used: int = 0
    last: bool = False
    verdict: Judgement | None = None


@dataclass(frozen=True, kw_only=True)
class Court:
    """What all chains of one judging share."""

    agent: Agent
    task: Task
    asked: Asked
    language: str
    template: Prompt
    words: Prompt
    names: tuple[str, ...]
    tools: tuple[Tool, ...]
    only_verdict: tuple[Tool, ...]
    page: Any
    corpus: Corpus

    def opened(self, item: Mapping[str, Any], sample: int) -> Chain:
        """A chain before its first step."""
        given = _given(item, self.task)
        desk = Desk([(name, text) for name, text, _ in given], self.corpus, self.page)
        texts = {name: item[name] for name in (*self.task.fields, *self.task.optional)}
        before = self.words.render(
            tools=protocol.in_words(self.names),
            given=desk.given,
            corpus=bool(self.agent.corpus),
            calls=self.agent.calls,
            documents=any(piece.of_data for piece in self.corpus.pieces),
            proved=[n for n, (_, _, is_source) in enumerate(given, 1) if is_source],
        )
        asked = f"{before}\n\n{self.template.render(**self.task.context, **texts)}"
        sources = frozenset(n for n, (_, text, is_source) in enumerate(given, start=1) if is_source and text.strip())
        return Chain(item, sample, desk, [{"role": "user", "content": asked}], sources)

    def request(self, chain: Chain) -> Request:
        """The next request of a chain."""
        from evalbench.models.exchange import Request

        names = () if chain.last else self.names
        item_id = chain.item["id"]
        return Request(
            tuple(chain.messages),
            temperature=self.asked.temperature,
            max_tokens=self.asked.max_tokens,
            seed=self.asked.seed,
            schema=protocol.step_schema(protocol.TaskKey(self.task), names),
            sample=chain.sample,
            item_id=item_id,
            purpose=self.task.name,
            prompt_hash=self.template.sha256,
            unit=self.asked.units.get(item_id, ""),
            asked_at=judged_at(),
            tools=self.only_verdict if chain.last else self.tools,
        )

    def take(self, chain: Chain, reply: Reply) -> None:
        """Use a reply: its tool's answer opens the next step, its verdict or failure ends the chain."""
        chain.replies.append(reply)
        step: Any = reply.value
        if step is None:
            why = LIMIT if chain.last and reply.unscored == "unparsed" else reply.unscored
            chain.results.append("")
            chain.verdict = self._without(chain, why, reply.detail)
        elif step.tool == protocol.VERDICT:
            chain.results.append("")
            chain.verdict = self._decided(chain, step)
        else:
            self._use(chain, step)

    def _use(self, chain: Chain, step: Any) -> None:
        """Carry out the calls of a reply in their order, as many as are left."""
        calls, results = [], []
        more = (
            () if dry.is_dry() else getattr(step, "more", None) or ()
        )  # most replies are needed with one call in each
        for one in (step, *more):
            arguments = one.model_dump(
                mode="json", exclude={"tool", "evidence", "more", protocol.VERDICT}, exclude_none=True
            )
            kept = {
                name: value[:LONGEST_CALL] if isinstance(value, str) else value for name, value in arguments.items()
            }
            calls.append((one.tool, kept))
            results.append(self._result(chain, one.tool, arguments))
        chain.last = self._at_bound(chain)
        chain.results.append(results[0] if len(results) == 1 else "\n\n".join(_headed(calls, results)))
        if chain.last:
            results[-1] = f"{results[-1]}\n\n{_NOW[self.language]}"
        chain.messages.append({"role": "assistant", "content": calls_text(calls)})
        chain.messages += [{"role": "user", "content": result} for result in results]

    def _result(self, chain: Chain, tool: str, arguments: Mapping[str, Any]) -> str:
        if tool == protocol.VERDICT:
            return NOT_YET
        if chain.used >= self.agent.calls:
            return NOT_USED
        chain.used += 1
        return chain.desk.use(tool, arguments)

    def _at_bound(self, chain: Chain) -> bool:
        from evalbench.models.tokens import estimated

        def tokens(reply: Reply) -> int:
            sent = reply.tokens_in if reply.tokens_in is not None else estimated(reply.request.prompt_text)
            return sent + (reply.tokens_out if reply.tokens_out is not None else estimated(reply.raw))

        return (
            max(len(chain.replies), chain.used) >= self.agent.calls
            or sum(map(tokens, chain.replies)) >= self.agent.tokens
            or sum(reply.seconds for reply in chain.replies) >= self.agent.seconds
        )

    def _decided(self, chain: Chain, step: Any) -> Judgement:
        said = step.verdict.model_dump(mode="json")
        reason = said.get("reason", "")
        quotes = [(one.passage, one.quote) for one in step.evidence or ()]
        decides = bool(self.task.labels or quotes)  # what only takes a text apart has nothing to prove
        why, detail = self._faults(chain, reason, quotes) if decides else ("", "")
        if why:
            return self._without(chain, why, detail)
        parts = {name: said[name] for name in self.task.parts}
        if isinstance(parts.get("passages"), list) and isinstance(chain.item.get("passages"), list):
            parts["passages"] = [n for n in parts["passages"] if 1 <= n <= len(chain.item["passages"])]
        label = str(said[self.task.answer]) if self.task.labels else ""
        shown = " ".join(f"[{self._place(chain, number)}] “{' '.join(quote.split())}”" for number, quote in quotes)
        return labelled(
            self.task, chain.item["id"], label, sample=chain.sample, reason=f"{reason} {shown}".strip(), parts=parts
        )

    def _faults(self, chain: Chain, reason: str, quotes: Sequence[tuple[int, str]]) -> tuple[Unscored, str]:
        """See :func:`evidence.faults`; a corpus that was named proves as much as the item's own sources."""
        chosen = {number for number, _ in quotes if chain.desk.is_chosen(number)}
        sources = chain.sources | chosen if chain.sources else frozenset()
        return evidence.faults(reason, quotes, chain.desk.shown, sources=sources, told=chain.messages[0]["content"])

    def _place(self, chain: Chain, number: int) -> str:
        """The number of a passage, and where it was found if it is none of the item's."""
        source = chain.desk.looked_up(number)
        return f"{number}, {_LOOKED_UP[self.language]}: {source}" if source else str(number)

    def _without(self, chain: Chain, why: Unscored, detail: str) -> Judgement:
        return Judgement(id=chain.item["id"], sample=chain.sample, unscored=why, detail=detail)


def _court(agent: Agent, task: Task, asked: Asked, options: Mapping[str, Any], fetcher: Fetcher | None) -> Court:
    names = protocol.names_of(web=agent.web)
    by_text = agent.protocol == "json" or (agent.protocol == "auto" and agent.model.startswith(("local/", "local:")))
    language = prompt_language("agent", asked.language)
    return Court(
        agent=agent,
        task=task,
        asked=asked,
        language=language,
        template=load_prompt(task.prompt or task.name, asked.language, asked.prompt or None),
        words=load_prompt("agent", language),
        names=names,
        corpus=corpus_of(agent.corpus, agent.embed, asked.documents),
        tools=() if by_text else protocol.tools(task, names),
        only_verdict=() if by_text else protocol.tools(task, ()),
        page=pages.reader(options.get("cache", True), judged_at(), fetcher) if agent.web else None,
    )


def _given(item: Mapping[str, Any], task: Task) -> list[tuple[str, str, bool]]:
    """Name and text of what an item holds, and whether it is a source; lists first, numbered as in the task's prompt."""
    lists = [
        (f"{name} {n}", text, name in task.sources)
        for name in task.lists
        for n, text in enumerate(item.get(name) or (), start=1)
    ]
    fields = [name for name in (*task.fields, *task.optional) if name not in task.lists and item[name]]
    return [*lists, *((name, item[name], name in task.sources) for name in fields)]


def _headed(calls: Sequence[tuple[str, Any]], results: Sequence[str]) -> list[str]:
    return [
        f"Result {n} ({tool}):\n{result}"
        for n, ((tool, _), result) in enumerate(zip(calls, results, strict=True), start=1)
    ]


def _calls(chains: Sequence[Chain]) -> pd.DataFrame:
    """The table of calls; ``parsed`` is the verdict alone, so that ``recorded:FILE`` reads it as that of any judge."""
    from evalbench.models.accounting import calls_table
    from evalbench.models.exchange import text_hash

    rows: list[tuple[Any, ...]] = []
    for chain in chains:
        parent = ""
        for step, (reply, result) in enumerate(zip(chain.replies, chain.results, strict=True), start=1):
            ends = reply is chain.replies[-1]
            detail = (
                f"{chain.verdict.unscored}: {chain.verdict.detail}"
                if ends and chain.verdict and chain.verdict.unscored
                else ""
            )
            rows.append((replace(reply, detail=reply.detail or detail), chain if ends else None, step, parent, result))
            parent = reply.key or text_hash(reply.request.prompt_text)
    asked = [row for row in rows if row[0].unscored != "budget"]
    table = calls_table([row[0] for row in asked])
    table["parsed"] = [_parsed(row[1]) for row in asked]
    for place, name in enumerate(COLUMNS, start=2):
        table[name] = [row[place] for row in asked]
    return table.astype({**COLUMNS, "parsed": "string"})


def _parsed(chain: Chain | None) -> str:
    if chain is None or chain.verdict is None or chain.verdict.unscored:
        return ""
    step: Any = chain.replies[-1].value
    said = step.verdict.model_dump(mode="json")
    return json.dumps({**said, **chain.verdict.parts, "reason": chain.verdict.reason}, ensure_ascii=False)
