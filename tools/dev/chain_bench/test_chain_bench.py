import json
import os
import tempfile
import unittest
import xml.etree.ElementTree
from pathlib import Path
from types import SimpleNamespace

from dev.chain_bench import (figures, page, plans, plot, processes, proxies, real, run, scenarios,
                             sides, traced)
from dev.common import Failure


def row(due=0.0, ended=0.1, end="whole", texts=(), **more):
    return {"kind": "request", "due": due, "sent": due, "ended": ended, "end": end,
            "text_times": list(texts), "output_tokens": 0, "prompt_tokens": 0, "cached_tokens": 0,
            "finish_reason": "length", "trouble": "", "text": "", **more}


class Figures(unittest.TestCase):
    def test_percentiles_are_values_that_were_measured(self):
        self.assertIsNone(figures.percentile([], 0.5))
        self.assertEqual(figures.percentile([3, 1, 2], 0.5), 2)
        self.assertEqual(figures.percentile(list(range(101)), 0.99), 99)

    def test_the_slope_is_that_of_the_line(self):
        self.assertAlmostEqual(figures.slope([(1, 10), (2, 12), (4, 16)]), 2)
        self.assertIsNone(figures.slope([(1, 10)]))
        self.assertIsNone(figures.slope([(1, 10), (1, 12)]))

    def test_latency_counts_from_when_a_request_was_due(self):
        self.assertEqual(figures.totals([row(due=1.0, ended=1.5)]), [500.0])
        self.assertEqual(figures.firsts([row(due=1.0, texts=[1.25, 1.5])]), [250.0])

    def test_who_drops_a_request_is_not_quick(self):
        rows = [row(ended=0.1), row(ended=0.01, end="refused")]
        self.assertEqual(figures.totals(rows), [100.0])
        self.assertEqual(figures.with_failures(rows, 9000), [100.0, 9000])
        self.assertEqual(figures.failures(rows), 1)

    def test_the_longest_gap_may_begin_before_and_end_behind(self):
        rows = [row(texts=[0.0, 0.9, 2.0, 2.1]), row(texts=[1.0, 1.2])]
        self.assertAlmostEqual(figures.longest_gap(rows, 1.0, 1.5), 1100)
        self.assertIsNone(figures.longest_gap(rows, 5, 6))

    def test_a_range_stands_beside_a_median(self):
        self.assertEqual(figures.spread([3.0, None, 1.0, 2.0], "ms"), "2.00 ms (1.00 to 3.00)")
        self.assertEqual(figures.spread([None]), "–")
        self.assertEqual(figures.spread([1234.5]), "1,234")


class Plans(unittest.TestCase):
    def test_the_same_seed_gives_the_same_bytes(self):
        self.assertEqual(plans.mixed_open(5, 4, "a"), plans.mixed_open(5, 4, "a"))
        self.assertNotEqual(plans.mixed_open(5, 4, "a"), plans.mixed_open(5, 4, "b"))

    def test_an_open_loop_has_its_rate_and_its_mix(self):
        lines = [line.split("\t") for line in plans.mixed_open(50, 4, 1)]
        times = [float(line[0]) for line in lines]
        self.assertEqual(len(times), 200)
        self.assertEqual(times, sorted(times))
        self.assertLess(times[-1], 4)
        shares = {name: share for name, share, *_ in plans.MIX}
        self.assertEqual({kind: sum(line[2] == kind for line in lines) for kind in shares},
                         {kind: 2 * share for kind, share in shares.items()})

    def test_a_body_is_one_line_that_the_generator_knows_as_a_stream(self):
        text = plans.line(plans.Ask("a\tb", 3, system="s"), "k", 1.5, 2)
        due, give_up, kind, body = text.split("\t")
        self.assertEqual((due, give_up, kind), ("1.500000", "2", "k"))
        self.assertIn('"stream":true', body)
        self.assertEqual(json.loads(body)["messages"],
                         [{"role": "system", "content": "s"}, {"role": "user", "content": "a\tb"}])
        self.assertNotIn("stream", json.loads(plans.Ask("a", stream=False).body()))

    def test_free_answers_may_end(self):
        self.assertNotIn("logit_bias", json.loads(plans.Ask("a", endless=False).body()))

    def test_long_prompts_fit_the_window(self):
        self.assertLess(real.LONG_PROMPT + real.LONG_ANSWER, sides.WINDOW)


class Judging(unittest.TestCase):
    def test_a_person_is_what_the_schema_says(self):
        good = {"name": "A", "age": 3, "city": "Oslo", "likes": ["x"]}
        self.assertTrue(real.is_person(json.dumps(good)))
        for change in ({"age": True}, {"age": 121}, {"city": "Bonn"}, {"likes": []},
                       {"name": "x" * 21}, {"more": 1}):
            self.assertFalse(real.is_person(json.dumps({**good, **change})), change)
        for text in ("", "{", "[]", '{"name":"A"}'):
            self.assertFalse(real.is_person(text))


class Proxies(unittest.TestCase):
    def test_both_proxies_are_told_where_the_model_is(self):
        upstream = proxies.Upstream("m", 81)
        text = proxies.litellm_config([upstream, proxies.Upstream("n", 82)])
        self.assertIn("model: openai/m\n      api_base: http://127.0.0.1:81/v1\n", text)
        self.assertIn("model_name: n\n", text)
        self.assertIn("x-portkey-custom-host: http://127.0.0.1:81/v1",
                      proxies.portkey_headers(upstream))

    def test_their_versions_are_pinned(self):
        self.assertRegex(proxies.LITELLM.read_text(encoding="utf-8"), r"(?m)^litellm==[\d.]+$")
        lock = json.loads((proxies.PORTKEY / "package-lock.json").read_text(encoding="utf-8"))
        for name, package in lock["packages"].items():
            self.assertTrue(not name or package["integrity"].startswith("sha512-"), name)


class Processes(unittest.TestCase):
    def test_the_use_of_a_process_is_that_of_its_threads(self):
        begin = processes.use_of(os.getpid())
        while processes.use_of(os.getpid())["cpu"] == begin["cpu"]:
            pass
        self.assertGreater(begin["resident"], 1)
        self.assertGreaterEqual(begin["peak"], begin["resident"])

    def test_a_process_that_does_not_come_up_says_why(self):
        with tempfile.TemporaryDirectory() as folder:
            process = processes.Process("it", ["sh", "-c", "echo no room; exit 3"],
                                        log=Path(folder) / "log")
            with self.assertRaisesRegex(Failure, "(?s)it does not come up.*no room"):
                process.start(processes.free_port(), "/")

    def test_threads_that_spin_are_those_of_the_model(self):
        before = {"cpu": 0.0, "threads": {1: ("zerohop", 0.0), 2: ("engine", 0.0)}}
        after = {"cpu": 10.1, "threads": {1: ("zerohop", 0.1), 2: ("engine", 5.0),
                                          3: ("engine", 5.0)}}
        self.assertAlmostEqual(real.outside(before, after), 0.1)

    def test_a_proxy_is_outside_altogether(self):
        before = {"cpu": 0.0, "threads": {1: ("node", 0.0)}}
        after = {"cpu": 2.0, "threads": {1: ("node", 1.6), 2: ("worker", 0.4)}}
        self.assertAlmostEqual(real.outside(before, after, compute=False), 2.0)


class Traces(unittest.TestCase):
    LINES = ['71 epoll_wait(5<anon_inode:[eventpoll]>, [{...}], 128, -1) = 1',
             '71 recvmsg(9<socket:[40]>, {msg_name=NULL}, 0) = 300',
             '72 futex(0x7f, FUTEX_WAIT_PRIVATE, 0, NULL <unfinished ...>',
             '72 <... futex resumed>) = 0',
             '71 sendmsg(9<socket:[40]>, {msg_name=NULL}, MSG_NOSIGNAL) = 120',
             '71 read(9<socket:[40]>, 0x7f, 16) = -1 EAGAIN (Resource temporarily unavailable)',
             '71 read(4</a/file.py>, "x", 4096) = 4096',
             '73 recvfrom(8<socket:[41]>,  <unfinished ...>',
             '72 read(4</a/file.py>,  <unfinished ...>',
             '73 <... recvfrom resumed>"x", 50, 0, NULL, NULL) = 50',
             '72 <... read resumed>"x", 70) = 70',
             '71 --- SIGSTOP {si_signo=SIGSTOP} ---']

    def test_a_call_in_two_lines_counts_once(self):
        self.assertEqual(traced.count_calls(self.LINES),
                         {"epoll_wait": 1, "recvmsg": 1, "futex": 1, "sendmsg": 1, "read": 3,
                          "recvfrom": 1})

    def test_bytes_are_those_that_moved_through_sockets(self):
        self.assertEqual(traced.count_bytes(self.LINES), (350, 120))


def cell(p95, p99, offered=1.0):
    return {"offered": offered, "p50": p95 / 2, "p95": p95, "p99": p99, "first95": p95 / 3,
            "failed": 0, "late": 0.2}


def mixed_found():
    """Three rounds of the two sides; the chain queues from its second rate on."""
    ours = {"rates": {0.4: cell(100, 110, 4), 1.0: cell(120, 130, 10)}}
    chain = {"rates": {0.4: cell(200, 220, 4), 1.0: cell(600, 1000, 10)}}
    return {"zerohop": [ours] * 3, "litellm": [chain] * 3}


class Page(unittest.TestCase):
    def test_the_chain_queues_where_its_p95_has_grown(self):
        found = mixed_found()
        self.assertEqual(page.queueing_share(found["litellm"]), 1.0)
        self.assertEqual(page.queueing_share(found["zerohop"]), 1.0)
        found["litellm"][0]["rates"][0.7] = cell(301, 400, 7)
        self.assertEqual(page.queueing_share(found["litellm"]), 0.7)

    def test_goals_of_the_mixed_load_are_told_reached_or_missed(self):
        section = scenarios.REAL["mixed"].section
        text = page.mixed_section(section, mixed_found(), 10.0)
        self.assertIn("| p95 at 10.0 requests/s, where LiteLLM begins to queue | 120 ms (120 to "
                      "120) | 600 ms (600 to 600) | 0.20 | ≤ 0.5: reached |", text)
        self.assertIn("| 0.026 | ≤ 0.1: reached |", text)
        self.assertIn("Medians of 3 rounds", text)
        slow = mixed_found()
        slow["zerohop"] = [{"rates": {0.4: cell(100, 110, 4), 1.0: cell(310, 330, 10)}}] * 3
        text = page.mixed_section(section, slow, 10.0)
        self.assertEqual(text.count("**missed**"), 2)

    def test_the_fixed_cost_is_held_against_its_goal(self):
        section = scenarios.FAKE["fixed"].section
        found = {"zerohop": [{"p50": 0.6}], "litellm": [{"p50": 5.0}]}
        text = page.fixed_section(section, found)
        self.assertIn("| one token, p50 | 0.60 ms | 5.00 ms | 0.12 |", text)
        self.assertIn("**missed**", text)
        self.assertIn("reached", page.fixed_section(section, {"zerohop": [{"p50": 0.4}]}))

    def test_the_classic_four_stand_beside_the_source_text(self):
        found = {"mixed": mixed_found(),
                 **{name: {"zerohop": [{key: 50.0}], "litellm": [{key: 100.0}]}
                    for name, key in (("single", "total"), ("long", "total"), ("hundred", "p95"))}}
        text = page.classic_section(scenarios.CLASSIC, found)
        self.assertIn("| single request, short | 312 → 298 ms | 0.96 | 100 ms | 50.0 ms | 0.50 |",
                      text)
        self.assertIn("840 → 112 ms | 0.13 | 600 ms (600 to 600) | 120 ms", text)

    def test_a_run_of_some_scenarios_keeps_the_others(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "page.md"
            page.write(path, "# Title\n\nold head", {"a": "first", "b": "second"})
            page.write(path, "# Title\n\nnew head", {"b": "third"})
            self.assertEqual(path.read_text(encoding="utf-8"),
                             "# Title\n\nnew head\n\n## a\n\nfirst\n\n## b\n\nthird\n")

    def test_every_scenario_can_be_told(self):
        for name, scenario in {**scenarios.FAKE, **scenarios.REAL}.items():
            result = {line.key: 1.0 for line in scenario.section.rows}
            text = page.simple(scenario.section, {"zerohop": [result], "litellm": [result]})
            self.assertEqual(text.count("\n| "), len(scenario.section.rows) + 1, name)

    def test_the_use_of_each_process_is_told(self):
        result = {"memory zerohop": 300.0, "cpu zerohop": 1.9, "outside zerohop": 0.01}
        self.assertIn("| zerohop | zerohop | 300 MiB | 1.90 | 1.00 % |",
                      page.use_section({"zerohop": [result]}))


class Plot(unittest.TestCase):
    def test_a_chart_is_an_image_with_a_line_for_each_series(self):
        image = xml.etree.ElementTree.fromstring(page.mixed_chart(mixed_found()))
        names = [element.tag.rpartition("}")[2] for element in image]
        self.assertEqual(names.count("polyline"), 4)

    def test_marks_of_an_axis_are_round(self):
        self.assertEqual(plot.nice_step(10), 2)
        self.assertAlmostEqual(plot.nice_step(0.3), 0.05)


class CommandLine(unittest.TestCase):
    def test_names_and_flags(self):
        wanted = run.parse(["mixed", "fixed", "--rounds", "2", "--sides", "zerohop,litellm"])
        self.assertEqual((wanted.names, wanted.rounds), (["mixed", "fixed"], 2))
        self.assertEqual(wanted.sides, ["zerohop", "litellm"])
        self.assertTrue(run.parse([]).wants("cancel"))
        self.assertFalse(wanted.wants("cancel"))

    def test_the_classic_four_need_their_parts(self):
        wanted = run.parse(["classic"])
        self.assertTrue(all(wanted.wants(name) for name in run.PARTS_OF_CLASSIC))
        self.assertFalse(wanted.wants("stall"))

    def test_what_makes_no_sense_is_named(self):
        for words in (["nonesuch"], ["--rounds"], ["--rounds", "x"], ["--rounds", "0"],
                      ["--sides", "zerohop,x"], ["--what", "1"]):
            with self.assertRaises(Failure) as caught:
                run.parse(words)
            self.assertEqual(caught.exception.code, 2)

    def test_the_compared_two_have_all_rounds_and_long_scenarios_fewer(self):
        wanted = run.parse(["mixed", "cancel"])
        chosen = [[list(wanted.of(scenarios.REAL, side, number)) for number in range(3)]
                  for side in ("zerohop", "litellm", "portkey")]
        self.assertEqual(chosen[0], [["mixed", "cancel"], ["mixed"], ["mixed"]])
        self.assertEqual(chosen[1], chosen[0])
        self.assertEqual(chosen[2], [["mixed", "cancel"], ["mixed"], []])

    def test_command_lines_show_no_key_and_no_folder_of_this_machine(self):
        process = SimpleNamespace(
            words=["/opt/x/zerohop", "serve", "--model", str(Path.home() / "m.gguf"), "/a room/a"],
            environment={"LITELLM_MASTER_KEY": "secret", "XDG_STATE_HOME": "/a room", "A": ""})
        self.assertEqual(sides.command_text(process, Path("/a room")),
                         "A= zerohop serve --model ~/m.gguf DIR/a")


if __name__ == "__main__":
    unittest.main()
