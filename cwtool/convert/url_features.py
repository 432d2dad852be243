"""A URL as features, found from its text alone.

    scheme=https port=8080 host=www.example.com domain=example.com tld=com host.token=www ...
    path.token=login ext=php query.key=id query.value=7 fragment.token=top host.gram=exa ...

Each of these has the value 1. Lengths and counts n have the value ln(1 + n), rounded to four
places, and are left out where they are 0: length host.length path.length query.length
fragment.length, dots digits hyphens slashes percents ats nonascii capitals, and host.labels
path.depth query.count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import log1p
from typing import NamedTuple
from urllib.parse import unquote_plus

LONGEST = 4096  # characters of a URL that are looked at; its length is counted in full
TOKEN = 64  # characters of a token that are kept
SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)?:?//")
PORT = re.compile(r"(.*):([0-9]*)", re.DOTALL)
WORD = re.compile(r"[^\W_]+")
ADDRESS = re.compile(
    r"(0x[0-9a-f]+|[0-9]+)(\.(0x[0-9a-f]+|[0-9]+)){0,3}|\[.*\]|[0-9a-f:]*:[0-9a-f:.]*:[0-9a-f:.]*"
)
COUNTED = {"dots": ".", "hyphens": "-", "slashes": "/", "percents": "%", "ats": "@"}


class Parts(NamedTuple):
    """The parts of a URL; those that are not there are empty."""

    scheme: str
    user: str
    host: str
    port: str
    path: str
    query: str
    fragment: str


def split(url: str) -> Parts:
    """The parts of any text that is meant as a URL. Without // the text begins with the host."""
    found = SCHEME.match(url)
    scheme = (found[1] or "").lower() if found else ""
    rest = url[found.end() :] if found else url
    rest, _, fragment = rest.partition("#")
    rest, _, query = rest.partition("?")
    host, slash, path = rest.replace("\\", "/").partition("/")
    user, _, host = host.rpartition("@")
    port = ""
    if not ADDRESS.fullmatch(host) or host.startswith("["):
        parts = PORT.fullmatch(host)
        host, port = (parts[1], parts[2]) if parts else (host, "")
    return Parts(scheme, user, host.lower().strip("."), port, slash + path, query, fragment)


def url_entries(url: str, ngrams: int = 3) -> list[tuple[str, float]]:
    """The features of a URL, with n-grams of the characters of its host unless `ngrams` is 0."""
    text = url[:LONGEST]
    parts = split(text)
    names = dict.fromkeys(_names(parts, ngrams))
    entries = [(name, 1.0) for name in names]
    entries += [(name, round(log1p(n), 4)) for name, n in _counts(url, text, parts) if n]
    return entries


def _names(parts: Parts, ngrams: int) -> Iterator[str]:
    yield f"scheme={parts.scheme[:TOKEN] or 'none'}"
    if parts.port:
        yield f"port={parts.port[:TOKEN]}"
    if parts.user:
        yield "user"
    yield from _of_host(parts.host, ngrams)
    path = unquote_plus(parts.path, errors="replace")
    yield from _tokens("path.token", path)
    dot, ext = path.rpartition("/")[2].rpartition(".")[1:]
    if dot and ext and len(ext) <= 8 and ext.isalnum():
        yield f"ext={ext.lower()}"
    for pair in re.split("[&;]", parts.query):
        key, _, value = pair.partition("=")
        yield from _tokens("query.key", unquote_plus(key, errors="replace"))
        yield from _tokens("query.value", unquote_plus(value, errors="replace"))
    yield from _tokens("fragment.token", unquote_plus(parts.fragment, errors="replace"))


def _of_host(host: str, ngrams: int) -> Iterator[str]:
    if not host:
        return
    yield f"host={host[:255]}"
    if ADDRESS.fullmatch(host):
        yield "ip"
        return
    yield from _tokens("host.token", host)
    labels = host[:255].split(".")
    if len(labels) > 1:
        yield f"tld={labels[-1][:TOKEN]}"
        yield f"domain={'.'.join(labels[-2:])}"
    if ngrams:
        around = f"^{host[:255]}$"
        for k in range(max(len(around) - ngrams + 1, 1)):
            yield f"host.gram={around[k : k + ngrams]}"


def _tokens(kind: str, text: str) -> Iterator[str]:
    for word in WORD.findall(text.lower()):
        yield f"{kind}={word[:TOKEN]}"


def _counts(url: str, text: str, parts: Parts) -> Iterator[tuple[str, int]]:
    yield "length", len(url)
    yield "host.length", len(parts.host)
    yield "path.length", len(parts.path)
    yield "query.length", len(parts.query)
    yield "fragment.length", len(parts.fragment)
    for name, sign in COUNTED.items():
        yield name, text.count(sign)
    yield "digits", sum(map(str.isdigit, text))
    yield "capitals", sum(map(str.isupper, text))
    yield "nonascii", 0 if text.isascii() else sum(c > "\x7f" for c in text)
    yield "host.labels", parts.host.count(".") + 1 if parts.host else 0
    yield "path.depth", sum(map(bool, parts.path.split("/")))
    yield "query.count", sum(map(bool, re.split("[&;]", parts.query)))
