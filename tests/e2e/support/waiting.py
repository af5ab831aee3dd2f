"""Waiting for what must come. The limit only tells a hang from a busy machine."""
import time

PATIENCE_SECONDS = 240
POLL_SECONDS = 0.01


def wait_until(condition, complaint):
    """Returns when `condition()` holds; raises `complaint` (text, or a function that gives it)."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(complaint() if callable(complaint) else complaint)
        time.sleep(POLL_SECONDS)
