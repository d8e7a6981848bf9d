"""Who may do what: tokens with roles, and the cookie that a page gets for one."""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from linkarms.errors import InvalidInput

__all__ = ["COOKIE", "LOOPBACK", "ROLES", "Access"]

#: What a token may do; each role may do what those before it may.
ROLES = ("read", "write")
COOKIE = "linkarms_session"
LOOPBACK = ("localhost", "127.0.0.1", "::1")
#: Seconds after which a page has to log in again.
_SESSION = 12 * 3600
_TOKEN = re.compile(r"[\x21-\x7e]{16,200}")


@dataclass(frozen=True)
class Access:
    """Tokens, and the host names under which the service answers.

    Attributes
    ----------
    roles : dict
        The role of each token, by the SHA-256 of the token. If empty, everybody who reaches the service may do everything.
    hosts : frozenset of str
        Names that a request's Host may have. Other names are refused, because an attacker's name may point to this machine (DNS rebinding).
    secure : bool
        Browsers reach the service over HTTPS, so the cookie is sent over HTTPS only.

    Examples
    --------
    >>> access = Access.from_tokens({"0123456789abcdef-read": "read"})
    >>> access.role("0123456789abcdef-read"), access.role("something else")
    ('read', None)
    """

    roles: dict[bytes, str] = field(default_factory=dict)
    hosts: frozenset[str] = frozenset(LOOPBACK)
    secure: bool = False

    @classmethod
    def from_tokens(
        cls, tokens: dict[str, str], hosts: Iterable[str] = LOOPBACK, secure: bool = False
    ) -> Access:
        """Return the access that these tokens and their roles give."""
        for token, role in tokens.items():
            if role not in ROLES:
                raise InvalidInput(f"the role {role!r} is unknown; choose one of {', '.join(ROLES)}")
            if not _TOKEN.fullmatch(token):
                raise InvalidInput(
                    "a token is too short or has other characters than printable ASCII; "
                    "give 16 to 200 of them: `openssl rand -hex 24` makes one"
                )
        hashed = {_hash(token): role for token, role in tokens.items()}
        return cls(hashed, frozenset(host.lower() for host in hosts), secure)

    def role(self, token: str) -> str | None:
        """Return the role of a token; None if there is no such token."""
        if not self.roles:
            return "write"
        given, found = _hash(token), None
        for known, role in self.roles.items():  # compare with all of them, so the time reveals nothing
            if hmac.compare_digest(given, known):
                found = role
        return found

    def cookie(self, token: str) -> str:
        """Return the cookie that a browser keeps instead of the token: its expiry, the token it is for, and a signature of both.

        The key is made of the token, so every process that knows the token can check it, and the cookie ends with the token.
        """
        secret = _hash(token)
        text = f"{int(time.time()) + _SESSION}.{hashlib.sha256(secret).hexdigest()[:16]}"
        return f"{text}.{_sign(secret, text)}"

    def role_of_cookie(self, cookie: str) -> str | None:
        """Return the role of a cookie; None if it is not valid, or has expired."""
        text, _, proof = cookie.rpartition(".")
        until = text.partition(".")[0]
        if not re.fullmatch(r"[0-9]{1,12}", until) or int(until) < time.time():
            return None
        found = None
        for secret, role in self.roles.items():
            if hmac.compare_digest(_sign(secret, text).encode(), proof.encode("utf-8", "replace")):
                found = role
        return found

    @property
    def cookie_settings(self) -> dict[str, object]:
        """Return the attributes of the cookie: no script sees it, and no other site sends it."""
        return {
            "httponly": True,
            "samesite": "strict",
            "secure": self.secure,
            "path": "/",
            "max_age": _SESSION,
        }


def read_tokens(path: str | os.PathLike[str]) -> dict[str, str]:
    """Read tokens and roles from a file: a role and a token on each line; ``#`` begins a comment."""
    file = Path(path)
    try:
        with file.open(encoding="utf-8") as opened:
            mode, text = os.fstat(opened.fileno()).st_mode, opened.read()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(
            f"{file}: the tokens cannot be read: {getattr(error, 'strerror', error)}"
        ) from error
    if os.name == "posix" and mode & 0o077:
        raise InvalidInput(
            f"{file}: users other than its owner can read or change the tokens; run: chmod 600 {file}"
        )
    tokens: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        if len(words) != 2 or words[0] not in ROLES:
            raise InvalidInput(f"{file}, line {number}: write `read TOKEN` or `write TOKEN`")
        if words[1] in tokens:
            raise InvalidInput(
                f"{file}, line {number}: this token is on an earlier line already; list each token once"
            )
        tokens[words[1]] = words[0]
    if not tokens:
        raise InvalidInput(f"{file}: there is no token; write lines like `write TOKEN`")
    return tokens


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()


def _sign(secret: bytes, text: str) -> str:
    return hmac.new(
        secret, b"linkarms session " + text.encode("utf-8", "replace"), hashlib.sha256
    ).hexdigest()
