"""Characters that hide or steer are marked wherever they do; scripts and emoji keep what they need; no picture carries one."""

from __future__ import annotations

import pytest

from evalbench.draw.html import attribute, escape, plain
from evalbench.draw.style import new_figure, to_svg

NEEDED = [
    "می‌خواهم",  # Persian, zero width non-joiner
    "क्‍ष और क्‌ष",  # Hindi, both joiners behind a virama
    "শ্রী র‍্যাব", "ශ්‍රී ලංකා",  # Bengali, Sinhala
    "നന്‍", "ക്‍",  # Malayalam, at the end of a word
    "👩‍💻 👨‍👩‍👧‍👦 🏳️‍🌈 ❤️‍🔥 🧑🏽‍🚀", "1️⃣ #️⃣ ✈︎ ☎️ ©️",  # joined pictures, keycaps, text and picture forms
    "葛󠄀城 辻󠄁", "ᠠᠷ᠋",  # an ideograph's form, Mongolian
    "ᅟᅡ",  # old Hangul
]  # fmt: skip
# Text, what hides in it, and how that is named.
HIDING = [
    ("pay\u200cpal", "ZWNJ"), ("pay\u200dpal", "ZWJ"), ("a\u034fb", "CGJ"), ("a\u115fb", "HCF"), ("a\u3164b", "HF"), ("a\uffa0b", "HWHF"),
    ("a\ufe0fb", "VS16"), ("a\U000e0101b", "VS18"), ("1\ufe0f2", "VS16"), ("👩\u200d\u200d💻", "ZWJ"), ("❤\ufe0f\ufe01", "VS2"),
    ("葛\U000e0100\U000e0101", "VS18"), ("می\u200c\u200cخ", "ZWNJ"), ("a\u200dب", "ZWJ"), ("x\U000e0041\U000e0042", "U+E0041"),
    ("a\u180eb", "U+180E"), ("a\u17b4b", "U+17B4"), ("a\u2064b", "U+2064"), ("\u202eabc", "RLO"), ("\x1b[31m", "ESC"), ("\x9b31m", "U+009B"),
    ("a\ufff0b", "U+FFF0"), ("a\U0001d173b", "U+1D173"), ("\ud83d", "U+D83D"),
]  # fmt: skip


@pytest.mark.parametrize("text", NEEDED)
def test_what_a_script_or_an_emoji_needs_stays(text):
    assert plain(text) == text
    assert escape(text) == text


@pytest.mark.parametrize(("text", "name"), HIDING)
def test_what_hides_is_named(text, name):
    assert f"‹{name}›" in plain(text)
    assert f">{name}</span>" in escape(text)
    assert f"‹{name}›" in attribute(text)
    assert plain(plain(text)) == plain(text)


def test_the_tests_hold_what_they_say():
    assert all(
        any(ord(c) in (0x200C, 0x200D, 0xFE0E, 0xFE0F, 0x180B, 0x115F, 0xE0100, 0xE0101) for c in text)
        for text in NEEDED
    )


RAW = "\x1b[31m\u202e\u200b"


def drawn(where: str) -> object:
    """A figure with a hostile text in one place."""
    said = f"fern{RAW}"
    figure, ax = new_figure()
    ax.set_title("What a checker finds")
    ax.set_xlabel("F1")
    ax.set_ylabel("texts")
    if where == "categories":
        ax.bar([said, "moss"], [1, 2])
    elif where == "categories on the side":
        ax.barh([said, "moss"], [1, 2])
    elif where == "ticks":
        ax.set_yticks([0, 1], [said, "moss"])
    elif where == "ticks after drawing":
        ax.set_xticks([0, 1], ["a", "b"])
        figure.draw_without_rendering()
        ax.set_xticks([0.5], [said], minor=True)
    elif where == "formatter":
        ax.xaxis.set_major_formatter(lambda value, position: said)
    elif where == "offset":
        ax.yaxis.get_major_formatter().get_offset = lambda: said
    elif where == "legend":
        ax.plot([0, 1], [0, 1], label=said)
        ax.legend(title=said)
    elif where == "annotation":
        ax.annotate(said, (0.5, 0.5))
    elif where == "table":
        ax.table([[said]], rowLabels=[said])
    elif where == "second axis":
        ax.secondary_xaxis("top").set_xticks([0, 1], [said, "b"])
    elif where == "colours":
        bar = figure.colorbar(ax.imshow([[0, 1]]), orientation="horizontal")
        bar.ax.set_ylabel("-")
        bar.set_label(said)
        bar.set_ticks([0, 1], labels=[said, "b"])
    else:
        getattr(ax, f"set_{where}")(said)
    return figure


@pytest.mark.parametrize(
    "where",
    ["title", "xlabel", "ylabel", "categories", "categories on the side", "ticks", "ticks after drawing", "formatter", "offset", "legend",
     "annotation", "table", "second axis", "colours"],
)  # fmt: skip
def test_no_picture_carries_a_raw_control(where):
    svg = to_svg(drawn(where), f"What {RAW} each checker finds in many texts")
    assert "fern‹ESC›[31m‹RLO›‹ZWSP›" in svg
    assert not set(RAW[:1] + RAW[5:]) & set(svg)
