"""The console, in a browser and as its data, and the commands that ask a running server: top,
explain, doctor."""
import json
import os
import signal
from contextlib import ExitStack
from pathlib import Path

from support.admin import TOKEN, AdminServer
from support.alerting import free_ports
from support.browser import Browser
from support.prompts import MODEL, body, capital, endless
from support.stream import OpenStream
from test_keys import Store


def ask(server, max_tokens=16):
    return server.request("POST", "/v1/messages", capital(max_tokens=max_tokens))


def request_id(reply):
    return reply.headers["request-id"]


def test_explain_says_why_a_request_was_cut_and_what_the_cache_gave(context):
    server = context.server
    reply = ask(server, max_tokens=1)
    assert reply.status == 200, reply
    done = context.zerohop("explain", request_id(reply), "--url", server.url)
    assert done.returncode == 0, done
    assert "cut      the answer reached its max_tokens (1)" in done.stdout, done.stdout
    assert "prompt tokens were found in the cache" in done.stdout, done.stdout
    listed = context.zerohop("explain", "--url", server.url)
    assert request_id(reply) in listed.stdout, listed


def test_explain_says_why_a_request_was_refused(context):
    server = context.server
    reply = server.request("POST", "/v1/messages", {"model": MODEL, "messages": []})
    assert reply.status == 400, reply
    done = context.zerohop("explain", request_id(reply), "--url", server.url, "--json")
    assert done.returncode == 0, done
    explained = json.loads(done.stdout)
    assert explained["error"] == "invalid_request", explained
    assert explained["findings"][0]["about"] == "refused", explained


def test_explain_knows_no_stranger(context):
    done = context.zerohop("explain", "req_nobody", "--url", context.server.url)
    assert done.returncode != 0 and "no request 'req_nobody'" in done.stderr, done


def test_top_shows_the_server(context):
    server = context.server
    ask(server)
    done = context.zerohop("top", "--once", "--url", server.url)
    assert done.returncode == 0, done
    for word in ("tokens/s", "cells [", "hits  [", "answered"):
        assert word in done.stdout, done.stdout


def test_doctor_looks_at_machine_configuration_and_server(context):
    done = context.zerohop("doctor", "--url", context.server.url, "--json")
    found = {entry["about"]: entry for entry in json.loads(done.stdout)["data"]}
    for about in ("config", "machine", "speed", "memory", "files", "server", "pressure"):
        assert about in found, (about, done.stdout)
    assert "GFLOP/s" in found["speed"]["text"], found
    wrong = context.sandbox.file(".yaml", "server:\n  prot: 1\n")
    done = context.zerohop("doctor", "--config", wrong, "--url", "http://127.0.0.1:1")
    assert done.returncode == 1, done
    assert "wrong  config" in done.stdout and "prot" in done.stdout, done.stdout


def test_the_page_of_the_console_comes_with_its_policy(context):
    reply = context.server.request("GET", "/console")
    assert reply.status == 200 and reply.body.startswith(b"<!doctype html>"), reply
    assert "default-src 'none'" in reply.headers["content-security-policy"], reply.headers
    data = json.loads(context.server.request("GET", "/console/data").body)
    assert data["health"] in ("ok", "degraded"), data


# ---- The page, in a browser ----

HOSTILE = '<img src=x onerror="window.owned=1"><script>window.owned=1</script>'
NARROW, WIDE = (390, 844), (1440, 900)
# A folder to put pictures of the page into, for docs/images.
SCREENSHOTS = os.environ.get("ZEROHOP_SCREENSHOTS")

FIGURE = """[...document.querySelectorAll('#figures > div')].find(
    box => box.firstChild.textContent === %s)?.lastChild.textContent"""
ROWS = """[...document.querySelectorAll('#%s tbody tr')].map(
    line => [...line.cells].map(cell => cell.innerText))"""
# [text, contrast] of every text in sight whose contrast to what is behind it is below 4.5, the
# mark of WCAG 2 (AA).
PALE = """(() => {
  const parse = text => text.match(/[\\d.]+/g).map(Number);
  const light = color => {
    const [r, g, b] = color.slice(0, 3).map(x => x / 255).map(
        x => x <= .04045 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4);
    return .2126 * r + .7152 * g + .0722 * b;
  };
  const behind = node => {
    for (; node; node = node.parentElement) {
      const color = parse(getComputedStyle(node).backgroundColor);
      if (color[3] !== 0) return color;
    }
    return [255, 255, 255];
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) {
    const text = walker.currentNode.data, box = walker.currentNode.parentElement;
    if (!text.trim() || !box.checkVisibility() || box.closest('script')) continue;
    const ends = [light(parse(getComputedStyle(box).color)), light(behind(box))].sort();
    const contrast = (Math.max(...ends) + .05) / (Math.min(...ends) + .05);
    if (contrast < 4.5) found.push([text, contrast]);
  }
  return found;
})()"""
# What has more to the right than is in sight: the page, tables.
OVERFLOWING = """[document.documentElement, ...document.querySelectorAll('.scroll')].filter(
    box => box.scrollWidth > box.clientWidth).map(box => box.ariaLabel ?? 'page')"""
FOCUSED = "document.activeElement.ariaLabel || document.activeElement.innerText"
# Every text of the data becomes one that would do harm as HTML.
SPOILER = """(() => {
  const spoil = value => typeof value === 'string' ? value + %s
      : Array.isArray(value) ? value.map(spoil)
      : value && typeof value === 'object'
          ? Object.fromEntries(Object.entries(value).map(([key, part]) => [key, spoil(part)]))
      : value;
  const plain = window.fetch;
  window.fetch = async (...words) => {
    const reply = await plain(...words);
    return new Response(JSON.stringify(spoil(await reply.json())), {status: reply.status});
  };
})()""" % json.dumps(HOSTILE).replace("</", "<\\/")


def figure(page, name):
    return page.evaluate(FIGURE % json.dumps(name))


def rows(page, table):
    return page.evaluate(ROWS % table)


def open_console(browser, url, script=""):
    """A new page; `script` runs before its own."""
    page = browser.page()
    page.call("Page.addScriptToEvaluateOnNewDocument", source=script)
    page.open(url + "/console")
    return page


def wait_board(page):
    page.wait("document.querySelector('#board').checkVisibility() && "
              "document.querySelector('#figures > div')")


def wait_looks(page, number):
    """Until the page has asked the server that many times more."""
    asked = page.evaluate("performance.getEntriesByType('resource').length")
    page.wait(f"performance.getEntriesByType('resource').length >= {asked + number}")


def wait_health(page, health):
    page.wait(f"document.querySelector('#health').textContent === {health!r}")


def take_picture(page, name):
    if SCREENSHOTS:
        page.screenshot(Path(SCREENSHOTS) / f"console-{name}.png")


def complaints(page):
    """Without what the browser itself says about statuses and connections."""
    return [entry for entry in page.complaints() if entry.get("source") != "network"]


def pixel(page, canvas, x, y):
    return page.evaluate(f"[...document.querySelector('#{canvas}').getContext('2d')"
                         f".getImageData({x}, {y}, 1, 1).data]")


def test_the_page_shows_a_server_at_work_and_asks_nobody_else(context):
    server = context.start_server("--sequences", "2", config="limits:\n  requests_max: 4\n")
    with Browser(context) as browser, ExitStack() as streams:
        page = open_console(browser, server.url)
        wait_board(page)
        ask(server)
        wrong = server.request("POST", "/v1/messages", {"model": MODEL, "messages": []})
        running = [streams.enter_context(OpenStream(server, endless(2000))) for _ in range(2)]
        for stream in running:
            stream.read_until("content_block_delta")
        for _ in range(2):
            streams.enter_context(OpenStream(server, endless(4)))
        page.wait(FIGURE % "'waiting'" + " === '2'")
        refused = server.request("POST", "/v1/messages", capital())
        assert (refused.status, wrong.status) == (529, 400), (refused, wrong)
        page.wait(f"{ROWS % 'refusals'}.length === 2")
        page.wait(f"parseFloat({FIGURE % json.dumps('tokens/s out')}) > 0")
        check_work(page, server, running)
        check_refusals(page, refused, wrong)
        take_picture(page, "at-work")
        requested = page.requested()
        assert all(url.startswith(server.url + "/") for url in requested), requested
        assert {url.removeprefix(server.url) for url in requested} == {
            "/console", "/console/data", "/v1/requests/" + request_id(refused)}, requested
        assert page.complaints() == [], page.complaints()
        streams.close()
        page.wait("document.querySelector('#live').innerText.includes('Nothing is running.')")


def check_work(page, server, running):
    assert figure(page, "decoding") == "2" and figure(page, "in flight") == "4", page.text()
    who = page.text("#who")
    assert server.instance in who and MODEL in who and "all tenants" in who, who
    live = {row[0]: row for row in rows(page, "live")}
    assert len(live) == 4, live
    for stream in running:
        line = live[stream.headers["request-id"]]
        assert line[1:4] == ["default", "/v1/messages", "streaming"], line
        page.wait(f"{ROWS % 'live'}.some(row => row[0] === {line[0]!r} && parseFloat(row[8]) > 0)")
    assert page.text("#ladder [aria-current]") == "normal", page.text("#ladder")
    cells = {name: int(number.replace(",", "")) for name, number in (
        entry.rsplit(" ", 1) for entry in page.text("#cells-legend").splitlines())}
    assert cells["running"] > 0, cells
    total = cells["running"] + cells["promised"] + cells["pinned"] + cells["cached"] + cells["free"]
    assert total == server.health()["kv_cells"]["total"], (cells, server.health())
    tone = page.evaluate("color('active')")
    assert "#%02x%02x%02x" % tuple(pixel(page, "cells", 4, 4)[:3]) == tone, tone
    # One was answered, one turned away; what was wrong says nothing about the server.
    assert page.text("#verdict") == "watch: fragmentation 0.00, 50 % let in", page.text("#verdict")
    assert pixel(page, "bubbles", 26, 74)[3] > 200, "there is no bubble where it belongs"
    assert page.evaluate("document.querySelector('#bubbles').ariaLabel").endswith("50 % let in")


def check_refusals(page, refused, wrong):
    shown = {row[1]: row for row in rows(page, "refusals")}
    overloaded, invalid = shown[request_id(refused)], shown[request_id(wrong)]
    assert overloaded[3:] == ["529", "overloaded", "all 4 request permits are in use"], overloaded
    assert invalid[3:5] == ["400", "invalid_request"], invalid
    assert invalid[5].startswith("messages: "), invalid
    page.click("#refusals tbody button")  # the latest one
    page.wait("document.querySelector('#why-findings li')")
    assert request_id(refused) == page.text("#why-id"), page.text("#why")
    assert "What helps: more requests than the server takes" in page.text("#why"), page.text("#why")
    page.press("Escape")
    assert not page.visible("#why")


def busy_scripted(context, streams):
    """A server whose cells are nearly full for a while, and which has refused something."""
    server = context.start_scripted("--context", "4096", "--sequences", "2",
                                    environment={"ZEROHOP_ENGINE_KV_CELLS": "8192"})
    for content in ("case:plain", "case:plain"):
        server.request("POST", "/v1/messages", body(content, model="fake"))
    server.request("POST", "/v1/messages", {"model": "fake", "messages": []})
    for number in range(2):
        content = f"{number} case:creeping " + "x" * 3700
        stream = OpenStream(server, body(content, model="fake", max_tokens=300))
        streams.enter_context(stream).read_until("content_block_delta")
    return server


def test_the_page_shows_the_rung_of_the_ladder_and_its_cause(context):
    with Browser(context) as browser, ExitStack() as streams:
        server = busy_scripted(context, streams)
        page = open_console(browser, server.url)
        page.wait("document.querySelector('#ladder [aria-current]')?.innerText !== 'normal'")
        page.wait(f"document.querySelector('#cause').innerText === "
                  f"'because of {server.health()['rung_cause']}'")
        streams.close()
        page.wait("document.querySelector('#ladder [aria-current]')?.innerText === 'normal'")
        assert page.text("#cause") == "no pressure", page.text("#cause")


def test_the_page_fits_narrow_and_wide_screens_in_light_and_dark(context):
    with Browser(context) as browser, ExitStack() as streams:
        page = open_console(browser, busy_scripted(context, streams).url)
        wait_board(page)
        wait_looks(page, 3)
        for colors in ("light", "dark"):
            page.colors(colors)
            for size in (NARROW, (768, 1024), WIDE):
                page.size(*size)
                wait_looks(page, 1)
                hidden = page.evaluate(OVERFLOWING)
                assert hidden == [], (size, hidden)
                pale = page.evaluate(PALE)
                assert pale == [], (size, colors, pale)
                take_picture(page, f"{size[0]}-{colors}")
        assert page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
        assert page.complaints() == [], page.complaints()


def test_the_page_is_used_with_the_keyboard_alone(context):
    with Browser(context) as browser, ExitStack() as streams:
        page = open_console(browser, busy_scripted(context, streams).url)
        wait_board(page)
        page.wait(f"{ROWS % 'refusals'}.length === 1")
        wrong = rows(page, "refusals")[0][1]
        reached = []
        while "Recently ended" not in reached:
            page.press("Tab")
            reached.append(page.evaluate(FOCUSED))
            assert len(reached) < 20, reached
        assert reached == ["Live requests", "Recent refusals", wrong, "Recently ended"], reached
        page.press("Tab", backwards=True)
        wait_looks(page, 3)
        assert page.evaluate(FOCUSED) == wrong, "a new look at the server took the focus away"
        page.press("Enter")
        page.wait("document.querySelector('#why-findings li')")
        assert page.evaluate("document.querySelector('#why').contains(document.activeElement)")
        page.press("Escape")
        assert not page.visible("#why") and page.evaluate(FOCUSED) == wrong, page.text()


def test_what_strangers_wrote_is_shown_as_text(context):
    with Browser(context) as browser, ExitStack() as streams:
        server = busy_scripted(context, streams)
        for field in ({"max_tokens": HOSTILE}, {"temperature": HOSTILE},
                      {"messages": [{"role": HOSTILE, "content": HOSTILE}], "model": HOSTILE}):
            reply = server.request("POST", "/v1/messages", {**body("Hi"), **field})
            assert reply.status == 400, reply
        for script in ("", SPOILER):
            page = open_console(browser, server.url, script)
            wait_board(page)
            page.wait(f"{ROWS % 'refusals'}.length === 4 && {ROWS % 'live'}.length === 2")
            page.click("#refusals tbody button")
            page.wait("document.querySelector('#why-facts').innerText")
            wait_looks(page, 2)
            shown = "".join(map(page.text, ("#who", "#live", "#refusals", "#why")))
            assert shown.count(HOSTILE) > 20 or not script, shown
            assert page.evaluate("document.querySelectorAll('img, body script').length") == 1
            assert page.evaluate("window.owned === undefined"), "a text of a stranger has run"
            assert complaints(page) == [], complaints(page)


# ---- Keys, and a server that goes away ----

def test_the_page_asks_for_a_key_and_shows_its_tenant_alone(context):
    store = Store(context)
    for tenant in ("law", "acme"):
        store.good("tenants", "set", tenant)
    mine, other = store.create("--tenant", "law"), store.create("--tenant", "acme")
    server = store.start()
    ids = [request_id(server.request("POST", "/v1/messages", capital(max_tokens=2),
                                     {"x-api-key": key["key"]})) for key in (mine, other)]
    with Browser(context) as browser:
        page = open_console(browser, server.url)
        page.wait("document.activeElement.id === 'key'")
        assert not page.visible("#board")
        page.type("sk-zh-" + "0" * 32)
        page.press("Enter")
        page.wait("document.querySelector('#trouble').innerText.startsWith("
                  "'This key opens nothing: ')")
        assert not page.visible("#board") and page.visible("#key"), page.text()
        page.click("#key")
        page.type(mine["key"])
        page.click("#key-form button")
        wait_board(page)
        assert not page.visible("#door") and page.text("#trouble") == "", page.text()
        assert "requests of tenant law" in page.text("#who"), page.text("#who")
        assert [row[1] for row in rows(page, "recent")] == ids[:1], rows(page, "recent")
        assert ids[1] not in page.evaluate("document.documentElement.outerHTML")
        page.open(server.url + "/console")  # this tab knows it still
        wait_board(page)
        fresh = open_console(browser, server.url)  # another one does not
        fresh.wait("document.querySelector('#key').checkVisibility()")
        page.click("#forget")
        page.wait("document.querySelector('#key').checkVisibility()")
        assert page.evaluate("sessionStorage.length") == 0 and not page.visible("#board")
        assert mine["key"] not in "".join(page.requested()), "the key is in an address"
        for _ in range(12):
            server.request("GET", "/console/data", headers={"x-api-key": "wrong"})
        page.type("wrong again")
        page.press("Enter")
        page.wait("document.querySelector('#trouble').innerText.includes('again in')")
        assert complaints(page) == [], complaints(page)


def test_on_the_admin_listener_its_token_shows_everything(context):
    admin = AdminServer(context)
    ask(admin.server)
    with Browser(context) as browser:
        page = open_console(browser, f"http://127.0.0.1:{admin.port}")
        page.wait("document.activeElement.id === 'key'")
        page.type(TOKEN)
        page.press("Enter")
        wait_board(page)
        assert "all tenants" in page.text("#who"), page.text("#who")
        page.click("#recent tbody button")
        page.wait("document.querySelector('#why-findings li')")
        assert complaints(page) == [], complaints(page)


def test_the_page_says_that_it_lost_the_server_and_comes_back(context):
    port = str(free_ports(1)[0])
    server = context.start_server(port=port)
    with Browser(context) as browser:
        page = open_console(browser, server.url)
        wait_board(page)
        with OpenStream(server, endless(1500)) as stream:
            stream.read_until("content_block_delta")
            server.terminate()
            wait_health(page, "draining")
            assert "nothing new is taken" in page.text("#trouble"), page.text()
            stream.finish()
        assert server.wait_exit() == 0
        wait_health(page, "no answer")
        assert "No answer since" in page.text("#trouble"), page.text("#trouble")
        assert "it cannot be reached" in page.text("#trouble"), page.text("#trouble")
        assert page.evaluate("document.querySelector('#board').className") == "stale"
        server = context.start_server(port=port)
        wait_health(page, "ok")
        assert page.text("#trouble") == "" and "Started anew" in page.text("#note"), page.text()
        assert page.evaluate("document.querySelector('#board').className") == ""
        server.process.send_signal(signal.SIGSTOP)
        wait_health(page, "no answer")
        assert "it takes too long" in page.text("#trouble"), page.text("#trouble")
        server.process.send_signal(signal.SIGCONT)
        wait_health(page, "ok")
        assert page.text("#trouble") == "", page.text("#trouble")
        assert complaints(page) == [], complaints(page)
