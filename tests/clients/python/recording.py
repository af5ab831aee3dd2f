"""A transport for Python's HTTP clients that shows every answer to somebody."""


def recording_transport(library, note):
    """A transport of httpx (or its successor, whichever the client uses). When an answer has been
    read and is closed, `note` gets its request, its response and the bytes of its body."""

    class Tee(library.SyncByteStream):
        def __init__(self, stream, finish):
            self.stream, self.finish, self.parts = stream, finish, []

        def __iter__(self):
            for part in self.stream:
                self.parts.append(part)
                yield part

        def close(self):
            self.stream.close()
            self.finish(b"".join(self.parts))

    class Transport(library.HTTPTransport):
        def handle_request(self, request):
            response = super().handle_request(request)
            response.stream = Tee(response.stream, lambda body: note(request, response, body))
            return response

    return Transport()
