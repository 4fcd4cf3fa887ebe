"""What an Ollama takes: the keys and types of its requests, for the strict fake."""

OPTIONS = {"num_ctx": int, "num_predict": int, "temperature": (int, float), "seed": int, "stop": list}
TOP = {
    "model": str, "messages": list, "stream": bool, "options": dict, "tools": list, "truncate": bool, "shift": bool,
    "think": (bool, str), "format": (dict, str), "keep_alive": (str, int, float),
}  # fmt: skip
KEYS = {
    "system": {"role", "content"},
    "user": {"role", "content"},
    "assistant": {"role", "content", "thinking", "tool_calls"},
    "tool": {"role", "content", "tool_name", "tool_call_id"},
}
WINDOW = range(512, 2**24)


def find_wrong(body, *, chat):
    """Return what is wrong with the body of a request, "" where nothing is; not `chat` is one that only loads."""
    for key, value in body.items():
        kind = TOP.get(key)
        if kind is None or (not chat and key in ("messages", "tools", "think")):
            return f"unknown key {key}"
        if not isinstance(value, kind) or (isinstance(value, bool) and kind not in (bool, (bool, str))):
            return f"json: cannot unmarshal {type(value).__name__} into Go struct field ChatRequest.{key}"
    if not body.get("model"):
        return "model is required"
    return _options(body.get("options", {})) or (_chat(body) if chat else "")


def _options(options):
    for key, value in options.items():
        if key not in OPTIONS:
            return f"invalid option provided: {key}"
        if not isinstance(value, OPTIONS[key]) or isinstance(value, bool):
            return f'option "{key}" must be of type {OPTIONS[key]}'
    return "" if options.get("num_ctx", 4096) in WINDOW else f"num_ctx {options['num_ctx']} is out of bounds"


def _chat(body):
    if body.get("think") not in (None, True, False, "low", "medium", "high", "max"):
        return f"invalid think value: {body['think']!r}"
    if isinstance(body.get("format"), str) and body["format"] != "json":
        return f'invalid format: "{body["format"]}"; expected "json" or a valid JSON Schema object'
    if not body.get("messages"):
        return "messages must not be empty"
    wrong = next((f"tools: {wrong}" for tool in body.get("tools", ()) if (wrong := _tool(tool))), "")
    waiting = []
    for at, message in enumerate(body["messages"]):
        wrong = wrong or _message(message, waiting)
        if wrong:
            return f"messages.{at}: {wrong}"
    return wrong or (f"call of {waiting[0]} has no result" if waiting else "")


def _tool(tool):
    function = tool.get("function", {})
    if tool.get("type") != "function" or set(function) != {"name", "description", "parameters"}:
        return "a tool needs type, name, description and parameters"
    return "" if function["parameters"].get("type") == "object" else "parameters are of type object"


def _message(message, waiting):
    role = message.get("role")
    if role not in KEYS:
        return f"invalid role: {role}"
    if set(message) - KEYS[role]:
        return f"unknown key {sorted(set(message) - KEYS[role])[0]}"
    if not isinstance(message.get("content"), str) or not (message["content"] or message.get("tool_calls")):
        return "null or empty content"
    if role != "tool" and waiting:
        return f"call of {waiting[0]} has no result before it"
    if role == "tool":
        if message.get("tool_name") not in waiting:
            return "result of no call, or without the tool's name"
        waiting.remove(message["tool_name"])
    for call in message.get("tool_calls", ()):
        function = call.get("function", {})
        if set(call) - {"id", "function"} or set(function) - {"index", "name", "arguments"} or not function.get("name"):
            return "a call needs a function with name and arguments"
        if not isinstance(function.get("arguments"), dict):
            return "cannot unmarshal string into Go struct field arguments"
        waiting.append(function["name"])
    return ""
