"""What makes a clause worth keeping and what it must not be: the cues of statements with their weights (F14). Pure."""

import re
from dataclasses import dataclass
from functools import lru_cache

KEEP = 3
"""The least score of a clause that is kept."""
CONCRETE_MOST = 6
"""How much numbers, dates, versions, tickets and names can add together."""
_STRONG = 3
_FIRST = 2
_WEIGHED_MOST = 8192  # clauses whose weight is kept: a long conversation's are all ranked at each condensation
_QUOTE_WORDS = 4  # a quotation of more words is someone's sentence, of fewer a name


def _words(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.VERBOSE)


# What holds beyond this request; it counts in an order to the model too.
_STANDING = {
    "remember": _words(
        r"\b(?:remember|don['’]?t\ forget|do\ not\ forget|keep\ in\ mind|bear\ in\ mind|note\ that|fyi)\b"
    ),
    "always": _words(r"\b(?:always|every\ time)\b"),
    "never": _words(r"\b(?:never|don['’]?t\ ever|do\ not\ ever|under\ no\ circumstances)\b"),
    "must": _words(r"\b(?:must|have\ to|has\ to|may\ not|not\ allowed)\b"),
    "from now on": _words(
        r"\b(?:from\ (?:now|here|today|this\ point)\ on(?:wards?)?|as\ of|going\ forward|henceforth)\b"
    ),
    "prefer": _words(
        r"\b(?:prefer(?:red|s|ence)?|rather\b(?!\ than)|favou?rite|(?:i|we)\ (?:like|love|hate|dislike))\b"
    ),
    "call me": _words(r"\bcall\ (?:me|it|us|this)\ \S"),
}
_CHANGES = {
    "decided": _words(r"\b(?:decided|chose|chosen|agreed|settled\ on|picked|opted|went\ with|going\ with|decision)\b"),
    "changed": _words(
        r"\b(?:changed|switched|renamed|replaced|upgraded|downgraded|raised|lowered|increased|reduced|updated\ to)\b"
    ),
    "moved": _words(r"\b(?:moved|migrated|relocated|postponed|rescheduled|pushed\ (?:back|to))\b"),
    "deadline": _words(r"\b(?:deadline|due|expires?|expiry|no\ later\ than|appointment|cut-?off)\b"),
}
_NOW = _words(r"\b(?:now|actually|instead|no\ longer|any\ ?more|currently|these\ days)\b")

_FIRST_PERSON = _words(
    r"""(?<![\w'’])(?:i|we)(?:['’](?:m|ve|re|d|ll))?\ (?!(?:am\ |are\ )?(?:not\ |also\ |just\ |still\ |really\ )*
        (?:think|thought|guess|believe|suppose|wonder|hope|see|saw|mean|meant|get|got|try|trying|tried|ran|understand|know|
        getting|wondering|looking|sure|afraid|sorry|asking|asked|curious|stuck|confused|happy|glad|seeing|
        have\ no\ idea|(?:don['’]?t|didn['’]?t|do\ not|did\ not|can['’]?t|cannot|can\ not|couldn['’]?t)\ \w+)\b)
        | (?<!\w)(?:my|our|mine|ours)\b""",
)
_SELF = _words(
    r"\b(?:i|we)(?:['’](?:m|ve|re)|\ am|\ are|\ was|\ were|\ have|\ had|\ own|\ live|\ work|\ study|\ speak|\ come|"
    r"\ go|\ play|\ grew|\ moved|\ started|\ finished|\ run|\ deploy|\ host|\ ship|\ support|"
    r"\ don['’]?t\ (?:eat|drink|use|like))\b"
)
_USE = _words(
    r"\b(?:we|i)(?:['’]re)?\ (?:now\ |all\ |only\ |currently\ |still\ )?(?:use|using|run|on|write|deploy)\ \S"
)
_REQUEST = _words(
    r"""^(?:(?:now|please|pls|kindly|just|then|also|first|ok|and|again|quickly|go\ ahead\ and)[,\ ]+)*
        (?:write|give|show|fix|make|create|add|explain|summari[sz]e|list|run|rerun|open|read|check|translate|tell|find|help|
        generate|implement|refactor|rewrite|review|describe|compare|compute|calculate|convert|continue|go|try|update|delete|
        remove|move|rename|print|draft|shorten|look|search|test|install|build|debug|draw|suggest|propose|let|format|count|
        sort|use|change|set|send|put|start|stop|restart|wait|retry|apply|commit|push|merge|replace|insert|edit|plan|name|
        pick|choose|answer|reply|say|repeat|imagine|do|take|get|see|extract|parse|split|join|turn|keep|ask|think|prepare|
        produce|design|return|include|exclude|analy[sz]e|save|load|download|upload|clean|simplify|improve|finish)\b
        | \bi(?:['’]d|\ would)\ (?:like|love)\b | \b(?:i|we)\ (?:want|need)\ (?:you|a|an|some|help|the|this|it|
        to\ (?:know|see|understand|find|get|make|write))\b"""
)
_NOMINAL = _words(
    r"(?:the|a|an|this|that|these|those|there|there's|it|its|it's|my|our|i|we|all|each|every|both|one|today|tomorrow)\b|"
    r"(?:i|we|it|there)['’]"
)
_VERB = _words(r"\b(?:is|are|was|were|has|have|had|will|runs?|takes?|costs?|goes|lives?|\w+ed|\w{3,}s)\b")

# What a clause must not be.
_ASKS = _words(
    r"""^(?:so\ |and\ |but\ |then\ |now\ |ok\ )*(?:what|who|whom|whose|when|where|which|why|how)(?:['’]s|['’]re)?\b
        | ^(?:so\ |and\ |but\ |then\ )*(?:can|could|would|will|shall|should|may|do|does|did|is|are|was|were|am|has|have|
        had|isn['’]t|aren['’]t|don['’]t|doesn['’]t|didn['’]t|won['’]t|can['’]t)\ (?:i|we|you|he|she|it|they|this|that|
        these|there|the|a|an|my|our|your|his|her|their|its|any|anyone|anybody|someone|everyone|some)\b
        | \b(?:whether|wonder(?:ing)?|(?:tell|ask|show|remind)\ (?:me|us)\ (?:if|what|who|when|where|which|why|how)
        |let\ (?:me|us)\ know|explain\ (?:to\ me\ )?(?:why|how|what)|any\ idea|do\ you\ (?:know|remember)
        |remember\ (?:what|when|who|how|where))\b"""
)
_SUPPOSES = _words(
    r"""\b(?:if|suppose|supposing|imagine|assume|assuming|pretend|hypothetical(?:ly)?|perhaps|maybe|possibly|might|
        could|would(?!\ (?:rather|prefer))|wish|in\ case|unless|let['’]?s\ say|what\ if|e\.g|
        (?:for|as)\ (?:an\ )?(?:example|instance)|as\ though|(?:were|had|should)\ (?:i|we|the|it|he|she|they)\b
        |supposedly|apparently|falls|wenn|angenommen|vielleicht
        |peut-être|supposons|quizás|supongamos|forse)\b | ^say\ (?:we|i|that|the|my|our)\b | 如果 | もし
        | ^(?:si|se|als|om|jeśli|если)\ """
)
_WISH = (
    r"(?:prefers?|preferred|wants?|wanted|likes?|liked|loves?|hates?|dislikes?|wish(?:es)?|hopes?|thinks?|thought|"
    r"believes?|insists?|demands?|asks?|asked|suggests?|recommends?|feels?|requested|"
    r"(?:would|['’]d)\ (?:like|love|prefer|rather)|"
    r"says?|said|told|tells|claims?|claimed|states?|stated|writes?|wrote|mentions?|mentioned|argues?|complains?)\b"
)
_NEED = r"(?:needs?|requires?|expects?|expected|always|never|must|has\ to|have\ to)\b"
_SOMEONE = (
    r"(?:boss|manager|client|customer|user|lead|wife|husband|partner|friend|colleague|co-?worker|designer|developer|people|"
    r"person|marketing|sales|management|staff|guy|man|woman|son|daughter|mother|father|parent|ceo|cto|teacher|student|doctor|"
    r"folk|stakeholder|sponsor|investor|owner|reviewer|department|board|committee|team|company|vendor|landlord)s?"
)
_OTHERS = re.compile(
    rf"""^(?:he|she|they|people|everyone|everybody|someone|somebody|most|some|many|others|nobody)\b
        | ^(?!(?:please|and|also|but|never|always|remember|must|do|don['’]?t|let)\b)
          (?:(?!(?:i|we|you)\b)[^\s,;:]+\ ){{1,5}}?
          (?:(?:also|really|always|never|still|just|only|often|both|all|usually|clearly|then)\ )*{_WISH}
        | ^(?:[^\s,;:]+\ ){{0,3}}{_SOMEONE}\ (?:[^\s,;:]+\ ){{0,2}}?{_NEED}
        | \b(?:according\ to|as\ \w+\ (?:\w+\ )?(?:says?|said|puts?\ it|wrote)) | \b(?:he|she|they)\ {_WISH}""",
    re.IGNORECASE | re.VERBOSE,
)
_LABELLED = re.compile(
    r"(?!(?:Note|Reminder|Correction|FYI|Decision|Update|PS|Fact|TODO|Remember)\b)[A-Z][\w.-]{0,24}: (.+)"
)
_SPOKEN = re.compile(r"(?:I|[Ww]e|[Mm]y|[Oo]ur|[Yy]ou)\b")

# Values.
_QUOTED = re.compile(
    r"[\"“„«「『]([^\"“”„«»「」『』]{1,400})[\"”»」』]|(?<![\w])['‘]([^'‘’\n]{1,400})['’](?!\w)|`([^`]{1,200})`"
)
_CONCRETE = {
    "number": re.compile(
        r"(?<![\w.])[€$£+-]?\d[\d.,:/ -]{0,30}\w*%?|\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve)\b"
    ),
    "date": _words(
        r"""\b(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday)s?\b | \b\d{4}-\d\d-\d\d\b | \b\d{1,2}:\d\d\b
            | \b\d{1,2}(?:st|nd|rd|th)?\ (?:of\ )?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b
            | \b(?:january|february|march|april|may|june|july|august|september|october|november|december)\ \d{1,4}\b
            | \b(?:tomorrow|next\ (?:week|month|year)|tonight|noon|midnight)\b | \b(?:19|20)\d\d\b"""
    ),
    "version": re.compile(r"\bv?\d+(?:\.\d+)+\b|\bversion \d+"),
    "ticket": re.compile(r"\b[A-Z][A-Z0-9]+-\d+\b|(?<!\w)#\d+\b"),
    "name": re.compile(r"(?<=[\w,:] )(?!I\b)[A-Z][\w-]+"),
    "identifier": re.compile(
        r"\S+@\S+\.\w+|\b[\w-]+(?:\.[\w-]+){2,}\b|(?<!\S)(?:~|\.{0,2})/[\w.-]+|\b\w+_\w+\b|https?://"
    ),
}
_BLOB = re.compile(r"[^\s/]{120,}")

_NOT_NAMED = (
    r"(?:problem|issue|question|point|thing|idea|reason|error|bug|trouble|rest|fact|truth|guess|answer|same|other)s?\b"
)
NAMED = _words(
    rf"""(?:^|(?<=[\s,:]))(?P<owner>my|our|the|this)\ (?!{_NOT_NAMED})
        (?P<name>(?:(?!is\b|are\b|was\b)[^\s,;:=]+\ ){{0,5}}?[^\s,;:=]+)
        \ (?:is\ called|is\ named|is|are|was|=|will\ be|goes\ by|stays|remains|equals|to|ist|est)
        \ (?:now\ |actually\ )?(?P<value>\S.*)"""
)
ASSIGNED = re.compile(r"^(?P<name>[^\W\d][\w. -]{0,60}?)\s*=\s*(?P<value>[^\s=(\[{][^={}()\[\]]{0,200})$")
_FOREIGN = _words(
    r"""(?P<owner>mein|meine|unser|unsere|der|die|das|mon|ma|notre|le|la|les|mi|nuestro|nuestra|el|il\ mio|la\ mia|il|
        lo|meu|minha|o|a|mijn|onze|de|het|min|mitt|vår|mój|moja|nasz|nasza|мой|моя|моё|наш|наша|наше)
        \ (?P<name>[^\s,;:=]+(?:\ [^\s,;:=]+){0,4}?)
        \ (?:ist|sind|heißt|lautet|est|sont|s['’]appelle|es|son|se\ llama|è|sono|si\ chiama|é|se\ chama|är|heter|heet|
        to|jest|—|это)
        \ (?P<value>\S.*)|(?P<name2>[我私僕][们的の]?[^，。\s]{1,16}?)(?:是|は|叫)(?P<value2>[^，。\s]{1,40})"""
)
_ENGLISH = _words(
    r"\b(?:the|is|are|to|of|and|for|my|we|i|it|this|that|with|on|you|at|was|be|has|have|not|please|do|by|from)\b"
)
_WORD = re.compile(r"[^\W\d_]{2,}")
_PLAIN = _words(
    r"""(?:not|that|to|how|what|why|where|because|too|very|so|still|also|just|quite|pretty|really|wrong|right|fine|good|bad|
        ok|okay|broken|down|slow|fast|great|nice|done|ready|missing|empty|here|there|gone|correct|incorrect|ugly|clear|unclear|
        hard|easy|big|small|new|old|long|short|full|true|false|better|worse|best|enough|like|about|in|on|at|for|from|with|
        a|an|the|being|going|hot|cold|nothing|something|everything|perfect|huge|tiny|weird|strange|interesting|useful|
        useless|important|possible|impossible|different|similar|up|only|always|never|all|more|less|\w+(?:ing|ed))\b"""
)


@dataclass(frozen=True, slots=True)
class Weight:
    """What speaks for a clause: its `score`, the `cues` in it, and, of a named value, its `name` and `value`."""

    score: int
    cues: tuple[str, ...]
    name: str = ""
    value: str = ""


def asks(text: str) -> bool:
    """Tell whether a clause asks something, with a question mark or without."""
    return bool(_ASKS.search(text)) or text.rstrip("\"'”’» )").endswith(("?", "？", "؟", "吗", "か"))


def supposes(text: str) -> bool:
    """Tell whether a clause only supposes; a standing rule may end in its condition."""
    found = _SUPPOSES.search(text)
    if not found:
        return False
    return not any(cue.search(text, 0, found.start()) for cue in _STANDING.values())


def of_others(text: str) -> bool:
    """Tell whether a clause is about what someone else wants, thinks or says."""
    label = _LABELLED.match(text)
    return bool(_OTHERS.search(text)) or bool(label and _SPOKEN.match(label[1]))


def quotes(text: str) -> bool:
    """Tell whether a sentence is quoted in `text`: more than a name between quotation marks."""
    return any(len((m[1] or m[2] or "").split()) > _QUOTE_WORDS for m in _QUOTED.finditer(text))


@lru_cache(_WEIGHED_MOST)
def weigh(clause: str) -> Weight:
    """Return what speaks for keeping `clause`, nothing for a request without a standing rule."""
    if _BLOB.search(clause):
        return Weight(0, ())
    cues = [name for name, cue in _STANDING.items() if cue.search(clause)]
    score = _STRONG * len(cues)
    name, value = named(clause)
    if _REQUEST.search(clause):
        return Weight(score + _concrete(clause)[0] if cues else 0, tuple(cues), name, value)
    if name:
        cues.append("named value")
        score += _STRONG
    for found, points in (
        *((cue, _STRONG) for cue in _CHANGES.items()),
        (("we use", _USE), _STRONG),
        (("now", _NOW), 1),
    ):
        if found[1].search(clause):
            cues.append(found[0])
            score += points
    if _FIRST_PERSON.search(clause):
        cues.append("first person")
        score += _FIRST + bool(_SELF.search(clause))
    declared = _is_declared(clause)
    if cues or declared:
        points, concrete = _concrete(clause)
        score += points + (declared and not cues)
        cues += concrete
    return Weight(score, tuple(cues), name, value)


def named(clause: str) -> tuple[str, str]:
    """Return name and value of `my|our|the X is Y` or `X = Y`, in English or by the words of other languages."""
    match = ASSIGNED.match(clause)
    if match:
        return match["name"].strip().casefold(), match["value"].strip()
    match = NAMED.search(clause)
    if match:
        value = match["value"].rstrip(" .!;,")
        if match["owner"].lower() in ("my", "our") or value[:1].isupper() or not _PLAIN.match(value):
            return match["name"].casefold(), value
        return "", ""
    match = None if _ENGLISH.search(clause) else _FOREIGN.search(clause)
    if not match:
        return "", ""
    return (match["name"] or match["name2"]).casefold(), (match["value"] or match["value2"]).rstrip(" .!;,。")


def _concrete(clause: str) -> tuple[int, list[str]]:
    found = [name for name, pattern in _CONCRETE.items() if pattern.search(clause)]
    points = sum(1 if name == "name" else 2 for name in found)
    if _QUOTED.search(clause):
        found.append("quoted name")
        points += 2
    return min(points, CONCRETE_MOST), found


def _is_declared(clause: str) -> bool:
    """Tell whether the clause states something, as far as its first words show."""
    if not _ENGLISH.search(clause):
        return len(_WORD.findall(clause)) > 1 and not clause.isascii()
    return len(clause.split()) > 3 and bool(_NOMINAL.match(clause) or (clause[:1].isupper() and _VERB.search(clause)))
