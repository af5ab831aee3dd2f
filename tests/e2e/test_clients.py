"""Every client library with every feature of its dialect, as its users call it."""
from support.clients import Client, ClientRuns

ANTHROPIC = ("plain text", "system prompt", "conversation", "streaming", "one tool",
             "two parallel tools", "tool result", "streamed tool call", "image in tool result",
             "thinking and a tool", "structured output", "token count", "models", "stop sequence",
             "errors", "prompt too long", "abort", "cache counters", "batches")
OPENAI = ("plain text", "system prompt", "conversation", "streaming", "one tool",
          "two parallel tools", "tool result", "streamed tool call", "thinking and a tool",
          "structured output", "models", "stop sequence", "errors", "prompt too long", "abort",
          "cache counters", "log-probabilities", "several choices", "seed", "completions",
          "embeddings", "responses")


def without(features, *left_out):
    """The features that a library has a call for."""
    assert set(left_out) <= set(features), left_out
    return tuple(feature for feature in features if feature not in left_out)


AI_SDK_ANTHROPIC = without(ANTHROPIC, "token count", "models", "batches")
AI_SDK_OPENAI = without(OPENAI, "models", "several choices", "completions", "responses",
                        "log-probabilities")
LANGCHAIN_ANTHROPIC = without(ANTHROPIC, "models", "batches")
LANGCHAIN_OPENAI = without(OPENAI, "models", "thinking and a tool", "completions")
LITELLM_ANTHROPIC = without(ANTHROPIC, "models", "batches", "token count")
LITELLM_OPENAI = without(OPENAI, "models")

CLIENTS = (
    Client("anthropic-py-2", "anthropic (Python)", "anthropic", "python/anthropic_client.py",
           python="main", features=ANTHROPIC, package="anthropic"),
    Client("anthropic-py-0", "anthropic (Python)", "anthropic", "python/anthropic_client.py",
           python="anthropic-0", features=ANTHROPIC, package="anthropic"),
    Client("anthropic-js-1", "@anthropic-ai/sdk", "anthropic", "anthropic.mjs",
           ("--package", "anthropic-1"), features=ANTHROPIC, package="anthropic-1"),
    Client("anthropic-js-0-137", "@anthropic-ai/sdk", "anthropic", "anthropic.mjs",
           ("--package", "anthropic-0-137"), features=ANTHROPIC, package="anthropic-0-137"),
    Client("anthropic-js-0-71", "@anthropic-ai/sdk", "anthropic", "anthropic.mjs",
           ("--package", "anthropic-0-71"), features=ANTHROPIC, package="anthropic-0-71"),
    Client("ai-sdk-7", "ai 7 with @ai-sdk/anthropic", "anthropic", "ai_sdk.mjs",
           ("--package", "ai-7", "--provider", "ai-sdk-anthropic-4"), features=AI_SDK_ANTHROPIC,
           package="ai-sdk-anthropic-4"),
    Client("ai-sdk-6", "ai 6 with @ai-sdk/anthropic", "anthropic", "ai_sdk.mjs",
           ("--package", "ai-6", "--provider", "ai-sdk-anthropic-3"), features=AI_SDK_ANTHROPIC,
           package="ai-sdk-anthropic-3"),
    Client("langchain-anthropic", "langchain-anthropic", "anthropic",
           "python/langchain_anthropic_client.py", python="main", features=LANGCHAIN_ANTHROPIC,
           package="langchain-anthropic"),
    Client("litellm-anthropic", "litellm, anthropic/…", "anthropic",
           "python/litellm_client.py", ("--dialect", "anthropic"), python="litellm",
           features=LITELLM_ANTHROPIC, package="litellm"),
    Client("openai-py", "openai (Python)", "openai", "python/openai_client.py", python="main",
           features=OPENAI, package="openai"),
    Client("openai-js", "openai (JavaScript)", "openai", "openai.mjs", features=OPENAI,
           package="openai"),
    Client("ai-sdk-openai", "ai 7 with @ai-sdk/openai", "openai", "ai_sdk_openai.mjs",
           ("--provider", "ai-sdk-openai-4"), features=(*AI_SDK_OPENAI, "responses"),
           package="ai-sdk-openai-4"),
    Client("ai-sdk-openai-compatible", "ai 7 with @ai-sdk/openai-compatible", "openai",
           "ai_sdk_openai.mjs", ("--provider", "ai-sdk-openai-compatible-3"),
           features=AI_SDK_OPENAI, package="ai-sdk-openai-compatible-3"),
    Client("langchain-openai", "langchain-openai", "openai", "python/langchain_openai_client.py",
           python="main", features=LANGCHAIN_OPENAI, package="langchain-openai"),
    Client("litellm-openai", "litellm, openai/…", "openai", "python/litellm_client.py",
           ("--dialect", "openai"), python="litellm", features=LITELLM_OPENAI, package="litellm"),
)

RUNS = ClientRuns()


def cases():
    """(name, function) for each client and feature."""
    for client in CLIENTS:
        for feature in client.features:
            yield f"{client.id}.{feature.replace(' ', '_')}", feature_test(client, feature)


def feature_test(client, feature):
    def test(context):
        reason = RUNS.reason(context, client, feature)
        assert reason is None, reason
    return test
