"""Gives ids, times, durations, paths and ports of a run names that are the same in every run, relations kept. Pure."""

import re

# Eight or twelve hex digits may be a number as well: they are known by where they stand once.
_SHORT = {
    "call": r"(?:\"call\":\"|Z-)([0-9a-f]{8})(?![0-9a-f])",
    "sha-start": r" messages, ([0-9a-f]{12})(?![0-9a-f])",
}
_LONG = {"sha": "[0-9a-f]{64}", "id": "[0-9a-f]{24}", "mark": "[0-9a-f]{16}"}
_MASKED = {
    "«time»": r"\d{4}-\d\d-\d\d(?:T\d\d[:-]\d\d[:-]\d\d[.-]\d{3}Z| \d\d:\d\d)",
    "«seconds»": r"(?<=\"seconds\":)\d+(?:\.\d+)?|(?<=\W)\d+\.\d s(?=\W)",
    "«port»": r"(?<=127\.0\.0\.1:)\d+",
}


def normalise(text: str, places: dict[str, str]) -> str:
    """Return the text of a run with names for what differs between runs.

    The same id, call or hash has the same name wherever it stands, counted from its first occurrence; times, durations
    and ports are masked. `places` are texts, such as paths, by what they are called.
    """
    for place, name in sorted(places.items(), key=lambda pair: -len(pair[0])):
        text = text.replace(place, name)
    patterns = list(_LONG.items())
    for word, pattern in _SHORT.items():
        known = sorted(set(re.findall(pattern, text)))
        patterns += [(word, "|".join(known))] if known else []
    named = {f"n{at}": (word, f"(?<![0-9a-f])(?:{each})(?![0-9a-f])") for at, (word, each) in enumerate(patterns)}
    masked = {f"m{at}": (mask, pattern) for at, (mask, pattern) in enumerate(_MASKED.items())}
    names: dict[str, str] = {}
    counts: dict[str, int] = {}

    def name_of(match: "re.Match[str]") -> str:
        kind, found = str(match.lastgroup), match.group()
        if kind in masked:
            return masked[kind][0]
        if found not in names:
            word = named[kind][0]
            counts[word] = counts.get(word, 0) + 1
            names[found] = f"«{word} {counts[word]}»"
        return names[found]

    every = "|".join(f"(?P<{group}>{pattern})" for group, (_, pattern) in (named | masked).items())
    return re.sub(every, name_of, text)
