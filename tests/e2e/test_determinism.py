"""engine.deterministic: a greedy answer does not depend on what else is computed."""
from support.parallel import in_parallel
from support.prompts import body

PROMPTS = ["What is the capital of France?",
           "Write one sentence about the sea.",
           "Name three colours and say why you like them, please. " * 12,
           "Explain briefly how a bicycle works."]
CONFIG = "engine:\n  deterministic: true\n  batch_rows: {rows}\n  context_tokens: 1024\n"


def answers(server, run):
    return run(lambda prompt: server.text(body(prompt, max_tokens=20)), PROMPTS)


def check_same(found, expected, where):
    for prompt, text, wanted in zip(PROMPTS, found, expected):
        assert text == wanted, f"{where}: {prompt[:40]!r} gives {text!r} and not {wanted!r}"


def one_by_one(function, items):
    return [function(item) for item in items]


def test_greedy_text_is_the_same_alone_in_parallel_and_in_other_batches(context):
    large = context.start_server(config=CONFIG.format(rows=512))
    alone = answers(large, one_by_one)
    assert all(alone), alone
    check_same(answers(large, in_parallel), alone, "in parallel, prompts cached")
    check_same(answers(large, one_by_one), alone, "alone, prompts cached")
    large.kill()
    small = context.start_server(config=CONFIG.format(rows=16))
    check_same(answers(small, in_parallel), alone, "in parallel, other batches")
    check_same(answers(small, one_by_one), alone, "alone, other batches, prompts cached")
