"""The scripted conversations of the equivalence suite."""

from typing import Any

from tests.flows.equivalence.capture import Scenario, Sitting

PEOPLE = "".join(f"{n}. harbour master number {n} keeps the tide book of pier {n}\n" for n in range(1, 13))
# Over 24 words, and shorter than a reference to it.
FEW = PEOPLE[:170]
TOO_LONG = {
    "status": 400,
    "body": {
        "error": {
            "code": 400,
            "message": "the request exceeds the available context size, try increasing it",
            "type": "exceed_context_size_error",
            "n_prompt_tokens": 9000,
            "n_ctx": 8192,
        }
    },
}
DOWN = {"status": 500, "body": {"error": {"message": "the engine stopped", "code": 500}}}


def answer(text: str, prompt: int = 0, **more: Any) -> dict[str, Any]:
    """Return an answer; `prompt` are the tokens that it reports, 0 for no report."""
    usage = {"prompt_tokens": prompt, "completion_tokens": 20, "total_tokens": prompt + 20}
    return {"text": text, **({"usage": usage} if prompt else {}), **more}


def call(tool: str, prompt: int = 0, **arguments: Any) -> dict[str, Any]:
    """Return an answer that calls a tool."""
    return answer("", prompt, calls=[{"name": tool, "arguments": arguments}])


READ = call("read_file", path="people.txt")
CAT = call("run_command", command="cat people.txt")

SCENARIOS = (
    Scenario(
        "tools",
        (
            Sitting(
                "who keeps pier 3?\nand with a command?\n!echo by the person\nthanks\n/last head 2\n",
                (
                    {**READ, "text": "Let me look."},
                    answer("Number 3, says the book.", 900),
                    CAT,
                    call("read_file", pth="people.txt"),
                    call("run_command", command="rm people.txt"),
                    answer("The same.", 1500),
                    answer("You are welcome."),
                ),
            ),
        ),
        files={"people.txt": PEOPLE},
    ),
    Scenario(
        "condensing_ahead",
        (
            Sitting(
                "one\n!echo before two\ntwo\nthree\nfour\nfive\nsix\n/inspect context turns\n",
                (
                    answer("first", 1000),
                    answer("second", 3000),
                    answer("third", 6950),
                    answer("fourth", 2000),
                    answer("fifth", 6990),
                    answer("sixth", 2500),
                ),
            ),
        ),
        endpoint={"window": 8192},
    ),
    Scenario(
        "condensing_on_overflow",
        (
            Sitting(
                "one\ntwo\nthree\nfour\nfive\n",
                (
                    answer("first"),
                    READ,
                    answer("second"),
                    answer("third"),
                    TOO_LONG,
                    answer("fourth"),
                    READ,
                    TOO_LONG,
                    answer("fifth"),
                ),
            ),
            Sitting("six\n/retry\n", (TOO_LONG, TOO_LONG, answer("sixth")), ("--continue",)),
        ),
        files={"people.txt": FEW},
    ),
    Scenario(
        "a_failed_turn",
        (
            Sitting(
                "one\ntwo\n/retry\nthree\n/retry\nfour\n",
                (
                    answer("first"),
                    DOWN,
                    answer("second, at last"),
                    READ,
                    DOWN,
                    answer("third, over what the tool gave"),
                    {"text": "half of the", "cut": True},
                ),
            ),
            Sitting("five\n", (answer("fifth"),), ("--continue",)),
        ),
        files={"people.txt": FEW},
    ),
    Scenario(
        "fail_fast",
        (
            Sitting(
                "one\ntwo\nthree\nfour\n",
                (answer("first", 7900), answer("second", 7950), answer("third", 8000), TOO_LONG),
            ),
        ),
        endpoint={"window": 8192},
        context={"policy": "fail-fast"},
    ),
    Scenario(
        "a_model_that_counts",
        (
            Sitting(
                "\n".join([*(f"{n} {'word ' * 140}" for n in range(1, 5)), "/tokens", "five " * 400, "/retry"]),
                (answer("first", 4000), answer("second", 5400), answer("third", 6800), answer("fourth")),
            ),
        ),
        counts=True,
    ),
    Scenario(
        "new_and_resume",
        (
            Sitting(
                "one\ntwo\n/save story\n/new\nanother\n",
                (answer("first"), READ, answer("second"), answer("of another")),
            ),
            Sitting("three\n/inspect context 3\n/rename a title\n", (answer("third"),), ("--resume", "story")),
            Sitting("", (), ("--resume", "no story")),
        ),
        files={"people.txt": FEW},
    ),
    Scenario(
        "model_inspect_and_save",
        (
            Sitting(
                "one\n/inspect context\n/model local/other\ntwo\n/inspect context next\n/inspect context 1\n"
                "/inspect context turns\n/inspect calls\n/tokens\n/save copy\n/save plain messages\n/model local/fake\n"
                "three\n",
                (answer("first", 900), READ, answer("second", 1400), answer("third")),
            ),
        ),
        endpoint={"window": 8192},
        files={"people.txt": FEW},
    ),
)
