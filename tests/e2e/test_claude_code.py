"""Claude Code on a scripted model with a window of 200,000 tokens: its real requests of some 50 kB,
and its real tools on real files."""
import json

from support import claude_code
from support.clients import Client
from support.images import PIXEL
from support.script import THINKING, call, case
from support.sse import prompt_tokens


class Scene:
    """A folder to work in, a server that follows `rules`, and one run of the program."""

    def __init__(self, context, rules, prompt="case:scene please", files=None, **variables):
        self.folder = context.sandbox.path("-work")
        self.folder.mkdir()
        for name, content in (files or {}).items():
            (self.folder / name).write_bytes(content)
        made = [{key: self.filled(value) for key, value in rule.items()} for rule in rules]
        self.server = context.start_scripted(rules=made)
        url = self.server.url + variables.pop("suffix", "")
        self.session = claude_code.run(context, url, prompt, self.folder, **variables)
        assert not self.session.is_error, self.session.result

    def filled(self, value):
        return value.replace("FOLDER", str(self.folder)) if isinstance(value, str) else value

    def text(self, name):
        return (self.folder / name).read_text(encoding="utf-8")


def steps(first, *later):
    """Rules: the reply to the prompt, then (words of a tool's result, the reply to it)."""
    return [case("scene", first, last="case:scene"),
            *(case("scene", reply, last=words) for words, reply in later)]


def plain_text(context):
    scene = Scene(context, steps("Nothing to do."))
    assert scene.session.result == "Nothing to do.", scene.session
    usage = scene.session.usages()[0]
    assert prompt_tokens(usage) > 40_000, usage


def writes_reads_and_edits_a_file(context):
    path = "FOLDER/notes.txt"
    scene = Scene(context, steps(
        "I begin.\n" + call("Write", file_path=path, content="one\ntwo\nthree\n"),
        ("has been updated", "The file is ready."),
        ("three", call("Edit", file_path=path, old_string="two", new_string="2 (zwei)")),
        ("File created", call("Read", file_path=path))))
    assert scene.session.result == "The file is ready.", scene.session
    assert scene.text("notes.txt") == "one\n2 (zwei)\nthree\n", scene.text("notes.txt")
    used = [block["name"] for message in scene.session.messages for block in message["content"]
            if block["type"] == "tool_use"]
    assert used == ["Write", "Read", "Edit"], used


def runs_a_command(context):
    command = call("Bash", command="echo result $((6 * 7)) | tee out.txt", description="Computes")
    scene = Scene(context, steps(command, ("result 42", "It printed 42.")))
    assert scene.session.result == "It printed 42.", scene.session
    assert scene.text("out.txt") == "result 42\n"


def two_parallel_tools(context):
    calls = call("Read", file_path="FOLDER/a.txt") + "\n" + call("Read", file_path="FOLDER/b.txt")
    scene = Scene(context, steps(calls, ("second file", "Both read.")),
                  files={"a.txt": b"first file\n", "b.txt": b"second file\n"})
    assert scene.session.result == "Both read.", scene.session
    assert len(scene.session.tool_results) == 2, scene.session.tool_results


def image_in_tool_result(context):
    scene = Scene(context, steps(call("Read", file_path="FOLDER/pixel.png"),
                                 ("image", "A note about an image.")),
                  files={"pixel.png": PIXEL})
    assert scene.session.result == "A note about an image.", scene.session
    kinds = [block["type"] for block in scene.session.tool_results[0]["content"]]
    assert "image" in kinds, scene.session.tool_results


def thinking_and_a_tool(context):
    scene = Scene(context, steps(THINKING + call("Read", file_path="FOLDER/a.txt"),
                                 ("first file", "Read it.")),
                  files={"a.txt": b"first file\n"})
    assert scene.session.result == "Read it.", scene.session
    kinds = [block["type"] for message in scene.session.messages for block in message["content"]]
    assert kinds == ["thinking", "tool_use", "text"], kinds


def an_errored_tool_is_told_to_the_model(context):
    scene = Scene(context, steps(call("Read", file_path="FOLDER/none.txt"),
                                 ("does not exist", "There is no such file.")))
    assert scene.session.result == "There is no such file.", scene.session
    assert scene.session.tool_results[0]["is_error"] is True, scene.session.tool_results


def tool_search(context):
    scene = Scene(context, steps(call("ToolSearch", query="select:WebFetch", max_results=1),
                                 ("WebFetch", "WebFetch is here.")))
    assert scene.session.result == "WebFetch is here.", scene.session
    content = scene.session.tool_results[0]["content"]
    assert content[0]["type"] == "tool_reference", content


def the_next_turn_reads_the_cache(context):
    scene = Scene(context, steps(call("Read", file_path="FOLDER/a.txt"),
                                 ("first file", "Read it.")),
                  files={"a.txt": b"first file\n"})
    first, second = scene.session.usages()
    share = second["cache_read_input_tokens"] / prompt_tokens(first)
    assert share > 0.99, f"{share:.1%} of the first prompt: {first} {second}"


def v1_in_the_base_url(context):
    scene = Scene(context, steps("Found."), suffix="/v1")
    assert scene.session.result == "Found.", scene.session


def prompt_too_long(context):
    folder = context.sandbox.path("-work")
    folder.mkdir()
    session = claude_code.run(context, context.server.url, "Hi", folder)  # 8,192 tokens
    assert session.is_error and "rompt is too long" in session.result, session


def other_schemas_without_tool_search(context):
    scene = Scene(context, steps("Twenty tools."), ENABLE_TOOL_SEARCH="false")
    assert scene.session.result == "Twenty tools.", scene.session
    assert prompt_tokens(scene.session.usages()[0]) > 70_000, scene.session.usages()


SCENES = {
    "plain text": plain_text, "two parallel tools": two_parallel_tools,
    "tool result": writes_reads_and_edits_a_file, "image in tool result": image_in_tool_result,
    "thinking and a tool": thinking_and_a_tool, "prompt too long": prompt_too_long,
    "cache counters": the_next_turn_reads_the_cache, "shell command": runs_a_command,
    "failed tool": an_errored_tool_is_told_to_the_model, "tool search": tool_search,
    "all tools at once": other_schemas_without_tool_search,
    "/v1 in the base URL": v1_in_the_base_url}
CLAUDE_CODE_FEATURES = tuple(SCENES)
CLAUDE_CODE = Client("claude-code", "Claude Code", "anthropic", "", features=CLAUDE_CODE_FEATURES,
                     package="@anthropic-ai/claude-code")


class ClaudeCodeRuns:
    """Plays each scene at most once."""

    def __init__(self):
        self.results = {}

    def reason(self, context, _client, feature):
        if feature not in self.results:
            try:
                SCENES[feature](context)
                self.results[feature] = None
            except Exception as fault:  # whatever a scene raises is its failure
                text = json.dumps(str(fault), ensure_ascii=False)[1:300]
                self.results[feature] = f"{type(fault).__name__}: {text}"
        return self.results[feature]


CLAUDE_CODE_RUNS = ClaudeCodeRuns()


def cases():
    for feature, scene in SCENES.items():
        yield scene.__name__, scene_test(feature)


def scene_test(feature):
    def test(context):
        reason = CLAUDE_CODE_RUNS.reason(context, CLAUDE_CODE, feature)
        assert reason is None, reason
    return test
