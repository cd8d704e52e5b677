"""The words that a reader of a page may not know: one source for the pages and for ``docs/glossary.md``.

A page has those that appear on it.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from typing import NamedTuple

from evalbench.draw.html import Html, attribute, escape
from evalbench.draw.verdict import term_anchor

MARK = "<!-- terms -->"
_UNSEEN = re.compile(r"<(style|script|svg)\b.*?</\1>|<details class=\"code\">.*?</details>", re.DOTALL)
_TAG = re.compile(r"<[^>]*>")


class Term(NamedTuple):
    """A word, what it means, and the pattern that finds it in the text of a page."""

    name: str
    meaning: str
    pattern: str

    @property
    def anchor(self) -> str:
        return term_anchor(self.name)


TERMS = (
    Term(
        "light",
        "The verdict in one word. Green, yellow and red follow from the figures by the rule that the page states; grey: there is too "
        "little evidence to say; unlit: no rule was set, so nothing was judged.",
        r"\b(?:unlit|grey|green|yellow|red)\b",
    ),
    Term(
        "resamples that give the same light",
        "The items were drawn anew many times, and the light computed each time. 100 % means that chance in the choice of items "
        "hardly matters; 60 % that the light could as well be another.",
        r"of resamples",
    ),
    Term(
        "clusters",
        "Items that come together, such as questions about one passage. Intervals and tests draw whole clusters: items of one are alike, "
        "and count for less than as many items from everywhere. What matters for the interval is the number of clusters.",
        r"\bclusters\b",
    ),
    Term(
        "slices",
        "The values of a column by which the figures are looked at apart. A value is said to be worse than the rest only where the "
        "difference remains after allowing for how many values were tried.",
        r"\bSlices\b",
    ),
    Term(
        "n",
        "The items that have a value and enter the figure. With *unscored* and *undefined* it adds up to all items of the group. "
        "Where something else is counted, the figure says so.",
        r"\bunscored\b",
    ),
    Term(
        "unscored",
        "Items that should have a score and have none, because something failed: no answer, no reply of a judge, a reply that cannot "
        "be read. They are left out of the figure, never counted as 0, and their reasons are listed.",
        r"\b(?:unscored|could not be scored)\b",
    ),
    Term(
        "diversity",
        "How much several answers to one question differ, over all pairs of them, in percentage points (pp). *Lexical*: in words, 0 where "
        "all are the same, 100 where no two share a word. *Semantic*: in meaning, 1 − cosine of their embeddings; where unrelated texts "
        "lie depends on the model.",
        r"\b(?:[Ll]exical|[Ss]emantic) diversity\b",
    ),
    Term(
        "trial",
        "One of several answers to the same item. Each item counts once, with the average of its scored trials; it is unscored only "
        "where all of its trials are.",
        r"\btrials?\b",
    ),
    Term(
        "pass@k, pass^k",
        "The chance that at least one of k answers to a question is right (pass@k), and that all k are (pass^k), both without bias from "
        "the answers at hand. k goes up to the number of answers that 95 % of the items have; other items are left out and counted.",
        r"\bpass[@^]k\b",
    ),
    Term(
        "flickering item",
        "An item of which some answers are right and some are wrong. In a comparison it does not count as one that changed.",
        r"\bflicker",
    ),
    Term(
        "variance by its source",
        "The variance of a mean is the sum of what the choice of items, the repeated answers and the repeated judging add to it. The parts "
        "are unbiased estimates; one below 0 is shown as 0 and marked. A part that only items have does not shrink with more answers.",
        r"\bVariance of the mean\b",
    ),
    Term(
        "undefined",
        "Items for which the figure does not exist, though nothing failed: precision where nothing was found, a figure that needs a "
        "reference where none is given.",
        r"\bundefined\b",
    ),
    Term(
        "unit",
        "What is drawn as a whole when chance is estimated: an item, or a text or document with all that belongs to it. More rows "
        "of the same unit do not make a figure surer.",
        r"\bunits?\b",
    ),
    Term(
        "95 % interval",
        "Where the true figure may lie, given how few items were looked at. Computed so that of 100 such intervals about 95 hold it. "
        "It covers chance in the choice of items, not faults of the data or of the measure.",
        r"95\s% (?:interval|bootstrap)|\[95\s%\]",
    ),
    Term(
        "bootstrap",
        "A way to an interval: as many items as there are, drawn again and again with replacement; the middle 95 % of the figures of "
        "these resamples (*percentile* bootstrap). *Clustered*: whole units are drawn. *Paired*: both sides of a comparison are "
        "computed on the same draw.",
        r"\bbootstrap\b",
    ),
    Term(
        "normal limit",
        "What the distribution of a sum of very many items comes to. The sums of resamples of more than 100 000 items that differ are "
        "drawn from it at once, where no item weighs much, in place of the items one by one.",
        r"\bnormal limit\b",
    ),
    Term(
        "Wilson",
        "A formula (1927) for the interval of a share. It stays within 0 and 1, and is not empty where all items agree: 20 of 20 is "
        "0.84 to 1. *Modified* (2001): with only 1 or 2 items that differ from the rest (3 of more than 50) the end on their side is "
        "further out, since the formula covers too little there.",
        r"\bWilson\b",
    ),
    Term(
        "p",
        "How often chance alone would give a difference at least as large, were there none. Small values speak against chance; a large "
        "one does not show that two things are equal.",
        r"\bp (?:[=<]|\d)|\bp-values?\b|\bp, Holm\b",
    ),
    Term(
        "Holm",
        "Who tests often finds something by chance. Holm's adjustment raises p-values by the number of tests, so that among all of them "
        "a false *better* or *worse* comes up in at most 5 % of cases. The adjusted value decides.",
        r"\bHolm\b",
    ),
    Term(
        "permutation test",
        "The two sides are swapped at random, unit by unit, many times; p is how often the difference is then at least as large as "
        "the one that was seen.",
        r"\bpermut\w+|\bswap(?:s|ped|ping)\b",
    ),
    Term("McNemar's test", "An exact test for pairs of yes and no: it counts the items on which only one side is right.", r"\bMcNemar\b"),
    Term(
        "80 % power",
        "A difference of this size, tested alone, would be shown by four of five studies with as many items. Smaller ones may exist "
        "and would mostly be missed.",
        r"80\s% power",
    ),
    Term("precision", "Of what was found, the share that is right.", r"\bprecision\b"),
    Term("recall", "Of what should be found, the share that was.", r"\brecall\b"),
    Term("F1", "One number for precision and recall, their harmonic mean: high only where both are.", r"\bF1\b"),
    Term("Jaccard", "What two sets share, divided by all that either has: 0 to 1.", r"\bJaccard\b"),
    Term("cosine similarity", "How alike two texts are to a model that turns texts into vectors: 1 is the same direction. Each model has a scale of its own.", r"\bcosines?\b"),
    Term(
        "std and ha",
        "Two scores of a pair of a true and a predicted violation. std, standard: overlap of the passages and similarity of the rules. "
        "ha, human-aligned: these two with category, explanation and correction.",
        r"\bstandard \(std\)|\bhuman-aligned\b",
    ),
    Term("correlation", "Whether two things rise and fall together: 1 always, 0 not at all, −1 in opposite directions. Spearman's and Kendall's look at the order only, Pearson's at straight lines.", r"\b(?:Spearman|Kendall|Pearson)\b"),
    Term("alpha", "Krippendorff's alpha: how far annotators agree beyond chance. 1 is full agreement, 0 what chance gives, below 0 less than that.", r"\bKrippendorff\b"),
    Term("kappa", "Cohen's kappa: how far two annotators agree beyond chance, on the same scale as alpha.", r"\bkappa\b"),
    Term("ceiling", "The best that can be expected, since the people or references that it is measured by do not agree with themselves either.", r"\bceiling\b"),
    Term("Williams' test", "A test of two correlations with the same third thing.", r"\bWilliams\b"),
    Term("confidence p", "In the study of confidence p is not a p-value: it is the share of a model's further answers that repeat its answer, or how similar they are to it.", r"1 − p\b"),
    Term("AUROC", "The chance that a wrong answer has a higher score of doubt than a right one: 0.5 as by chance, 1 where all wrong ones have. It does not depend on how many are wrong.", r"\bAUROC\b"),
    Term("AUPRC", "Average precision: how clean the list of the most doubtful answers is. By chance it is the share of wrong answers, so that it cannot be read without that share.", r"\bAUPRC\b"),
    Term("risk–coverage", "How many of the answers are wrong that are left when the most doubtful are held back; the area is the mean over all ways to hold back.", r"\b[Rr]isk–coverage\b"),
    Term("calibration error (ECE)", "How far confidence is from the share of right answers among those with that confidence. 0 does not mean that wrong answers can be told from right ones.", r"\b[Cc]alibration error\b|\bECE\b"),
    Term("held out", "Computed on items that were not used to choose settings. Only such figures say what to expect of new items.", r"\bheld[ -]out\b"),
    Term("baseline/lexical", "A judge that compares words and needs no model. It finds shared words, not meaning, so that a light that rests on it stays grey.", r"\bbaseline/lexical\b"),
    Term("corrected by labels", "What people would say on average of all items, computed from what a judge says of all and people of some. Where the judge is too kind or too strict on the labelled items, the figure is moved by as much; its interval holds the chance in both. Good only if the labelled items are a fair part of all, or chosen as the run was told.", r"→ corrected\b"),
    Term("human − corrected", "Whether a correction that was learnt on other data is right here: on labelled items of this data, the mean of what people say less what the correction expects. An interval beside 0 means that it is not.", r"human − corrected"),
    Term("synthetic data", "Made up for trying things out. Figures on them say nothing about any real system.", r"\bSYNTHETIC DATA\b|\bsynthetic\b"),
)  # fmt: skip


def appearing(page: str) -> tuple[Term, ...]:
    """The terms in the text of a page, folded parts included; not those in code and pictures.

    Examples
    --------
    >>> [term.name for term in appearing("<p>F1, p, Holm</p><style>.unscored {}</style>")]
    ['p', 'Holm', 'F1']
    """
    text = html.unescape(_TAG.sub(" ", _UNSEEN.sub(" ", page)))
    return tuple(term for term in TERMS if re.search(term.pattern, text))


def glossary_html(terms: Sequence[Term]) -> Html:
    """Terms with their meanings, folded; nothing where there are none."""
    lines = "".join(
        f'<dt id="{attribute(term.anchor)}">{escape(term.name)}</dt><dd>{_emphasised(term.meaning)}</dd>'
        for term in terms
    )
    if not lines:
        return Html("")
    return Html(
        '<section id="terms" aria-labelledby="terms-title"><h2 id="terms-title">Terms on this page</h2>'
        f'<details class="eb-more"><summary>{escape(", ".join(term.name for term in terms))}</summary>'
        f'<dl class="facts">{lines}</dl></details></section>'
    )


def _emphasised(text: str) -> str:
    return re.sub(r"\*([^*]+)\*", r"<i>\1</i>", escape(text))


def with_glossary(page: str) -> str:
    """A page with the terms that appear on it in the place of :data:`MARK`."""
    return page.replace(MARK, glossary_html(appearing(page)), 1)


def glossary_markdown() -> str:
    """``docs/glossary.md``: all terms."""
    lines = [f"| {term.name} | {term.meaning} |" for term in sorted(TERMS, key=lambda term: term.name.casefold())]
    return "\n".join(
        [
            "# Terms",
            "",
            "The words on the pages of reports and comparisons. Each page explains those that appear on it, in these words "
            "(`evalbench/report/glossary.py`; `python scripts/readme_tables.py` writes this file).",
            "",
            "| term | meaning |",
            "|---|---|",
            *lines,
            "",
        ]
    )
