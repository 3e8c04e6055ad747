"""Asking a server for JSON: patience, repetition and plain words about what went wrong. A key never reaches a message.

Redirects are not followed, since a key would be sent along to wherever they lead.
"""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, field
from http.client import HTTPException
from typing import Any, Final
from urllib.parse import urlsplit

LONGEST_ANSWER: Final = 256 * 1024 * 1024
"""Bytes; a server that sends without end must not fill the memory."""

_SHOWN: Final = 200
_PASSING: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
"""Answers after which the same request may succeed; source: RFC 9110 and RFC 6585."""

_LONGEST_WAIT_SECONDS: Final = 30.0
_FIRST_WAIT_SECONDS: Final = 0.5
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True)
class Endpoint:
    """A server.

    Attributes:
        url: Where its API begins, `http://` or `https://`, without a slash at the end.
        key: Sent as a bearer token; none is sent where it is empty.
        timeout_seconds: Patience with one request.
        tries: Requests in all before giving up on passing troubles.
    """

    url: str
    key: str = field(default="", repr=False)
    timeout_seconds: float = 60.0
    tries: int = 4


class RequestError(Exception):
    """A request that failed for good: the message is the part of a sentence that follows the server's name.

    Attributes:
        status: What the server answered; None where it did not.
    """

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


def post_json(endpoint: Endpoint, path: str, body: Any, *, sleep: Callable[[float], object]) -> Any:
    """Send JSON and read JSON; what may pass is tried again, after twice the wait each time.

    Args:
        endpoint: The server.
        path: Of the call, with its slash.
        body: What to send.
        sleep: Waits so many seconds.

    Returns:
        What the server answered.

    Raises:
        RequestError: It did not answer, or refused, or its answer is no JSON.
    """
    request = _request(endpoint, path, json.dumps(body).encode("ascii"))
    for attempt in range(1, endpoint.tries + 1):
        wait = min(_FIRST_WAIT_SECONDS * 2 ** (attempt - 1), _LONGEST_WAIT_SECONDS)
        try:
            with _opener(endpoint.url).open(request, timeout=endpoint.timeout_seconds) as answer:
                content = answer.read(LONGEST_ANSWER + 1)
            return _parsed(content)
        except urllib.error.HTTPError as error:
            with error:
                said = _said(error.read(LONGEST_ANSWER), endpoint.key)
            if error.code not in _PASSING or attempt == endpoint.tries:
                raise RequestError(f"answered {error.code}{said}", error.code) from None
            wait = max(wait, min(_retry_after(error.headers.get("Retry-After")), _LONGEST_WAIT_SECONDS))
        except TimeoutError:
            if attempt == endpoint.tries:
                raise RequestError(f"did not answer within {endpoint.timeout_seconds:g} s") from None
        except (OSError, HTTPException) as error:
            reason = getattr(error, "reason", error)
            late = isinstance(reason, TimeoutError)
            if attempt == endpoint.tries:
                what = (
                    f"did not answer within {endpoint.timeout_seconds:g} s" if late else f"cannot be reached: {reason}"
                )
                raise RequestError(what) from None
        sleep(wait)
    raise RequestError("was not asked, since the number of tries is 0")


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        """Take a redirect as the error it is here."""


def _request(endpoint: Endpoint, path: str, data: bytes) -> urllib.request.Request:
    url = endpoint.url.rstrip("/") + path
    if urlsplit(url).scheme not in {"http", "https"} or not urlsplit(url).hostname:
        raise RequestError("has no address that begins with http:// or https:// and a host")
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    if endpoint.key:
        headers["Authorization"] = f"Bearer {endpoint.key}"
    return urllib.request.Request(url, data=data, headers=headers, method="POST")  # noqa: S310  (checked above)


def _opener(url: str) -> urllib.request.OpenerDirector:
    """An opener without redirects, and without a proxy for what runs on this machine."""
    handlers: list[urllib.request.BaseHandler] = [_NoRedirect()]
    if urlsplit(url).hostname in _LOOPBACK:
        handlers.append(urllib.request.ProxyHandler({}))
    return urllib.request.build_opener(*handlers)


def _parsed(content: bytes) -> Any:
    if len(content) > LONGEST_ANSWER:
        raise RequestError(f"sent more than {LONGEST_ANSWER:,} bytes")
    try:
        return json.loads(content)
    except ValueError:
        raise RequestError("answered something that is not JSON") from None


def _said(content: bytes, key: str) -> str:
    """What a server said about an error, short and without the key."""
    try:
        parsed = json.loads(content)
        error = parsed.get("error", parsed)
        text = str(error.get("message", error) if isinstance(error, dict) else error)
    except (ValueError, AttributeError):
        text = content.decode("utf-8", "replace")
    text = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    if key:
        text = text.replace(key, "***")
    return f": {text[:_SHOWN]}" if text else ""


def _retry_after(value: str | None) -> float:
    """Seconds that a server asks to wait; 0 where it names none or a date."""
    try:
        return max(float(value), 0.0) if value else 0.0
    except ValueError:
        return 0.0
