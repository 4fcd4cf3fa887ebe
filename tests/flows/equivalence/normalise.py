"""Gives ids, times, durations, paths and ports of a run names that are the same in every run, relations kept. Pure."""

import re

# In the order in which they are looked for at each place: what is longer comes first.
_NAMED = {
    "sha": r"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])",
    "id": r"(?<![0-9a-f])[0-9a-f]{24}(?![0-9a-f])",
    "mark": r"(?<![0-9a-f])[0-9a-f]{16}(?![0-9a-f])",
    "sha-start": r"(?<![0-9a-f])(?=[0-9a-f]*[a-f])[0-9a-f]{12}(?![0-9a-f])",
    "call": r"(?<![0-9a-f-])(?=[0-9]*[a-f])[0-9a-f]{8}(?![0-9a-f])|(?<=Z-)[0-9a-f]{8}(?![0-9a-f])",
}
_MASKED = {
    "«time»": r"\d{4}-\d\d-\d\d(?:T\d\d[:-]\d\d[:-]\d\d[.-]\d{3}Z| \d\d:\d\d)",
    "«seconds»": r"(?<=\"seconds\":)\d+(?:\.\d+)?|(?<=\W)\d+\.\d s(?=\W)",
    "«port»": r"(?<=127\.0\.0\.1:)\d+",
}
_ANY = re.compile(
    "|".join(
        [
            *(f"(?P<n{at}>{pattern})" for at, pattern in enumerate(_NAMED.values())),
            *(f"(?P<m{at}>{pattern})" for at, pattern in enumerate(_MASKED.values())),
        ]
    )
)
_WORDS = {f"n{at}": word for at, word in enumerate(_NAMED)}
_MASKS = {f"m{at}": mask for at, mask in enumerate(_MASKED)}


def normalise(text: str, places: dict[str, str]) -> str:
    """Return the text of a run with names for what differs between runs.

    The same id, call or hash has the same name wherever it stands, counted from its first occurrence; times, durations
    and ports are masked. `places` are texts, such as paths, by what they are called.
    """
    for place, name in sorted(places.items(), key=lambda pair: -len(pair[0])):
        text = text.replace(place, name)
    names: dict[str, str] = {}
    counts: dict[str, int] = {}

    def name_of(match: "re.Match[str]") -> str:
        kind, found = str(match.lastgroup), match.group()
        if kind in _MASKS:
            return _MASKS[kind]
        if found not in names:
            word = _WORDS[kind]
            counts[word] = counts.get(word, 0) + 1
            names[found] = f"«{word} {counts[word]}»"
        return names[found]

    return _ANY.sub(name_of, text)
