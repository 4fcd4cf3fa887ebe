"""The `wisp` command: parses the line and runs the face it names."""

import argparse
import asyncio
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from wisp_core import __version__
from wisp_core.cli.chat import ChatOptions, chat
from wisp_core.cli.doctor import doctor
from wisp_core.cli.eval import add_parser, eval_options, evaluate
from wisp_core.cli.facts import facts
from wisp_core.cli.keep import rebuild, verify
from wisp_core.cli.models import models
from wisp_core.cli.pending import answer, pending
from wisp_core.cli.streams import tell_error
from wisp_core.crash import explain
from wisp_core.errors import ResumeError, WispError

EXIT_FAILED, EXIT_USAGE, EXIT_RESUME, EXIT_INTERRUPTED = 1, 2, 64, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run `wisp` and return its exit status (U13); no traceback reaches the person."""
    options = _parser().parse_args(argv)
    try:
        status = asyncio.run(_run(options))
        if sys.stdout is not None:
            sys.stdout.flush()
        return status
    except ResumeError as error:
        tell_error(error.sentence())
        return EXIT_RESUME
    except WispError as error:
        tell_error(error.sentence())
        return EXIT_USAGE
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # Whoever read has enough, as `head` has; the interpreter's own flush at the end must not tell of it again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_FAILED
    except Exception as error:  # noqa: BLE001 -- the named edge: a fault of wisp's own is one sentence and a report
        tell_error(explain(error))
        return EXIT_FAILED


async def _run(options: argparse.Namespace) -> int:
    if options.command == "chat":
        return await chat(_chat_options(options))
    if options.command == "doctor":
        return await (rebuild() if options.rebuild else doctor(as_json=options.json))
    if options.command == "facts":
        return await facts(options.action, options.id, as_json=options.json)
    if options.command == "pending":
        return await pending(as_json=options.json)
    if options.command == "answer":
        return await answer(options.id, options.words, as_json=options.json)
    if options.command == "models":
        return await models(options.action, options.name, as_json=options.json)
    if options.command == "eval":
        return await evaluate(eval_options(options))
    return await verify()


def _chat_options(options: argparse.Namespace) -> ChatOptions:
    return ChatOptions(
        prompt=options.prompt,
        json=options.json,
        model=options.model,
        mode=options.mode,
        tools=None if options.tools is None else [name for name in options.tools.split(",") if name],
        allow=options.allow,
        thread=options.thread,
        resume=options.resume,
        newest=options.newest,
        cwd=options.cwd,
        task=options.task,
    )


def _named(given: str) -> str:
    # Left empty by a script's unset variable: it must not quietly mean another model or a new conversation.
    if not given.strip():
        raise argparse.ArgumentTypeError("it is empty")
    return given


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="wisp",
        description="A terminal assistant with a context engine for small windows.",
        epilog="example: echo 'what is in this folder?' | wisp chat --model local/mine",
    )
    parser.add_argument("--version", action="version", version=f"wisp {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    chat_parser = commands.add_parser(
        "chat",
        help="talk on a plain terminal, or from a program",
        description="Prompts line by line from standard input; replies to standard output, the rest to standard error.",
        epilog="example: printf 'hello\\nand again\\n' | wisp chat --json --model embedded/smollm2-135m",
    )
    chat_parser.add_argument("prompt", nargs="?", metavar="PROMPT", help="the first prompt")
    chat_parser.add_argument("--json", action="store_true", help="read and print one JSON object a line")
    chat_parser.add_argument(
        "--model", metavar="M", type=_named, help="provider/name, as embedded/smollm2-135m or local/NAME"
    )
    chat_parser.add_argument("--mode", choices=["plan", "ask", "auto"], help="what runs without asking")
    chat_parser.add_argument("--tools", metavar="LIST", help="only these tools, by name, with commas; empty for none")
    chat_parser.add_argument(
        "--allow", metavar="RULE", action="append", default=[], help="as 'run_command(git status)'"
    )
    which = chat_parser.add_mutually_exclusive_group()
    which.add_argument("--continue", dest="newest", action="store_true", help="the newest conversation of this folder")
    which.add_argument(
        "--resume", metavar="NAME", type=_named, help="a conversation by its title, id or the start of it"
    )
    which.add_argument("--thread", metavar="ID", type=_named, help="a conversation by its id")
    chat_parser.add_argument("--task", metavar="TEXT", type=_named, help="what the conversation works on, as /task")
    chat_parser.add_argument("--cwd", metavar="DIR", type=Path, help="the working folder")
    doctor_parser = commands.add_parser(
        "doctor",
        help="examine the home, the settings, the models and the tools",
        description="One line a finding; exit status 1 where something is wrong. Nothing is changed without --rebuild.",
        epilog="example: wisp doctor --json",
    )
    what = doctor_parser.add_mutually_exclusive_group()
    what.add_argument("--rebuild", action="store_true", help="make wisp.db again from the audit")
    what.add_argument("--json", action="store_true", help="print one JSON object")
    _add_waiting(commands)
    _add_models(commands)
    add_parser(commands)
    audit = commands.add_parser("audit", help="look after the audit log", epilog="example: wisp audit verify")
    audit.add_argument("action", choices=["verify"], help="check every line, sequence and group")
    return parser


def _add_models(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command about the models."""
    parser = commands.add_parser(
        "models",
        help="what models can be run; get one, keep a provider's key",
        description="Lists every model that is configured or found; pulls NAME into Ollama, or `embedded`, telling how "
        "far it is on standard error; keeps PROVIDER's key, read from the terminal unseen or from standard input, in "
        "the system's keyring.",
        epilog="example: wisp models pull granite4.1:8b",
    )
    parser.add_argument("action", nargs="?", default="list", choices=["list", "pull", "key"])
    parser.add_argument("name", nargs="?", metavar="NAME", type=_named, help="the model, or the provider")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def _add_waiting(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the commands about what is remembered and what waits for the person."""
    facts_parser = commands.add_parser(
        "facts",
        help="what is remembered for every conversation, and what is proposed",
        description="Lists the permanent facts and those that wait for you; keeps, drops or deletes one by its id.",
        epilog="example: wisp facts keep 3f2a9c01",
    )
    facts_parser.add_argument("action", nargs="?", default="list", choices=["list", "keep", "drop", "delete"])
    facts_parser.add_argument("id", nargs="?", metavar="ID", type=_named, help="the fact")
    pending_parser = commands.add_parser(
        "pending",
        help="what waits for you in any conversation of this home",
        description="Every open approval, question and proposed fact, newest first, each in full.",
        epilog="example: wisp pending --json",
    )
    answer_parser = commands.add_parser(
        "answer",
        help="answer what waits",
        description="An approval takes yes (once), thread (for its conversation), always, no, or no and a reason; "
        "a proposed fact yes or no; a question your own words, or the number of a choice.",
        epilog="example: wisp answer 3f2a9c01 no use git instead",
    )
    answer_parser.add_argument("id", metavar="ID", type=_named, help="as `wisp pending` lists it")
    answer_parser.add_argument("words", nargs="+", metavar="ANSWER", help="yes, thread, always, no [REASON], or TEXT")
    for parser in (facts_parser, pending_parser, answer_parser):
        parser.add_argument("--json", action="store_true", help="print one JSON object")
