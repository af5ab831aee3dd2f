"""A streamed answer on a bare socket, read as it comes."""
from support.http import begin_response, header_dict, post_bytes
from support.sse import StreamReading, read_frames


class OpenStream:
    """Sends a streamed request on construction. Close it, or use it as a context manager."""

    def __init__(self, server, body, headers=None):
        self.socket = server.connect()
        self.reading = StreamReading()
        self.response = None
        self.frames = None
        self.socket.sendall(post_bytes("/v1/messages", {**body, "stream": True}, headers))

    def begin(self):
        """Waits for the head of the answer, which must promise a stream."""
        self.response = begin_response(self.socket)
        assert self.response.status == 200, (self.response.status, self.response.read())
        self.headers = header_dict(self.response.getheaders())
        assert self.headers["content-type"].split(";")[0] == "text/event-stream", self.headers
        self.frames = read_frames(self.response)
        return self

    def read_until(self, name):
        """Reads up to and including the next event of that name."""
        if self.response is None:
            self.begin()
        for frame in self.frames:
            self.reading.add(frame)
            if frame.event == name:
                return frame
        raise AssertionError(f"no {name} in {self.reading.names}")

    def finish(self):
        """Reads to the end, which must be a proper one."""
        if self.response is None:
            self.begin()
        for frame in self.frames:
            self.reading.add(frame)
        assert self.reading.ended, f"the stream ends after {self.reading.names[-3:]}"
        return self.reading

    def close(self):
        """Drops the connection, whatever is still to come."""
        if self.response is not None:
            self.response.close()
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
