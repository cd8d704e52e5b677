"""Characters that hide, reorder or steer, and the places where a script or an emoji needs them.

All that Unicode lets a renderer leave out (Default_Ignorable_Code_Point), controls, line separators and halves of
characters are marked.  Kept are joiners between letters of scripts that join (Persian, Hindi, Sinhala), joiners and
selectors within an emoji, one selector after an ideograph, fillers within old Hangul syllables.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_HIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\ud800-\udfff\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
# Letters and marks of the scripts that join: Arabic, Syriac, N'Ko, Mandaic, the Indic ones to Sinhala, Tibetan, Myanmar, Khmer,
# Mongolian and the Indic ones of Asia's islands.
_JOINING = (
    "\u0620-\u065f\u066e-\u06d3\u06fa-\u06ff\u0710-\u074a\u074d-\u077f\u07ca-\u07f5\u0840-\u085b\u0860-\u086a\u0870-\u08ff\u0900-\u0dff"
    "\u0f40-\u0fbc\u1000-\u109f\u1780-\u17b3\u17b6-\u17d3\u1820-\u18aa\u1900-\u1bff\ua840-\ua871\ua880-\ua8ff\ua980-\uaa7f"
    "\ufb50-\ufdff\ufe70-\ufefc\U00010a00-\U00010a5f\U00011000-\U00011fff"
)
_VIRAMA = "\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca\u0f84\u1039\u17d2\u1b44\ua806\ua8c4\ua9c0\U00011046\U000110b9"
_PICTURES = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u21aa\u231a-\u23ff\u24c2\u25aa-\u25fe\u2600-\u27bf\u2934\u2935\u2b05-\u2b55\u3030\u303d"
    "\u3297\u3299\U0001f000-\U0001faff"
)
_IDEOGRAPHS = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_NEEDED = re.compile(
    "|".join([
        f"(?<=[{_JOINING}])[\u200c\u200d](?=[{_JOINING}])",
        f"(?<=[{_VIRAMA}])[\u200c\u200d]",
        f"(?<=[{_PICTURES}\ufe0f])\u200d(?=[{_PICTURES}])",
        f"(?<=[{_PICTURES}])[\ufe0e\ufe0f]",
        "(?<=[0-9#*])\ufe0f(?=\u20e3)",
        f"(?<=[{_IDEOGRAPHS}])[\ufe00-\ufe02\U000e0100-\U000e01ef]",
        "(?<=[\u1820-\u18aa])[\u180b-\u180d\u180f]",
        "\u115f(?=[\u1161-\u11a7])",
        "(?<=[\u1100-\u115e])\u1160(?=[\u11a8-\u11ff])",
    ])
)  # fmt: skip


def marked(text: str, mark: Callable[[str], str]) -> str:
    """A text with ``mark(character)`` for each character that hides, reorders or steers where nothing needs it.

    Examples
    --------
    >>> marked("pay\u200bpal, می\u200cخواهم", lambda character: "!")
    'pay!pal, می\u200cخواهم'
    """
    return _HIDDEN.sub(lambda found: found[0] if _NEEDED.match(found.string, found.start()) else mark(found[0]), text)
