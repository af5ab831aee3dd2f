"""Message batches over the wire: life cycle, and a restart in the middle."""
import json

from support.admin import AdminServer
from support.budgets import left, spent
from support.http import check_error
from support.prompts import capital, user
from support.waiting import wait_until


def params(name="plain", **fields):
    return {"model": "fake", "max_tokens": 4000, "messages": [user(f"case:{name}")], **fields}


def create(server, *items):
    requests = [{"custom_id": name, "params": fields} for name, fields in items]
    reply = server.request("POST", "/v1/messages/batches", {"requests": requests})
    assert reply.status == 200, reply
    return reply.json()


def get(server, batch):
    return server.request("GET", f"/v1/messages/batches/{batch['id']}").json()


def ended(server, batch):
    """The batch, once it has ended."""
    wait_until(lambda: get(server, batch)["processing_status"] == "ended",
               lambda: get(server, batch))
    return get(server, batch)


def results(server, batch):
    reply = server.request("GET", f"/v1/messages/batches/{batch['id']}/results")
    assert reply.status == 200, reply
    return {line["custom_id"]: line["result"]
            for line in map(json.loads, reply.body.splitlines())}


def test_a_batch_is_answered_and_its_books_balance(context):
    server = context.scripted
    batch = create(server, ("a", params()), ("b", params("stop", stop_sequences=["STOP"])),
                   ("bad", params(messages=[])))
    done = ended(server, batch)
    counts = done["request_counts"]
    assert (counts["succeeded"], counts["errored"], counts["processing"]) == (2, 1, 0), done
    assert done["results_url"] and done["ended_at"], done
    found = results(server, batch)
    assert found["a"]["message"]["content"][0]["text"] == "Hello from the script.", found
    assert found["b"]["message"]["stop_sequence"] == "STOP", found
    assert found["bad"]["error"]["error"]["type"] == "invalid_request_error", found


def test_a_cancelled_batch_ends_without_the_rest(context):
    server = context.scripted
    batch = create(server, *((f"n{i}", params("unhurried")) for i in range(6)))
    reply = server.request("POST", f"/v1/messages/batches/{batch['id']}/cancel")
    assert reply.json()["processing_status"] in ("canceling", "ended"), reply
    counts = ended(server, batch)["request_counts"]
    assert counts["canceled"] > 0 and sum(counts.values()) == 6, counts
    kinds = {result["type"] for result in results(server, batch).values()}
    assert "canceled" in kinds, kinds


def test_a_batch_survives_the_end_of_the_process(context):
    state = {"XDG_STATE_HOME": str(context.sandbox.path("-state"))}
    first = context.start_scripted(environment=state)
    batch = create(first, ("slow", params("unhurried")), ("plain", params()))
    first.kill()
    second = context.start_scripted(environment=state)
    counts = ended(second, batch)["request_counts"]
    assert counts["succeeded"] == 2, counts
    assert results(second, batch)["plain"]["type"] == "succeeded"


def test_bad_batches_are_refused_with_the_path_of_the_field(context):
    good = {"custom_id": "a", "params": params()}
    faults = {"requests": {"requests": []}, "requests[0].custom_id": {"requests": [
        {"params": params()}]}, "requests[1].custom_id": {"requests": [good, good]},
        "requests[0].params.stream": {"requests": [{**good, "params": params(stream=True)}]}}
    for path, fields in faults.items():
        reply = context.scripted.request("POST", "/v1/messages/batches", fields)
        assert check_error(reply, 400, "invalid_request_error").startswith(path), (path, reply)
    reply = context.scripted.request("GET", "/v1/messages/batches/msgbatch_none")
    check_error(reply, 404, "not_found_error")


def test_a_batch_cannot_get_around_the_budget_of_its_key(context):
    folder = context.sandbox.path("-batches")
    admin = AdminServer(context, "--key-store", str(context.sandbox.path(".keys")),
                        "--usage-folder", str(context.sandbox.path("-usage")),
                        config=f"batches:\n  folder: {folder}\n")
    budget = 120
    key = admin.good("POST", "/admin/keys", {"limits": {"tokens_per_day": budget}})
    headers = {"x-api-key": key["key"]}
    server = admin.server
    items = [{"custom_id": f"r{i}", "params": capital(max_tokens=8)} for i in range(20)]
    batch = server.request("POST", "/v1/messages/batches", {"requests": items}, headers).json()
    path = f"/v1/messages/batches/{batch['id']}"
    wait_until(lambda: server.request("GET", path, headers=headers).json()["processing_status"]
               == "ended", "the batch does not end")
    lines = server.request("GET", path + "/results", headers=headers).body.splitlines()
    found = [json.loads(line)["result"] for line in lines]
    usages = [one["message"]["usage"] for one in found if one["type"] == "succeeded"]
    errors = [one["error"]["error"] for one in found if one["type"] == "errored"]
    assert usages and errors and len(usages) + len(errors) == 20, found
    served = sum(map(spent, usages))
    assert served <= budget, served
    assert all(error["type"] == "rate_limit_error" and f"key {key['id']}" in error["message"]
               for error in errors), errors
    row, = admin.good("GET", "/admin/usage?by=key")["usage"]
    assert row["requests"] == len(usages) and \
        row["uncached_input_tokens"] + row["output_tokens"] == served, (row, served)
    # What is left is the same for an interactive request.
    assert left(server, headers) == budget - served
