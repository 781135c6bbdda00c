"""The tools of a run served over HTTP, for an agent that works elsewhere on the machine."""

from __future__ import annotations

import secrets
import socket
import sys
import threading
from concurrent.futures import CancelledError
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingTCPServer
from types import TracebackType
from typing import Any, cast
from urllib.parse import unquote

from regress_core.foreign import error_text
from regress_core.harness.adapter.agent_tools import AgentTools, RunOverError
from regress_core.harness.errors import MissingToolOutputError, ToolCallError
from regress_core.harness.threads import in_own_thread
from regress_core.harness.tools import ToolError
from regress_core.records.json_io import JsonError, JsonObject, JsonValue, dumps, loads

LARGEST_REQUEST = 8 * 1024 * 1024
"""Bytes of arguments that one call may have."""

_READING_S = 30
"""Seconds that a client may take to send what it has begun to send."""

_STOPPING_S = 0.02
"""Seconds after which the server looks whether it is to stop."""


class ToolServer:
    """Serves the tools of one run on this machine, for as long as its context lasts.

    `POST {url}/{tool}` with a JSON object of arguments answers 200 and `{"output": …}`, with
    `"isError": true` where the tool's answer is an error that is meant for the model. A call without an
    answer gets `{"error": …}`: 404 if the record has no output left for it or there is no such tool, 500 if
    the tool itself failed, 503 after the run.

    It listens on 127.0.0.1 only, on a port that the system picks, and its URL holds a token that nobody can
    guess. Enter it with `async with`, or with `with` in an agent that is a plain function. The code inside
    may not block the event loop, since that is where the calls are answered.
    """

    def __init__(self, tools: AgentTools) -> None:
        self._tools = tools
        self._server: _Server | None = None

    def __enter__(self) -> str:
        """Begin to serve; give the URL, without a slash at its end."""
        token = secrets.token_urlsafe(24)
        self._server = _Server(self._tools, token)
        threading.Thread(
            target=self._server.serve_forever, args=(_STOPPING_S,), name="tool server", daemon=True
        ).start()
        port = self._server.socket.getsockname()[1]
        return f"http://127.0.0.1:{port}/{token}"

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server is not None:
            self._server.stop()

    async def __aenter__(self) -> str:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await in_own_thread(lambda: self.__exit__(kind, error, trace))  # it waits, which the loop may not


def serve_tools(tools: AgentTools) -> ToolServer:
    """Serve a run's tools over HTTP.

    `async with serve_tools(request.tools) as url:` gives the URL that the agent is to be told.
    """
    return ToolServer(tools)


class _Server(ThreadingTCPServer):
    # Not HTTPServer, which asks the system for the name of its address, and waits where there is none.
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, tools: AgentTools, token: str) -> None:
        self.tools = tools
        self.token = token
        self._lock = threading.Lock()
        self._connections: set[socket.socket] = set()
        super().__init__(("127.0.0.1", 0), _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - the base's
        with self._lock:
            self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:  # noqa: ANN401 - the base's
        with self._lock:
            self._connections.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - the base's
        """Say nothing of a client that is gone."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)

    def stop(self) -> None:
        """Take no more calls; connections that are waited on for one are closed."""
        self.shutdown()
        self.server_close()
        with self._lock:
            for connection in self._connections:
                with suppress(OSError):  # it may be closed by now
                    connection.shutdown(socket.SHUT_RD)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = _READING_S

    def do_POST(self) -> None:
        """Answer a call."""
        server = cast("_Server", self.server)
        _, token, *name = self.path.partition("?")[0].split("/")
        if not (name and secrets.compare_digest(token.encode(), server.token.encode())):
            self._refuse(HTTPStatus.NOT_FOUND, "no such address")
            return
        arguments = self._arguments()
        if arguments is not None:
            self._reply(*_answer(server.tools, unquote("/".join(name)), arguments))

    def _arguments(self) -> JsonObject | None:
        """Read the request's arguments; None once it has been refused."""
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdecimal()):
            self._refuse(HTTPStatus.LENGTH_REQUIRED, "send the length of the arguments, Content-Length")
            return None
        if int(length) > LARGEST_REQUEST:
            self._refuse(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"arguments of more than {LARGEST_REQUEST} bytes"
            )
            return None
        text = self.rfile.read(int(length))
        if len(text) < int(length):
            self._refuse(HTTPStatus.BAD_REQUEST, "the arguments break off")
            return None
        try:
            arguments: JsonValue = loads(text) if text.strip() else {}
        except JsonError as error:
            self._refuse(HTTPStatus.BAD_REQUEST, f"arguments: {error}")
            return None
        if not isinstance(arguments, dict):
            self._refuse(HTTPStatus.BAD_REQUEST, "arguments are a JSON object")
            return None
        return cast("JsonObject", arguments)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Refuse what is no call at all, such as another method."""
        self._refuse(HTTPStatus(code), message or explain or HTTPStatus(code).phrase)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002, ANN401 - the base's
        """Log nothing: a run has its record."""

    def _refuse(self, status: HTTPStatus, reason: str) -> None:
        self._reply(status, {"error": reason})

    def _reply(self, status: HTTPStatus, body: JsonObject) -> None:
        content = dumps(body)
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(content)


def _answer(tools: AgentTools, name: str, arguments: JsonObject) -> tuple[HTTPStatus, JsonObject]:
    try:
        return HTTPStatus.OK, {"output": tools.call_from_thread(name, arguments)}
    except ToolError as error:
        return HTTPStatus.OK, {"output": error.output, "isError": True}
    except (MissingToolOutputError, ToolCallError) as error:
        return HTTPStatus.NOT_FOUND, {"error": str(error)}
    except (RunOverError, CancelledError):
        return HTTPStatus.SERVICE_UNAVAILABLE, {"error": "the run is over"}
    except Exception as error:  # noqa: BLE001 - whatever a tool raises is told to who called it
        return HTTPStatus.INTERNAL_SERVER_ERROR, {"error": f"{type(error).__name__}: {error_text(error)}"}
