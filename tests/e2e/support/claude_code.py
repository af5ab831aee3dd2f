"""Claude Code without a terminal: one prompt, worked on to its end, in a folder of its own."""
import json
import subprocess
from dataclasses import dataclass

from support.waiting import PATIENCE_SECONDS

# It must reach nothing but the server, ask nobody, and find nothing of the user's.
SWITCHES = {
    "ANTHROPIC_API_KEY": "none", "IS_SANDBOX": "1", "NO_PROXY": "*",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_TELEMETRY": "1",
    "DISABLE_AUTOUPDATER": "1", "DISABLE_ERROR_REPORTING": "1", "CLAUDE_CODE_MAX_RETRIES": "0"}


@dataclass
class Session:
    """What one run of the program said."""
    result: str       # the final text
    is_error: bool
    messages: list    # the assistant's messages, as the API gave them
    tool_results: list
    errors: str

    def usages(self):
        """The usage of each request, in order."""
        by_id = {message["id"]: message["usage"] for message in self.messages}
        return list(by_id.values())


def program(context):
    return context.installed.modules() / ".bin/claude"


def run(context, url, prompt, folder, **variables):
    """`claude -p PROMPT` in `folder` against the server at `url`."""
    environment = context.sandbox.environment(**SWITCHES, ANTHROPIC_BASE_URL=url, **variables)
    words = [str(program(context)), "-p", prompt, "--model", "fake",
             "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions"]
    done = subprocess.run(words, cwd=folder, env=environment, stdin=subprocess.DEVNULL, text=True,
                          capture_output=True, timeout=PATIENCE_SECONDS, check=False)
    return read_session(done)


def read_session(done):
    events = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    ends = [event for event in events if event["type"] == "result"]
    assert len(ends) == 1, f"exit code {done.returncode}: {done.stdout[-500:]} {done.stderr[-500:]}"
    messages = [event["message"] for event in events if event["type"] == "assistant"]
    results = [block for event in events if event["type"] == "user"
               for block in event["message"]["content"]
               if isinstance(block, dict) and block["type"] == "tool_result"]
    return Session(ends[0].get("result", ""), ends[0]["is_error"], messages, results, done.stderr)
