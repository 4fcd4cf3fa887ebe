"""O16: the notable lines of real logs, without a model."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wisp_core.store.notable import summarise

PYTEST = """\
============================= test session starts ==============================
platform linux -- Python 3.11.2, pytest-8.4.2, pluggy-1.6.0
rootdir: /srv/harbour
collected 7 items

tests/test_a.py ...F                                                     [ 57%]
tests/test_b.py ...                                                      [100%]

=================================== FAILURES ===================================
_________________________________ test_moors __________________________________

    def test_moors():
>       assert berth("Elbe") == 4
E       AssertionError: assert 3 == 4
E        +  where 3 = berth('Elbe')

tests/test_a.py:9: AssertionError
=========================== short test summary info ============================
FAILED tests/test_a.py::test_moors - AssertionError: assert 3 == 4
========================= 1 failed, 6 passed in 0.12s ==========================
"""

CARGO = (
    "".join(f"   Compiling crate{n} v1.0.{n}\n" for n in range(40))
    + """\
   Compiling thiserror v1.0.1
warning: unused variable: `depth`
 --> src/main.rs:2:9
  |
2 |     let depth = 3;
  |         ^^^^^ help: prefix it with an underscore

error[E0308]: mismatched types
 --> src/main.rs:7:18
  |
7 |     let n: u32 = "four";
  |            ---   ^^^^^^ expected `u32`, found `&str`

error: could not compile `harbour` (bin "harbour") due to 1 previous error; 1 warning emitted
"""
)

GCC = """\
gcc -c -o main.o main.c
main.c: In function 'main':
main.c:4:5: warning: implicit declaration of function 'moor' [-Wimplicit-function-declaration]
    4 |     moor(3);
      |     ^~~~
main.c:6:1: error: expected ';' before '}' token
    6 | }
/usr/bin/ld: main.o: undefined reference to `berth'
make: *** [Makefile:3: main.o] Error 1
"""

NPM = """\
npm warn deprecated inflight@1.0.6: this module is not supported
npm warn deprecated glob@7.2.3: versions prior to v9 are no longer supported
npm error code ERESOLVE
npm error ERESOLVE unable to resolve dependency tree

added 120 packages, and audited 121 packages in 3s

found 0 vulnerabilities
"""

TRACEBACK = """\
reading the tide table
Traceback (most recent call last):
  File "/srv/harbour/run.py", line 12, in <module>
    main()
  File "/srv/harbour/run.py", line 8, in main
    return table[key]
           ~~~~~^^^^^
KeyError: 'Elbe'
leaving
"""

JAVA = (
    """\
2026-11-30 12:00:01 INFO  starting
Exception in thread "main" java.lang.IllegalStateException: the lock is shut
\tat org.harbour.Lock.open(Lock.java:31)
"""
    + "".join(f"\tat org.harbour.Frame{n}.run(Frame{n}.java:{n})\n" for n in range(2, 30))
    + """\
Caused by: java.io.IOException: no water
\tat org.harbour.Pump.start(Pump.java:7)
\t... 3 more
"""
)


def notable(text: str, limit: int = 8192):
    return summarise([text], total=text.count("\n"), limit=limit)


@pytest.mark.parametrize(
    ("log", "shown", "counts"),
    [
        (
            PYTEST,
            [
                "14\tE       AssertionError: assert 3 == 4",
                "19\tFAILED tests/test_a.py::test_moors",
                "20\t========================= 1 failed, 6 passed",
            ],
            "3 error lines",
        ),
        (
            CARGO,
            [
                "42\twarning: unused variable: `depth`",
                "48\terror[E0308]: mismatched types",
                "54\terror: could not compile `harbour`",
            ],
            "1 error line, 1 warning",
        ),
        (
            GCC,
            [
                "3\tmain.c:4:5: warning: implicit",
                "6\tmain.c:6:1: error: expected",
                "8\t/usr/bin/ld: main.o: undefined reference",
                "9\tmake: *** [Makefile:3: main.o] Error 1",
            ],
            "3 error lines, 1 warning",
        ),
        (
            NPM,
            [
                "1\tnpm warn deprecated inflight",
                "3\tnpm error code ERESOLVE",
                "6\tadded 120 packages",
                "8\tfound 0 vulnerabilities",
            ],
            "2 error lines, 2 warnings",
        ),
        (TRACEBACK, ["2\tTraceback (most recent call last):", "8\tKeyError: 'Elbe'"], "1 traceback"),
        (
            JAVA,
            ["2\tException in thread", "32\tCaused by: java.io.IOException: no water"],
            "2 error lines",
        ),
    ],
    ids=["pytest", "cargo", "gcc", "npm", "python", "java"],
)
def test_errors_warnings_tracebacks_and_totals_of_a_log_are_shown_with_their_lines(log, shown, counts):
    found = notable(log)
    lines = found.text.split("\n")
    for start in shown:
        assert any(line.startswith(start) for line in lines), (start, found.text)
    assert found.counts == counts


def test_the_frames_between_a_tracebacks_head_and_its_last_line_are_left_out():
    text = notable(TRACEBACK + "and\nso\non\nto\nthe end\n").text
    assert "table[key]" not in text
    assert "line 8, in main" not in text
    assert "14\tthe end" in text


def test_a_traceback_behind_a_loggers_prefix_ends_where_its_indentation_does():
    log = "\n".join(f"[web] {line}" for line in TRACEBACK.split("\n")[:-1]) + "\n"
    assert "8\t[web] KeyError: 'Elbe'" in notable(log).text


def test_runs_of_lines_that_begin_alike_are_folded_with_their_count():
    assert "1\t   Compiling crate0 v1.0.0\n\t[… 40 more that begin alike, to line 41 …]\n" in notable(CARGO, 2000).text
    assert (
        "3\t\tat org.harbour.Lock.open(Lock.java:31)\n\t[… 28 more that begin alike, to line 31 …]"
        in notable(JAVA).text
    )


def test_what_is_like_an_earlier_error_is_counted_there():
    log = "".join(f"step {n}\nerror: berth {n} is taken\n" for n in range(1, 51))
    found = notable(log)
    assert "2\terror: berth 1 is taken [and 49 more like it, the last at line 100]" in found.text
    assert found.counts == "50 error lines"


@pytest.mark.parametrize(
    "line",
    ["0 errors, 0 warnings", "compiled without errors", "src/error.rs", "no failures", "errors: 0", "thiserror v1.0"],
)
def test_a_line_that_only_names_an_error_is_none(line):
    assert notable("a\nb\nc\n" + f"{line}\n").counts == "no errors or warnings"


def test_where_room_is_short_totals_and_tracebacks_come_before_warnings():
    log = "".join(f"warning: kind {chr(97 + n)}\n" for n in range(20)) + TRACEBACK + "3 failed, 2 passed\n"
    text = notable(log, limit=85).text
    assert "3 failed" in text
    assert "KeyError" in text
    assert "kind a" not in text


@given(
    st.lists(
        st.sampled_from([*"abc", "error: x", "warning: y", "漢字", "Traceback (most recent call last):", "  f", ""])
    ),
    st.integers(64, 600),
)
def test_lines_are_the_logs_own_in_order_and_within_the_limit(lines, limit):
    found = notable("".join(f"{line}\n" for line in lines), limit)
    assert len(found.text.encode()) <= limit
    shown = [line.split("\t", 1) for line in found.text.split("\n") if line[:1].isdigit()]
    numbers = [int(number) for number, _ in shown]
    assert numbers == sorted(set(numbers))
    for number, text in shown:
        assert text.split(" [and")[0] == lines[int(number) - 1].rstrip()


def test_texts_may_end_anywhere_between_lines():
    parts = PYTEST.splitlines(keepends=True)
    total = len(parts)
    assert summarise(parts, total=total, limit=4096) == summarise([PYTEST], total=total, limit=4096)


def test_time_grows_with_the_size_alone():
    def seconds(count):
        text = "".join(f"{n} error: something {n % 7} and a word or two more\n" for n in range(count))
        started = time.perf_counter()
        summarise([text], total=count, limit=4096)
        return time.perf_counter() - started

    seconds(1000)
    assert seconds(40_000) < 12 * seconds(10_000) + 0.2
