"""Preparing the default model for the machine: measured once, kept, and never in the way."""
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


def was_quiet(info):
    """Whether two timings of the same thing agreed when the model was measured."""
    candidate, = info["preparation"]["candidates"]
    return candidate["disturbance"] <= 0.2


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

    second = start(context, cache)
    after = information(second)
    # What was measured on a busy machine is measured again.
    if was_quiet(before):
        assert not after["preparation"]["measured_now"], after["preparation"]
        assert MARK not in second.log_text(), second.log_text()[-1500:]
        for name in ("prepared", "type", "source_type", "reason"):
            assert after["preparation"][name] == before["preparation"][name], name
    else:
        assert after["preparation"]["measured_now"], after["preparation"]
    check_measured(after["preparation"])
    check_served(second, after)
    second.kill()

    done = context.zerohop("chat", "--prepare", "safe", "--temperature", "0", "--system", SYSTEM,
                           CAPITAL, environment={"XDG_CACHE_HOME": str(cache)})
    assert done.returncode == 0 and "Paris" in done.stdout, done
    assert (MARK not in done.stderr) == was_quiet(after), done


def test_a_cache_folder_that_cannot_be_written_is_no_obstacle(context):
    server = start(context, context.sandbox.file("-cache", "a file, not a folder"))
    info = information(server)
    assert not info["preparation"]["prepared"], info["preparation"]
    assert "not prepared" in server.log_text(), server.log_text()[-1500:]
    check_served(server, info)
