"""A call's arguments: what is repaired, and the one line for what is not."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wisp_core.errors import ToolFailure
from wisp_core.requests import ToolKind, ToolResult
from wisp_core.tools.current_date import CurrentDate
from wisp_core.tools.registry import Registry
from wisp_core.tools.tool import Arguments, Running, Tool


class Shape(Arguments):
    path: str
    offset: int = 1
    deep: bool | None = None


class Echo(Tool[Shape]):
    name = "read_file"
    kind = ToolKind.READS
    description = "Echo."
    arguments = Shape

    async def run(self, arguments: Shape, running: Running) -> ToolResult:
        if arguments.path == "boom":
            raise ValueError("two\nlines \x1b[31m")
        if arguments.path == "fail":
            raise ToolFailure("first\nsecond")
        return ToolResult(arguments.path)


@pytest.fixture
def tools():
    return Registry([Echo(), CurrentDate()])


@pytest.mark.parametrize(
    "text",
    [
        '{"path": "a,}", "offset": 5}',
        '{"path": "a,}", "offset": "5"}',
        '{"path": "a,}", "offset": 5,}',
        ' {"path": "a,}", "offset": 5 , } ',
        '```json\n{"path": "a,}", "offset": 5}\n```',
        '```\n{"path": "a,}", "offset": 5,}```',
        json.dumps('{"path": "a,}", "offset": 5}'),
        json.dumps(json.dumps({"path": "a,}", "offset": "5"})),
        '{"path": "a,}", "offset": 5, "deep": null}',
    ],
)
def test_repairs_that_lose_nothing_are_made(tools, text):
    assert tools.check("read_file", text) == {"path": "a,}", "offset": 5}


@pytest.mark.parametrize("text", ["", "  ", "null", "{}", '""', '"null"', "```json\n{}\n```"])
def test_no_arguments_are_an_empty_object(tools, text):
    assert tools.check("current_date", text) == {}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{}", "needs path"),
        ("[1]", "must be a JSON object"),
        ("7", "must be a JSON object"),
        ("read it please", "must be a JSON object"),
        ('{"path": "a"', "must be a JSON object"),
        ("[" * 100_000, "must be a JSON object"),
        ('{"path": 5}', "path is wrong"),
        ('{"path": "a", "offset": "many"}', "offset is wrong"),
        ('{"path": "a", "lines\\n": 5}', "has no argument lines"),
        ('{"path": "a\\u0000b"}', "holds a NUL"),
        ('{"path": "\\ud800"}', "holds a NUL or half a character"),
        ('{"path": "a", "offset": NaN}', "must be a JSON object"),
        ('{"path": "a", "path": "b"}', "must be a JSON object"),
    ],
)
def test_wrong_arguments_are_told_in_one_line_with_what_was_expected(tools, text, said):
    with pytest.raises(ToolFailure) as failure:
        tools.check("read_file", text)
    line = str(failure.value)
    assert said in line
    assert "\n" not in line
    assert len(line) < 400
    line.encode()
    if "NUL" not in said:
        assert "path (text)" in line


def test_a_tool_that_does_not_exist_names_the_nearest(tools):
    with pytest.raises(ToolFailure, match="there is no tool readfile; the nearest is read_file"):
        tools.check("readfile", "{}")
    with pytest.raises(ToolFailure, match="the tools are read_file, current_date"):
        tools.check("qqqq", "{}")


def test_a_disabled_tool_is_no_tool():
    tools = Registry([Echo(), CurrentDate()], disabled=["read_file"])
    assert [schema.name for schema in tools.schemas()] == ["current_date"]
    assert tools.kind("read_file") is None
    with pytest.raises(ToolFailure, match="no tool read_file"):
        tools.check("read_file", '{"path": "a"}')


async def test_a_tools_bug_becomes_its_result(tools):
    result = await tools.run("read_file", {"path": "boom"}, call="00000001", progress=print)
    assert not result.ok
    assert result.text.startswith("read_file failed inside wisp: ValueError: two lines")
    assert "\n" not in result.text


async def test_a_tools_failure_is_one_line(tools):
    with pytest.raises(ToolFailure, match=r"^first second$"):
        await tools.run("read_file", {"path": "fail"}, call="00000001", progress=print)


@given(st.text(max_size=200))
def test_no_text_of_a_model_raises_anything_but_a_tool_failure(text):
    tools = Registry([Echo()])
    try:
        found = tools.check("read_file", text)
    except ToolFailure:
        return
    assert isinstance(found["path"], str)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=8,
    )
)
def test_no_json_of_a_model_raises_anything_but_a_tool_failure(value):
    tools = Registry([Echo()])
    for text in (json.dumps(value), json.dumps({"path": value, "offset": value})):
        try:
            tools.check("read_file", text)
        except ToolFailure:
            continue
