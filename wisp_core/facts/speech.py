"""What of a prompt the person says: its sentences, without code, logs, quotations and what was pasted. Pure."""

import re
from collections.abc import Iterator

from wisp_core.text import split_lines

SENTENCE_MOST = 1000
"""Characters; what runs on for longer was not typed."""
BLOCK_MOST = 4000
"""Characters of one paragraph; a longer one was pasted."""
PROMPT_MOST = 16_384
"""Characters; of a longer prompt only the two ends are read, since its middle was pasted."""
END_MOST = 4096
"""Characters of each end of a prompt that is over `PROMPT_MOST`."""
_RUN = 3  # lines of `key: value` that make a configuration

_FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,})")
_LIST = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s+(?=\S)|\s{0,3}#{1,6}\s+")
_TRANSCRIPT = re.compile(r"\s*([A-Z][\w.-]{0,24}(?: [A-Z][\w.-]{0,24})?):\s+(\S.*)")
_SPOKEN = re.compile(r"(?:I|we|my|our|you|ok|yes|no)\b|(?:I|we|you)['’]", re.IGNORECASE)
_ASSIGNED = re.compile(r"\s*(?:export\s+|set\s+)?[\w.$-]+\s*:?=\s*\S.*")
_SETTING = re.compile(r"\s*-?\s*[\"']?[a-z][\w.-]*[\"']?\s*:(?:\s.*)?$")
_MACHINE = re.compile(
    r"""
    (?:\ {4,}|\t)(?![-*+•]\s|\d{1,3}[.)]\s)\S          # indented: code
    | \s*(?:\[?\d{4}[-/]\d\d[-/]\d\d[T ]|\[?\d\d:\d\d:\d\d|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun|Jan|Feb|Mar|Apr|May|Jun|
        Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\s+\d{1,2}\ \d\d:\d\d)          # a time: a log
    | \s*[\[(<]?(?:ERROR|ERR|WARN|WARNING|INFO|DEBUG|TRACE|FATAL|NOTICE)\b[\])>]?[:\s]
    | \s*(?:error|warning|fatal|panic)(?:\[\w+\])?:\s
    | \s*(?:level|lvl|ts|time|msg)=\S | \s*npm\ ERR!
    | \s*Traceback\ \( | \s*File\ "[^"]*",\ line | \s*at\ [\w.$<>]+\(.*\)\s*$
    | \s*(?:\w\s+)?[\w.]+(?:Error|Exception):\s
    | thread\ '.*'\ panicked
    | \s*[$%]\ \S | \s*>>>\ | PS\ [A-Z]:\\
    | diff\ --git | ---\ \S | \+\+\+\ \S | @@\ .*@@ | commit\ [0-9a-f]{7,40}\b | (?:Author|Date|From|To|Subject|Cc):\s
    | [-dl][rwxsSt-]{9} | total\ \d+\s*$ | (?:Tests|Time|Suites|Ran|PASS|FAIL|ok):?\s+\d
    | \s*\d+\ files?\ changed,\ \d | (?:FROM|RUN|ENV|CMD|COPY|WORKDIR|ENTRYPOINT|EXPOSE|ARG)\ \S
    | \s*\d+\ (?:passed|failed|errors?|warnings?|skipped)\b
    | \s*[\]{}()\[]+[;,)]*\s*$ | \s*["'][\w.-]+["']\s*:\s | .*[;{]\s*$ | .*\)\s*=>\s | \s*</?[a-zA-Z!][^>]*>
    | \s*(?:def|class|async\ def)\s+\w+.*:\s*$ | \s*(?:import|from)\s+[\w.]+(?:\s+import\s+.*|\s+as\s+\w+)?\s*;?\s*$
    | \s*(?:return|raise|yield|await|print|echo|assert|elif|else:|except|finally:|try:)\b.*[()=:"']
    | \s*(?:const|let|var|val|fn|func|function|public|private|protected|static|void|int|float|double|string|bool|auto)\s
        .*[=({] | \s*\#\s*(?:include|define|ifdef|ifndef|endif|pragma)\b | \#!/
    | \s*(?:SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP|WITH)\s[\w*(].*\b(?:FROM|INTO|SET|TABLE|VALUES|WHERE|AS)\b
    | \s*\[[\w. :-]+\]\s*$ | \s*\|.*\| | \s*(?:for|if|while|switch)\s*\(.*\)\s*\{?
    | \s*[\w.$]+\s*[:+*/-]?=\s*.*[(\[{].*[)\]}]\s*;?\s*$ | \s*[\w.]+\([^ ]*\)\s*;?\s*$
    """,
    re.VERBOSE,
)

_WORKED_ON = re.compile(
    r"(?:(?:please|can you|could you|would you|now|pls)\s+)*(?:translate|summari[sz]e|proof-?read|rephrase|reword|"
    r"rewrite|shorten|paraphrase|review|correct|edit|improve|polish|classify|reply to|answer|explain|analy[sz]e|"
    r"simplify)\b[^:\n]{0,100}:",
    re.IGNORECASE,
)
_FOLLOWS = re.compile(r"\b(?:(?:following|attached|pasted)\b[^.:]{0,60}|below)\.\s*$", re.IGNORECASE)
_DIFF = re.compile(r"@@ .*@@|diff --git |\+\+\+ \S")
_DOCUMENT = re.compile(
    r"\b(?:e-?mail|mail|letter|article|document|text|transcript|message|readme|notes?|chapter|paper|story|essay|post|"
    r"review|conversation|chat|excerpt|passage|paragraph|following|quote|page|issue|ticket)s?\b[^:]{0,40}:\s*[\"“]?$",
    re.IGNORECASE,
)
_PRINTED = re.compile(
    r"\b(?:logs?|outputs?|errors?|trace|traceback|stack|code|snippet|config(?:uration)?|files?|command|diff|results?|"
    r"dump|console|terminal|response|json|yaml|prints|printed|shows|says|below|this|these)\b[^:]{0,40}:\s*$",
    re.IGNORECASE,
)
_END = re.compile(r"(?<=[.!?…])[\"'”’»)]*\s+(?=[^\sa-z])|(?<=[!?])[\"'”’»)]*\s+|(?<=[。！？])|;\s+")
_NO_END = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|mr|mrs|ms|dr|prof|vs|no|nr|approx|ca|st|fig|cf|z\.b)\.)\s*$|\b[A-Z]\.\s*$", re.IGNORECASE
)
_ORDINAL = re.compile(r"\b\d{1,2}\.\s*$")
_MONTH = re.compile(r"(?:jan|feb|mär|mar|apr|mai|may|maj|jun|jul|aug|sep|okt|oct|nov|dez|dec)[^\W\d]*\b", re.IGNORECASE)


def sentences(prompt: str) -> Iterator[str]:
    """Yield the sentences that the person says in `prompt`, in order, each on one line; linear in its size."""
    for block in _blocks(_ends(_unfenced(split_lines(prompt)))):
        for line in _joined(block):
            yield from _split(line)


def _unfenced(lines: list[str]) -> list[str]:
    """Return the lines with an empty one in place of each line of fenced code and of each quoted one."""
    kept, fence, quoted = [], "", False
    for line in lines:
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line[mark.end() :].strip():
                fence = ""
            kept.append("")
            continue
        if mark:
            fence = mark[1]
            kept.append("")
            continue
        # A quotation goes on to the next empty line, as in Markdown.
        quoted = bool(line.strip()) and (quoted or (line.lstrip().startswith(">") and not line.startswith(">>>")))
        kept.append("" if quoted else line)
    return kept


def _ends(lines: list[str]) -> list[str]:
    if sum(map(len, lines)) <= PROMPT_MOST:
        return lines
    return [*_start(lines), "", *reversed(_start(list(reversed(lines))))]


def _start(lines: list[str]) -> list[str]:
    taken, room = [], END_MOST
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            break
        taken.append(line)
    return taken


def _blocks(lines: list[str]) -> Iterator[list[str]]:
    """Yield the paragraphs that were typed, each as its lines."""
    block: list[str] = []
    pasted = False
    for line in [*lines, ""]:
        if line.strip():
            if pasted:
                block.append("")
                continue
            block.append(line)
            if _WORKED_ON.match(line.strip()) or _DOCUMENT.search(line) or _FOLLOWS.search(line):
                # The rest of the prompt is what is to be worked on.
                yield from _typed(block[:-1])
                return
            pasted = bool(_PRINTED.search(line))
            continue
        if pasted and (not block or block[-1]):
            continue  # what was announced comes after the empty line
        yield from _typed([line for line in block if line])
        block, pasted = [], False
    yield from _typed([line for line in block if line])


def _typed(block: list[str]) -> Iterator[list[str]]:
    """Yield `block` without the lines of machines, nothing where it is theirs as a whole."""
    if not block or sum(map(len, block)) > BLOCK_MOST or _is_transcript(block) or any(map(_DIFF.match, block)):
        return
    machine = [bool(_MACHINE.match(line)) for line in block]
    assigned = [bool(_ASSIGNED.fullmatch(line)) for line in block]
    settings = sum(bool(_SETTING.match(line)) for line in block)
    if len(block) > 1 and sum(map(max, machine, assigned)) * 2 >= len(block):
        return
    if len(block) >= _RUN and settings * 2 > len(block):
        return
    kept = [line for line, skipped in zip(block, machine, strict=True) if not skipped]
    if kept:
        yield kept


def _is_transcript(block: list[str]) -> bool:
    said = [match for line in block if (match := _TRANSCRIPT.match(line))]
    if len(said) < 2:
        return False
    names = {match[1] for match in said}
    return len(names) < len(said) or any(_SPOKEN.match(match[2]) for match in said)


def _joined(block: list[str]) -> list[str]:
    """Return the lines with those that only wrapped joined, and without marks of lists and headings."""
    joined: list[str] = []
    for line in block:
        mark = _LIST.match(line)
        text = (line[mark.end() :] if mark else line).strip()
        wrapped = joined and text == line.strip() and text[:1].islower() and len(joined[-1]) > 50
        if wrapped and joined[-1][-1] not in ".!?:;" and len(joined[-1]) < SENTENCE_MOST:
            joined[-1] = f"{joined[-1]} {text}"
        else:
            joined.append(text)
    return joined


def _split(line: str) -> Iterator[str]:
    start = 0
    for end in _END.finditer(line):
        before = line[max(start, end.start() - 12) : end.start()]
        if _NO_END.search(before) or (_ORDINAL.search(before) and _MONTH.match(line, end.end())):
            continue
        yield from _sized(line[start : end.end()])
        start = end.end()
    yield from _sized(line[start:])


def _sized(sentence: str) -> Iterator[str]:
    text = " ".join(sentence.split())
    if text and len(text) <= SENTENCE_MOST:
        yield text
