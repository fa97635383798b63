"""A headless Chromium, asked over a pipe (Chrome DevTools Protocol, one JSON object a message)."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome")
PATIENCE_S = 240


def find():
    """The browser's path, or None."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


class BrowserError(Exception):
    """What the browser answered instead."""


class Browser:
    """One page. What scripts complain of is in `complaints`."""

    def __init__(self):
        self.home = tempfile.mkdtemp(prefix="actorq-browser-")
        to_read, self.to_write = os.pipe()
        self.to_read, to_write = os.pipe()
        self.process = subprocess.Popen(
            ["sh", "-c", f'exec "$@" 3<&{to_read} 4>&{to_write}', "sh", find(), "--headless=new",
             "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--hide-scrollbars", "--remote-debugging-pipe", f"--user-data-dir={self.home}",
             "about:blank"],
            pass_fds=(to_read, to_write), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.received = b""
        self.asked = 0
        self.session = None
        self.complaints = []
        self.requests = []
        target = next(each for each in self.call("Target.getTargets")["targetInfos"]
                      if each["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"],
                                 flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def close(self):
        """Ends it, and removes what it wrote."""
        self.process.terminate()
        self.process.wait()
        os.close(self.to_read)
        os.close(self.to_write)
        shutil.rmtree(self.home, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    # ---- messages

    def receive(self, deadline):
        """The next message."""
        while b"\0" not in self.received:
            ready = select.select([self.to_read], [], [], max(0, deadline - time.monotonic()))[0]
            more = os.read(self.to_read, 1 << 20) if ready else b""
            if not more:
                raise BrowserError("the browser is silent")
            self.received += more
        message, self.received = self.received.split(b"\0", 1)
        return json.loads(message)

    def take_event(self, message):
        """Keeps what a test may ask for."""
        told = message.get("params", {})
        if message.get("method") == "Runtime.exceptionThrown":
            self.complaints.append(told["exceptionDetails"].get("exception", {}).get(
                "description", told["exceptionDetails"]["text"]))
        elif message.get("method") == "Runtime.consoleAPICalled" and told["type"] == "error":
            self.complaints.append(" ".join(str(each.get("description", each.get("value")))
                                            for each in told["args"]))
        elif message.get("method") == "Log.entryAdded" and told["entry"]["level"] == "error":
            self.complaints.append(told["entry"]["text"])
        elif message.get("method") == "Network.requestWillBeSent":
            self.requests.append(told["request"]["url"])

    def call(self, method, **params):
        """What the browser answers."""
        self.asked += 1
        message = {"id": self.asked, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to_write, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + PATIENCE_S
        while True:
            answer = self.receive(deadline)
            if answer.get("id") != self.asked:
                self.take_event(answer)
            elif "error" in answer:
                raise BrowserError(f"{method}: {answer['error']['message']}")
            else:
                return answer["result"]

    # ---- what a person does

    def open(self, url):
        """Loads a page."""
        self.call("Page.navigate", url=url)
        self.wait_for("document.readyState === 'complete'")

    def evaluate(self, expression):
        """The value of a JavaScript expression."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in answer:
            raise BrowserError(answer["exceptionDetails"].get("exception", {}).get("description"))
        return answer["result"].get("value")

    def wait_for(self, expression, patience_s=PATIENCE_S):
        """Until the expression is true."""
        deadline = time.monotonic() + patience_s
        while not self.evaluate(f"Boolean({expression})"):
            if time.monotonic() > deadline:
                raise BrowserError(f"never true: {expression}; complaints: {self.complaints}")
            time.sleep(0.1)

    def text(self, selector):
        """What is to be read there."""
        return self.evaluate(f"document.querySelector({json.dumps(selector)}).innerText")

    def resize(self, width, height, mobile=False):
        """As on a screen of that many pixels."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=mobile)

    def prefer(self, scheme):
        """What the system prefers: "light" or "dark"."""
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": scheme}])

    def picture(self, path):
        """The whole page as PNG."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        answer = self.call("Page.captureScreenshot", captureBeyondViewport=True, clip={
            "x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1})
        with open(path, "wb") as file:
            file.write(base64.b64decode(answer["data"]))
