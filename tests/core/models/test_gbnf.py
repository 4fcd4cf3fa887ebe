"""A tool's arguments as a grammar: one line of JSON, whatever the schema holds."""

import pytest

from wisp_core.models.gbnf import write_arguments, write_choice


def root(schema):
    """Return the first rule."""
    return write_arguments(schema).splitlines()[0]


def test_a_choice_is_one_of_the_words_to_the_end_of_its_line():
    assert write_choice(["answer", "a_b"]) == r'root ::= " answer\U0000000A" | " a_b\U0000000A"'


def test_what_is_required_comes_first_and_the_rest_may_be_left_out_in_order():
    properties = {"a": {"type": "integer"}, "b": {"type": "string"}, "c": {"enum": ["x", 1]}}
    found = root({"type": "object", "properties": properties, "required": ["b"]})
    a, b = r'"\U00000022a\U00000022: " integer', r'"\U00000022b\U00000022: " string'
    c = r'"\U00000022c\U00000022: " ("\U00000022x\U00000022" | "1")'
    assert found == f'root ::= " " "{{" {b} (", " {a})? (", " {c})? "}}"'
    assert root({"properties": properties}) == (
        f'root ::= " " "{{" ({a} (", " {b})? (", " {c})? | {b} (", " {c})? | {c})? "}}"'
    )


@pytest.mark.parametrize("schema", [{}, {"type": "object"}, {"properties": {}}, {"properties": [], "required": 3}])
def test_a_tool_without_arguments_is_called_with_none(schema):
    assert root(schema) in ('root ::= " " "{}"', 'root ::= " " "{"  "}"')


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "http://somewhere/else"},
        {"type": ["string", "null"]},
        {"oneOf": [{"type": "string"}]},
        {"type": "frob"},
        {"enum": []},
        {"enum": list(range(1_000))},
        True,
        None,
    ],
)
def test_what_a_grammar_does_not_know_is_any_value(schema):
    assert root({"properties": {"a": schema}, "required": ["a"]}).endswith(': " value "}"')


def test_a_pattern_a_format_and_a_length_are_left_to_the_check_of_the_arguments():
    asked = {"type": "string", "pattern": "^(?=x)", "format": "uri", "maxLength": 3}
    assert root({"properties": {"a": asked}, "required": ["a"]}).endswith(': " string "}"')


def test_a_hostile_schema_stays_small():
    deep = {"type": "object", "properties": {f"p{at}": {} for at in range(100)}}
    for _ in range(30):
        deep = {"type": "object", "properties": {f"p{at}": deep for at in range(100)}}
    assert len(write_arguments(deep)) < 200_000
