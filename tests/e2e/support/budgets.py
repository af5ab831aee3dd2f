"""What is spent and left of a budget of tokens."""


def spent(usage):
    """What counts: cached input does not."""
    return usage["input_tokens"] + usage["output_tokens"]


def left(server, headers=None):
    """Of the budget."""
    reply = server.request("POST", "/v1/messages", b"{", headers)
    return int(reply.headers["anthropic-ratelimit-tokens-remaining"])
