"""What README.md shows to a newcomer works as it stands there."""
import json
import re
import shlex
import subprocess
from pathlib import Path

from dev.judging.schema_judge import make_judge
from support.waiting import PATIENCE_SECONDS

README = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```([a-z]*)\n(.*?)```", README, re.DOTALL)
ADDRESS = re.compile(r"http://(127\.0\.0\.1|localhost):8080")


def commands(program):
    """The blocks that begin with that program."""
    return [text for _, text in BLOCKS if text.lstrip("$ ").startswith(program)]


def run_curl(context, command):
    """(what is sent, what comes back) of a curl command, on the server of the tests."""
    words = shlex.split(command.replace("\\\n", " ").lstrip("$ "))
    assert any(ADDRESS.search(word) for word in words), words
    words = [ADDRESS.sub(context.server.url, word) for word in words]
    done = subprocess.run([*words, "--max-time", str(PATIENCE_SECONDS), "-sS"],
                          capture_output=True, check=False)
    assert done.returncode == 0, done
    message = json.loads(done.stdout)
    assert message["type"] == "message", message
    return json.loads(words[words.index("-d") + 1]), message


def test_the_first_request_of_the_readme_works(context):
    _, message = run_curl(context, commands("curl")[0])
    told = re.search(r"The text of the answer is `(.*?)`", README)[1]
    assert message["content"][0]["text"] == told, (message, told)


def test_the_formats_of_the_readme_are_kept(context):
    sent = [run_curl(context, command) for command in commands("curl")
            if '"output_config"' in command]
    assert sent, "README.md shows no format"
    for body, message in sent:
        text = "".join(block["text"] for block in message["content"])
        assert make_judge(body["output_config"]["format"]["schema"])(json.loads(text)) is None, text


def test_the_tools_of_the_readme_are_called(context):
    sent = [run_curl(context, command) for command in commands("curl") if '"tools"' in command]
    assert sent, "README.md shows no tools"
    for body, message in sent:
        schemas = {tool["name"]: tool["input_schema"] for tool in body["tools"]}
        calls = [block for block in message["content"] if block["type"] == "tool_use"]
        assert calls, message
        for call in calls:
            assert make_judge(schemas[call["name"]])(call["input"]) is None, call


def test_a_refused_schema_is_explained_as_the_readme_says(context):
    """The block is typed as it stands, in a folder of its own."""
    block, = [text for kind, text in BLOCKS if kind == "sh" and "zerohop constrain check" in text]
    told = [text for kind, text in BLOCKS if kind == "text" and text.startswith("refused:")]
    folder = context.sandbox.path("-readme")
    folder.mkdir()
    script = f'zerohop() {{ {shlex.quote(str(context.program))} "$@"; }}\n{block}'
    done = subprocess.run(["sh", "-c", script], cwd=folder, capture_output=True, text=True,
                          env=context.sandbox.environment(), timeout=PATIENCE_SECONDS, check=False)
    assert [done.stdout] == told, done


def test_the_commands_of_the_readme_exist(context):
    shown = set(re.findall(r"zerohop ([a-z][a-z-]+)", " ".join(re.findall(r"`([^`\n]*)`", README))))
    assert {"serve", "constrain", "pull"} <= shown, shown
    for command in sorted(shown):
        done = context.zerohop(command, "--help")
        assert done.returncode == 0 and f"Usage: zerohop {command}" in done.stdout, (command, done)
