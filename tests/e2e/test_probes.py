"""Probes and scrapes while a long prompt keeps all cores busy; bench/probe_bench.cc tells how
quickly."""
import http.client

from support.http import exchange
from support.prompts import body, fresh, long_text
from support.stream import OpenStream
from support.waiting import PATIENCE_SECONDS, wait_until

PROBES = 25


def test_probes_and_scrapes_are_answered_during_a_long_prefill(context):
    server = context.start_server("--context", "8192", "--sequences", "1")
    connection = http.client.HTTPConnection(server.host, server.port, timeout=PATIENCE_SECONDS)
    with OpenStream(server, body(fresh(long_text(4000)), max_tokens=2)) as stream:
        wait_until(lambda: server.health()["prefilling"] == 1, "nothing is prefilled")
        for probe in range(PROBES):
            health = exchange(connection, "GET", "/healthz")
            assert health.status == 200, health
            # The prompt is still being computed: what was asked before was answered meanwhile.
            assert health.json()["prefilling"] == 1, (probe, health.json())
            for path in ("/metrics", "/livez"):
                reply = exchange(connection, "GET", path)
                assert reply.status == 200 and reply.body, reply
        reading = stream.finish()
        assert reading.usage["output_tokens"] == 2, reading.usage
    connection.close()
