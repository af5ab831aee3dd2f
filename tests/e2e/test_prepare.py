"""Preparing the default model for the machine: measured once, kept, and never in the way."""
import json

from support.prompts import CAPITAL, MODEL, SYSTEM, capital

MARK = "preparing " + MODEL  # what the program says before it converts


def start(context, cache, policy="safe"):
    return context.start_server("--prepare", policy, environment={"XDG_CACHE_HOME": str(cache)})


def information(server):
    return server.request("GET", "/v1/system_info").json()


def check_measured(preparation):
    """What the comparison of one type must have found, whatever the machine makes of its speed."""
    assert preparation["policy"] == "safe" and preparation["source_type"] == "Q4_1", preparation
    candidate, = preparation["candidates"]
    divergence = candidate["divergence"]
    assert candidate["type"] == "Q8_0" and divergence["tokens"] >= 256, candidate
    assert 0 < divergence["kl_mean_nats"] < 0.02, divergence
    assert divergence["same_first_choice"] > 0.9, divergence
    assert abs(divergence["perplexity"] / divergence["perplexity_original"] - 1) < 0.05, divergence
    for speeds in candidate["tokens_per_second"].values():
        assert all(speeds[name] > 0 for name in ("prefill", "streams_8", "streams_1")), candidate
    assert candidate["gain"] > 0, candidate


def set_disturbance(cache, value):
    """Writes into what is kept how far two timings of the same thing differed: what a quiet machine
    (0) or a busy one (1) would have found, whichever this one is."""
    record, = (cache / "zerohop/prepared").glob("*/*.json")
    kept = json.loads(record.read_text())
    for candidate in kept["candidates"]:
        candidate["disturbance"] = value
    record.write_text(json.dumps(kept))


def chat(context, cache):
    """The log of a run that answers."""
    done = context.zerohop("chat", "--prepare", "safe", "--temperature", "0", "--system", SYSTEM,
                           CAPITAL, environment={"XDG_CACHE_HOME": str(cache)})
    assert done.returncode == 0 and "Paris" in done.stdout, done
    return done.stderr


def check_served(server, info):
    """The type that is said to be served is the one that is loaded, under the usual name."""
    preparation = info["preparation"]
    served = preparation["type"] if preparation["prepared"] else "Q4_1"
    assert served in info["model"]["description"], info["model"]
    assert info["model"]["name"] == server.model == MODEL, info["model"]
    message = server.messages(capital())
    assert message["model"] == MODEL and "Paris" in message["content"][0]["text"], message


def test_the_default_model_is_prepared_once(context):
    cache = context.sandbox.path("-cache")
    first = start(context, cache)
    before = information(first)
    assert before["preparation"]["measured_now"], before["preparation"]
    assert before["preparation"]["spent_ms"] > 0, before["preparation"]
    check_measured(before["preparation"])
    check_served(first, before)
    assert MARK in first.log_text(), first.log_text()[-1500:]
    first.kill()

    set_disturbance(cache, 0)
    second = start(context, cache)
    after = information(second)
    assert not after["preparation"]["measured_now"], after["preparation"]
    assert MARK not in second.log_text(), second.log_text()[-1500:]
    for name in ("prepared", "type", "source_type", "reason"):
        assert after["preparation"][name] == before["preparation"][name], name
    check_measured(after["preparation"])
    check_served(second, after)
    second.kill()
    assert MARK not in chat(context, cache)


def test_what_was_measured_on_a_busy_machine_is_measured_again(context):
    cache = context.sandbox.path("-cache")
    assert MARK in chat(context, cache)
    set_disturbance(cache, 1)
    server = start(context, cache)
    info = information(server)
    assert info["preparation"]["measured_now"], info["preparation"]
    check_measured(info["preparation"])
    check_served(server, info)


def test_a_cache_folder_that_cannot_be_written_is_no_obstacle(context):
    server = start(context, context.sandbox.file("-cache", "a file, not a folder"))
    info = information(server)
    assert not info["preparation"]["prepared"], info["preparation"]
    assert "not prepared" in server.log_text(), server.log_text()[-1500:]
    check_served(server, info)
