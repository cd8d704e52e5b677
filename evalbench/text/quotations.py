"""Find what is said to be quoted, whatever its quotation marks and dashes, and where words were left out of it."""

from __future__ import annotations

import re
from unicodedata import east_asian_width

from evalbench.text.locate import Location, locate
from evalbench.text.numbers import find_numbers

# A few letters appear in any text: finding them proves nothing.
SHORTEST = 8
# Words left out of a quotation, with or without brackets.
_LEFT_OUT = re.compile(r"[\[(]?(?:…|\.{3,}|(?:\. ){2,}\.)[\])]?")
# One sign for one, so that places stay: quotation marks and dashes are the typesetter's, not the author's.
_PLAIN = str.maketrans("“”„‟«»‘’‚‛′`–—−‐‑―", '"' * 6 + "'" * 6 + "-" * 6)


def long_enough(quotation: str) -> bool:
    """Whether finding these words proves something: eight letters or digits, wide ones count twice.

    Examples
    --------
    >>> long_enough("in the"), long_enough("sank in 1912")
    (False, True)
    """
    inked = [c for c in quotation if c.isalnum()]
    return len(inked) + sum(east_asian_width(c) in "WF" for c in inked) >= SHORTEST


def locate_quotation(quotation: str, text: str, threshold: float) -> Location | None:
    """Where a quotation is; of one that leaves words out its first part.

    All parts must be there, one after the other.  A passage that is alike but lacks one of the numbers is another one.

    Examples
    --------
    >>> locate_quotation("“The bridge … 1908”", 'He said: "The bridge fell on 3 March 1908"', 0.9).how
    'in parts'
    >>> locate_quotation("fell on 4 March 1908", "The bridge fell on 3 March 1908", 0.9) is None
    True
    """
    plain = text.translate(_PLAIN)
    parts = [part.strip() for part in _LEFT_OUT.split(quotation.translate(_PLAIN)) if any(map(str.isalnum, part))]
    places: list[Location] = []
    end = 0
    for part in parts:
        # What is too short to be told from other words must be there as it is.
        exactly = len(parts) > 1 and not long_enough(part)
        place = locate(part, plain[end:], 1.0 if exactly else threshold)
        if place is None or _values(part) - _values(plain[end:][place.start : place.end]):
            return None
        places.append(place)
        end += place.end
    if len(places) > 1:
        return places[0]._replace(how="in parts")
    return places[0] if places else None


def _values(text: str) -> set[object]:
    return {n.value for n in find_numbers(text)}
