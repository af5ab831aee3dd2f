"""Scenarios around a model without weights, whose tokens cost next to nothing: what is left is the
cost of the layer. Proxies stand in front of this project's server there, without its duties."""
from dev.chain_bench import figures, plans

ONE_TOKEN_REQUESTS = 150
STREAM_REQUESTS = 40
STREAM_ANSWER = 32
HUNDRED = 100
HUNDRED_SECONDS = 6
POLICY_BLOCKS = 8
POLICY_BLOCK = 50


def fixed(side, setting):
    """One client, one request at a time: whole answers of one token, then streams."""
    before = used(side)
    asks = plans.questions(f"fixed{setting.round}", ONE_TOKEN_REQUESTS, 12, max_tokens=1,
                           stream=False, model=side.model)
    rows = side.load(plans.closed(asks), clients=1).rows
    after = used(side)
    asks = plans.questions(f"stream{setting.round}", STREAM_REQUESTS, 12,
                           max_tokens=STREAM_ANSWER, model=side.model)
    streams = side.load(plans.closed(asks), clients=1).rows
    found = {f"p{part}": figures.percentile(figures.totals(rows), part / 100)
             for part in (50, 99)}
    found["stream"] = figures.percentile(figures.totals(streams), 0.5)
    found["first"] = figures.percentile(figures.firsts(streams), 0.5)
    found["failed"] = figures.failures(rows) + figures.failures(streams)
    for name in after:
        found[f"cpu {name}"] = (after[name]["cpu"] - before[name]["cpu"]) / len(rows) * 1e3
        found[f"memory {name}"] = after[name]["resident"]
    return found


def used(side):
    return {name: process.use() for name, process in side.processes().items()}


def hundred(side, setting):
    """A hundred requests a second, mixed."""
    lines = plans.mixed_open(HUNDRED, HUNDRED_SECONDS, f"hundred{setting.round}",
                             model=side.model)
    loaded = side.load(lines, warm=32, drain=60)
    totals = figures.with_failures(loaded.rows, (HUNDRED_SECONDS + 60) * 1e3)
    return {**{f"p{part}": figures.percentile(totals, part / 100) for part in (50, 95, 99)},
            "failed": figures.failures(loaded.rows)}


def policy(sides, setting):
    """Keys, limits, usage and budgets on, less off: two processes of the same program take turns,
    block by block."""
    times = {"on": [], "off": []}
    on, off = sides
    for block in range(POLICY_BLOCKS):
        asks = plans.questions(f"policy{setting.round}-{block}", POLICY_BLOCK, 12, max_tokens=1,
                               stream=False, model=on.model)
        for name, side in (("on", on), ("off", off)):
            # The first one of a block also finds its server cold.
            times[name] += figures.totals(side.load(plans.closed(asks), clients=1).rows[1:])
    found = {f"{name} p{part}": figures.percentile(values, part / 100) * 1e3
             for name, values in times.items() for part in (50, 99)}
    return {**found, **{f"cost p{part}": found[f"on p{part}"] - found[f"off p{part}"]
                        for part in (50, 99)}}
