"""A real browser without a window: Chromium, told what to do through its DevTools protocol.

The protocol comes over two pipes (--remote-debugging-pipe), so neither a port nor a library is
needed: JSON messages that end with a zero byte. Nothing but the server under test can be reached:
every other name and address fails, and every request that a page makes is written down.
"""
import base64
import json
import os
import select
import shutil
import subprocess
import time

from support.sandbox import SetupFailure
from support.server import die_with_parent
from support.waiting import PATIENCE_SECONDS, wait_until

PROGRAMS = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome")
FLAGS = ("--headless=new", "--remote-debugging-pipe", "--disable-gpu", "--disable-dev-shm-usage",
         "--no-first-run", "--no-default-browser-check", "--disable-extensions",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--disable-default-apps", "--metrics-recording-only", "--no-proxy-server",
         "--disable-features=Translate,OptimizationHints,MediaRouter", "--password-store=basic",
         "--force-color-profile=srgb", "--hide-scrollbars", "--lang=en-US",
         "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1")
KEYS = {"Enter": (13, "\r"), "Tab": (9, ""), "Escape": (27, ""), "Space": (32, " "),
        "ArrowDown": (40, "")}


def find_program():
    for name in PROGRAMS:
        if path := shutil.which(name):
            return path
    raise SetupFailure("no Chromium is here: apt-get install chromium (./dev deps does), or put "
                       "any build of it on PATH as `chromium`")


class Browser:
    """Use it as a context manager; `page()` is its one page."""

    def __init__(self, context):
        self.folder = context.sandbox.path("-browser")
        self.folder.mkdir()
        words = [find_program(), *FLAGS, f"--user-data-dir={self.folder}"]
        if os.geteuid() == 0:
            words.append("--no-sandbox")  # Chromium's own sandbox does not run as root
        to_child, self.to_browser = os.pipe()
        self.from_browser, to_us = os.pipe()

        def pipes_in_place():
            # Above 4 first, so that neither overwrites the other.
            ends = [os.dup2(end, 200 + i) for i, end in enumerate((to_child, to_us))]
            for place, end in zip((3, 4), ends):
                os.dup2(end, place)
            die_with_parent()

        with open(context.sandbox.path("-browser.log"), "wb") as log:
            self.process = subprocess.Popen(
                words, env=context.sandbox.environment(), stdin=subprocess.DEVNULL, stdout=log,
                stderr=log, close_fds=False, preexec_fn=pipes_in_place, start_new_session=True)
        os.close(to_child)
        os.close(to_us)
        self.unread = b""
        self.number = 0
        self.events = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.to_browser)  # the end of the pipe is the end of the browser
        try:
            self.process.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.from_browser)
        shutil.rmtree(self.folder, ignore_errors=True)

    def call(self, method, session=None, **parameters):
        """The result of a command; events that come before it are kept."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to_browser, data):]
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            reply = self._read(deadline, method)
            if reply.get("id") != self.number:
                self.events.append(reply)
            elif "error" in reply:
                raise AssertionError(f"{method}: {reply['error']}")
            else:
                return reply["result"]

    def _read(self, deadline, method):
        while b"\0" not in self.unread:
            patience = max(0, deadline - time.monotonic())
            readable, _, _ = select.select([self.from_browser], [], [], patience)
            data = os.read(self.from_browser, 1 << 20) if readable else b""
            if not data:
                raise AssertionError(f"the browser says nothing to {method}; exit code "
                                     f"{self.process.poll()}")
            self.unread += data
        message, _, self.unread = self.unread.partition(b"\0")
        return json.loads(message)

    def page(self):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        return Page(self, self.call("Target.attachToTarget", targetId=target,
                                    flatten=True)["sessionId"])


class Page:
    """What a person does with a page, and what the browser has to say about it."""

    def __init__(self, browser, session):
        self.browser = browser
        self.session = session
        for domain in ("Page", "Runtime", "Network", "Log", "Audits"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setFocusEmulationEnabled", enabled=True)
        self.size(1440, 900)

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    # ---- What a person does ----

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)

    def colors(self, scheme):
        """`scheme`: "light" or "dark"."""
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": scheme}])

    def open(self, url):
        result = self.call("Page.navigate", url=url)
        assert "errorText" not in result, result
        self.wait("document.readyState === 'complete'")

    def press(self, key, backwards=False):
        """One stroke: a character, or a name of KEYS; `backwards`: with Shift."""
        code, text = KEYS.get(key, (0, key))
        named = {"key": "\u0020" if key == "Space" else key, "code": key if key in KEYS else "",
                 "windowsVirtualKeyCode": code, "modifiers": 8 if backwards else 0}
        more = {"text": text} if text else {}
        self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", **named,
                  **more)
        self.call("Input.dispatchKeyEvent", type="keyUp", **named)

    def type(self, text):
        for character in text:
            self.press(character)

    def click(self, selector):
        """With the mouse, in the middle of an element that is in sight."""
        box = self.evaluate(
            "(() => { const e = document.querySelector(%s); e.scrollIntoView({block: 'center'});"
            " const r = e.getBoundingClientRect();"
            " return [r.left + r.width / 2, r.top + r.height / 2]; })()" % json.dumps(selector))
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left",
                      clickCount=1)

    # ---- What is there to see ----

    def evaluate(self, expression):
        """Its value, which must fit into JSON. A promise is waited for."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in result:
            raise AssertionError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def wait(self, expression, complaint=""):
        """Until the expression is true; shows the page's text when it never is."""
        wait_until(lambda: self.evaluate(f"Boolean({expression})"),
                   lambda: f"{complaint or expression}; the page says {self.text()[:1500]!r}")

    def text(self, selector="body"):
        """The text that is in sight; empty when the element is not."""
        return self.evaluate("(document.querySelector(%s)?.innerText ?? '')"
                             % json.dumps(selector))

    def visible(self, selector):
        return self.evaluate("Boolean(document.querySelector(%s)?.checkVisibility())"
                             % json.dumps(selector))

    def screenshot(self, path):
        """The whole page as a PNG."""
        data = self.call("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        path.write_bytes(base64.b64decode(data))

    # ---- What the browser has seen ----

    def events(self, method):
        return [event["params"] for event in self.browser.events if event.get("method") == method]

    def requested(self):
        """The addresses of everything that the page asked for."""
        return [event["request"]["url"] for event in self.events("Network.requestWillBeSent")]

    def complaints(self):
        """Errors of the script, warnings of the console, violations of the policy."""
        found = [event["exceptionDetails"] for event in self.events("Runtime.exceptionThrown")]
        found += [event for event in self.events("Runtime.consoleAPICalled")
                  if event["type"] in ("error", "warning", "assert")]
        found += [event["entry"] for event in self.events("Log.entryAdded")]
        found += [event["issue"] for event in self.events("Audits.issueAdded")]
        return found
