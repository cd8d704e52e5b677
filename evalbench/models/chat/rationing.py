"""Which requests of a collection a budget leaves room for, and what a dry run notes and gets in place of replies."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from evalbench.core import dry
from evalbench.core.budget import REASON, Budget
from evalbench.errors import BadInput
from evalbench.models import accounting, tokens
from evalbench.models.endpoint import Model
from evalbench.models.exchange import Reply, Request, schema_text

_TOKENS_OF_A_SENTENCE = 16
_LONG_TEXT, _LONG_LIST = 10, 4
_ADDRESS = re.compile(r"https?://[^\s\"'<>,)\]]+")


def unpriced(name: str) -> str:
    """Why the cost of a model cannot be limited, and what to do."""
    return (
        f"--max-cost needs the price of {name}, which is not known: write an alias with its price per million tokens into "
        f'models.toml ([mine], name = "{name}", price = {{input = 2.5, output = 10}}) and name that, or use --max-calls'
    )


def refuse_unpriced(spent: Budget | None, target: Model) -> None:
    """A limit of the cost needs a price.

    Raises ``BadInput`` if there is none.
    """
    if spent is not None and spent.max_cost is not None and target.price is None:
        raise BadInput(unpriced(target.name))


def in_order(spent: Budget | None, asked: Mapping[str, Request]) -> list[str]:
    """The keys that may be asked, in the order in which they count."""
    if spent is None:
        return list(asked)
    units = {key: request.unit or request.item_id for key, request in asked.items()}
    return spent.admitted(spent.ordered(units), purposes(asked))


def purposes(asked: Mapping[str, Request]) -> dict[str, str]:
    return {key: request.purpose for key, request in asked.items()}


def waves(
    spent: Budget | None,
    keys: Sequence[str],
    asked: Mapping[str, Request],
    target: Model,
    known: Mapping[str, Reply],
    max_reasks: int,
) -> Iterator[list[str]]:
    """The keys in parts that may be asked at once; ``known`` holds the replies of a part when the next one is wanted.

    Under a limit of the cost a part is as long as its requests surely fit: which requests are asked depends on what those
    before them were billed alone, never on which reply came first.
    """
    if spent is None:
        yield list(keys)
        return

    def bound(key: str) -> float:
        return _billed(known[key], target) if key in known else _bound(asked[key], target, max_reasks)

    rest = list(keys)
    while rest:
        wave = spent.affordable(rest, bound)
        if not wave:
            spent.leave(rest, purposes(asked))
            return
        yield wave
        for key in wave:
            spent.bill(key, asked[key].purpose, _billed(known[key], target))
        rest = rest[len(wave) :]


def _billed(reply: Reply, target: Model) -> float:
    """What a reply was billed; where an endpoint does not count tokens, by the tokens that it seems to have."""
    if reply.cost is not None:
        return reply.cost
    if reply.unscored or target.price is None:
        return 0.0
    seem = tokens.of_request(reply.request, target), tokens.estimated(reply.raw)
    return accounting.cost(target, *seem) or 0.0


def _bound(request: Request, target: Model, max_reasks: int) -> float:
    """The most that a request can cost: no token is shorter than a byte, and each question anew repeats all."""
    most_in = sum(len(message["content"].encode()) + 16 for message in request.messages)
    most_in += len(schema_text(request.schema).encode()) if request.schema else 0
    most_in += sum(len("".join(tool).encode()) + 16 for tool in request.tools)
    most_out = tokens.longest_reply(request, target, 0)
    asks = 1 + (max_reasks if request.schema else 0)
    return (accounting.cost(target, most_in + most_out * (asks - 1), most_out) or 0.0) * asks


def left_out(request: Request, target: Model, spent: Budget) -> Reply:
    """The reply of a request beyond the budget."""
    detail = f"not asked: the budget was used up ({spent.why})"
    return Reply(request=request, model=target.name, host=target.host, unscored=REASON, detail=detail)


def dry_replies(
    noted: dry.Noted,
    spent: Budget | None,
    asked: Mapping[str, Request],
    target: Model,
    known: Mapping[str, Reply],
    max_reasks: int,
) -> dict[str, Reply]:
    """Note what would be asked, with made-up replies in place of the real ones.

    The budget counts calls here; what each of them will cost is not known before it is asked.
    """
    refuse_unpriced(spent, target)
    within = in_order(spent, asked)
    if spent is not None:
        for key in within:
            spent.bill(key, asked[key].purpose, 0.0)
    new = [key for key in within if key not in noted.seen]
    send = [key for key in new if key not in known]
    beyond = asked.keys() - set(within)
    ins = {key: tokens.of_request(asked[key], target) for key in send}
    outs = {key: tokens.longest_reply(asked[key], target, ins[key]) for key in send}
    again = {key: max_reasks if asked[key].schema else 0 for key in send}  # each with the replies before it
    most_in = sum(ins[k] * (1 + n) + outs[k] * n * (n + 1) // 2 for k, n in again.items())
    total_in, total_out = (sum(ins.values()), most_in), (len(send), sum(outs[k] * (1 + n) for k, n in again.items()))
    least, most = (accounting.cost(target, i, o) if send else 0.0 for i, o in zip(total_in, total_out, strict=True))
    dry.note(
        dry.Round(
            purpose=", ".join(sorted({request.purpose for request in asked.values()} - {""})),
            model=target.name,
            calls=len(new),
            cached=len(new) - len(send),
            to_send=len(send),
            not_asked=len(beyond - noted.seen),
            tokens_in=total_in,
            tokens_out=total_out,
            cost=None if least is None or most is None else (least, most),
        ),
        remark=f"{tokens.HOW} A reply has 1 token at least; at most max_tokens, or what the model's context leaves, or "
        f"{tokens.LONGEST_REPLY:,}. The most counts every question that is repeated while its reply does not fit its schema. A call that fails is "
        "sent again up to 4 times; these retries are not counted here.",
    )
    noted.seen |= asked.keys()
    budget = spent or Budget()
    found = {
        key: known[key] if key in known else _stand_in(asked[key], target, noted.stand, outs.get(key, 1))
        for key in within
    }
    return {**found, **{key: left_out(asked[key], target, budget) for key in beyond}}


def _stand_in(request: Request, target: Model, stand: dry.Stand, longest: int) -> Reply:
    """A made-up reply of a dry run: a short or a long one, or none."""
    none = Reply(
        request=request, model=target.name, host=target.host, unscored=REASON, detail="not asked: this is a dry run"
    )
    if stand == "none":
        return none
    many = stand == "long"
    name = f"{request.item_id or request.prompt_hash[:8]}-{request.sample}"
    if request.schema is None:
        count = min(max(longest // _TOKENS_OF_A_SENTENCE, 1), _LONG_TEXT) if many else 1
        text = _sentences(name, count)
        return Reply(request=request, model=target.name, host=target.host, text=text, raw=text, finish="stop")
    form = json.loads(schema_text(request.schema))
    addresses = list(dict.fromkeys(_ADDRESS.findall(request.prompt_text)))
    made = _Maker(form.get("$defs", {}), addresses, many).made(form, name)
    try:
        value = request.schema.model_validate(made)
    except ValueError:
        return none
    return Reply(
        request=request, model=target.name, host=target.host, text=json.dumps(made), raw=json.dumps(made), value=value
    )


def _sentences(name: str, count: int) -> str:
    return " ".join(f"Statement {i + 1} of the made-up reply {name} is this sentence." for i in range(count))


class _Maker(NamedTuple):
    """Makes values of a JSON schema: the first of several options, or the last; few entries or many, numbered from 1."""

    definitions: Mapping[str, Any]
    addresses: Sequence[str]
    many: bool

    def made(self, form: Mapping[str, Any], name: str, place: int = 1) -> Any:
        if "$ref" in form:
            return self.made(self.definitions[form["$ref"].rpartition("/")[2]], name, place)
        for several in ("anyOf", "oneOf", "allOf"):
            if several in form:
                return self.made(form[several][0], name, place)
        if "const" in form:
            return form["const"]
        if "enum" in form:
            return form["enum"][-1 if self.many else 0]
        kind = form.get("type")
        if kind == "object":
            return {key: self.made(part, f"{name}.{key}", place) for key, part in form.get("properties", {}).items()}
        if kind == "array":
            wanted = min(_LONG_LIST, form.get("maxItems", _LONG_LIST)) if self.many else 1
            count = max(form.get("minItems", 1), wanted)
            return [self.made(form.get("items", {}), f"{name}.{i}", i) for i in range(1, count + 1)]
        if kind in ("integer", "number"):
            return max(form.get("minimum", place), min(form.get("maximum", place), place))
        if kind in ("boolean", "null"):
            return self.many if kind == "boolean" else None
        if name.endswith(".url") and self.addresses:
            return self.addresses[(place - 1) % len(self.addresses)]
        return _sentences(name, 1)
