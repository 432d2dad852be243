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
from functools import lru_cache
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
PAIRS = re.compile("[&;]")
DIGITS = str.maketrans("", "", "0123456789")
CAPITALS = str.maketrans("", "", "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
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
    entries = [(name, 1.0) for name in dict.fromkeys(_names(parts, ngrams))]
    entries += [(name, logarithm(n)) for name, n in _counts(url, text, parts) if n]
    return entries


@lru_cache(1 << 12)
def logarithm(n: int) -> float:
    return round(log1p(n), 4)


def _names(parts: Parts, ngrams: int) -> list[str]:
    names = [f"scheme={parts.scheme[:TOKEN] or 'none'}"]
    if parts.port:
        names.append(f"port={parts.port[:TOKEN]}")
    if parts.user:
        names.append("user")
    names += _of_host(parts.host, ngrams)
    path = _decoded(parts.path)
    names += _tokens("path.token", path)
    dot, ext = path.rpartition("/")[2].rpartition(".")[1:]
    if dot and ext and len(ext) <= 8 and ext.isalnum():
        names.append(f"ext={ext.lower()}")
    for pair in PAIRS.split(parts.query):
        key, _, value = pair.partition("=")
        names += _tokens("query.key", _decoded(key))
        names += _tokens("query.value", _decoded(value))
    return names + _tokens("fragment.token", _decoded(parts.fragment))


def _decoded(text: str) -> str:
    """The text with percent escapes and + resolved, once."""
    return unquote_plus(text, errors="replace") if "%" in text or "+" in text else text


@lru_cache(1 << 12)  # many URLs of a feed have the same host
def _of_host(host: str, ngrams: int) -> list[str]:
    if not host:
        return []
    names = [f"host={host[:255]}"]
    if ADDRESS.fullmatch(host):
        return [*names, "ip"]
    names += _tokens("host.token", host)
    labels = host[:255].split(".")
    if len(labels) > 1:
        names += [f"tld={labels[-1][:TOKEN]}", f"domain={'.'.join(labels[-2:])}"]
    if ngrams:
        around = f"^{host[:255]}$"
        starts = range(max(len(around) - ngrams + 1, 1))
        names += [f"host.gram={around[k : k + ngrams]}" for k in starts]
    return names


def _tokens(kind: str, text: str) -> list[str]:
    return [f"{kind}={word[:TOKEN]}" for word in WORD.findall(text.lower())] if text else []


def _counts(url: str, text: str, parts: Parts) -> list[tuple[str, int]]:
    host, path, query = parts.host, parts.path, parts.query
    return [
        ("length", len(url)),
        ("host.length", len(host)),
        ("path.length", len(path)),
        ("query.length", len(query)),
        ("fragment.length", len(parts.fragment)),
        *((name, text.count(sign)) for name, sign in COUNTED.items()),
        ("digits", len(text) - len(text.translate(DIGITS))),
        ("capitals", len(text) - len(text.translate(CAPITALS))),
        ("nonascii", 0 if text.isascii() else sum(c > "\x7f" for c in text)),
        ("host.labels", host.count(".") + 1 if host else 0),
        ("path.depth", len(list(filter(None, path.split("/"))))),
        ("query.count", len(list(filter(None, PAIRS.split(query))))),
    ]
