"""cwtool convert --from urls: lists of URLs as LIBSVM rows."""

import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cwtool.convert.url_features import split, url_entries

Run = Callable[..., Any]


def names(url: str, ngrams: int = 0) -> set[str]:
    return {name for name, _ in url_entries(url, ngrams)}


def test_the_parts_of_a_url() -> None:
    parts = split("HTTPS://me:pw@WWW.Example.com:8443/a/b.php?x=1&y=2#top")
    assert parts == ("https", "me:pw", "www.example.com", "8443", "/a/b.php", "x=1&y=2", "top")
    assert split("example.com:80/x").port == "80"
    assert split("//example.com").host == "example.com"
    assert split("http://example.com\\a").path == "/a"
    assert split("http://[2001:db8::1]:80/").host == "[2001:db8::1]"
    assert split("http://example.com?q").query == "q"


def test_names_of_features() -> None:
    found = names("https://www.shop.example.com:81/My%20cart/index.PHP?id=7&who=a+b#end")
    expected = """scheme=https port=81 host=www.shop.example.com domain=example.com tld=com
        host.token=www host.token=shop host.token=example host.token=com path.token=my
        path.token=cart path.token=index path.token=php ext=php query.key=id query.value=7
        query.key=who query.value=a query.value=b fragment.token=end"""
    assert set(expected.split()) <= found
    assert {"length", "dots", "digits", "capitals", "path.depth", "query.count"} <= found
    assert {"host.gram=^ww", "host.gram=om$"} <= names("http://www.example.com", 3)
    assert not any(name.startswith("host.gram") for name in names("http://www.example.com"))


@pytest.mark.parametrize("host", ["192.0.2.7", "0xC0000207", "3221225991", "[2001:db8::1]"])
def test_addresses(host: str) -> None:
    found = names(f"http://{host}/x")
    assert "ip" in found and not any(name.startswith(("tld", "host.token")) for name in found)


@pytest.mark.parametrize(
    "url",
    [
        "", "http://", "://", "?", "#", "@", "%", "%zz%", "http://[", "http://a:b:c@d:e",
        "x" * 10**6,
        "http://пример.example/\u2028путь", "a b\tc", "http://example.com:99999999", "\x00\xff",
        "http://" + "a." * 5000, "http://e.com/?" + "a=b&" * 5000,
    ],
)  # fmt: skip
def test_any_text_gives_finite_features(url: str) -> None:
    entries = url_entries(url, 3)
    assert len({name for name, _ in entries}) == len(entries) < 20_000
    assert all(0 < x < 20 for _, x in entries)


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("http://a.example/\nb.example\n\n# note\n", ["0", "0"]),
        ("1 http://a.example/\n-1 b.example\n", ["1", "-1"]),
        ("http://a.example/\t1\nb.example\t-1\n", ["1", "-1"]),
        ("bad http://a.example/\ngood b.example\n", ["1", "2"]),
        ("url,label\nhttp://a.example/,1\nb.example,-1\n", ["1", "-1"]),
        ("label\turl\tmore\n1\thttp://a.example/\t3\n-1\tb.example\t4\n", ["1", "-1"]),
        ("url\nhttp://a.example/\nb.example\n", ["0", "0"]),
    ],
)
def test_forms_of_lists(folder: Path, ok: Run, text: str, labels: list[str]) -> None:
    (folder / "day.txt").write_text(text)
    out = ok("convert", "--from", "urls", "day.txt", "-o", "-", "--names", "n.tsv", "--id", "url")
    assert [line.split()[0] for line in out.splitlines()] == labels
    assert [line.split(" # ")[1] for line in out.splitlines()] == [
        "http://a.example/",
        "b.example",
    ]
    listed = (folder / "n.tsv").read_text()
    assert "\thost=a.example\n" in listed and "more" not in listed


def test_a_line_without_its_label_is_bad(folder: Path, cwtool: Run) -> None:
    (folder / "day.txt").write_text("1 http://a.example/\nhttp://b.example/\n")
    ended = cwtool("convert", "--from", "urls", "day.txt", "-o", "-")
    assert ended.code == 3
    assert "day.txt:2:1: no label before http://b.example/" in ended.err


def test_garbage_is_no_class(folder: Path, cwtool: Run) -> None:
    (folder / "day.txt").write_text("1 http://a.example/\ngarbage\n0 http://b.example\n")
    ended = cwtool("convert", "--from", "urls", "day.txt", "-o", "-")
    assert ended.code == 3
    assert "day.txt:2:1: label garbage in a file whose labels are numbers" in ended.err
    ended = cwtool("convert", "--from", "urls", "day.txt", "-o", "-", "--on-bad-line", "skip")
    assert ended.code == 0 and ended.out.count("\n") == 2


def test_a_column_of_urls_beside_others(folder: Path, ok: Run) -> None:
    (folder / "a.csv").write_text("y,link,age\n1,http://a.example/,3\n")
    ok("convert", "a.csv", "-o", "a.svm", "--url", "link", "--names", "n.tsv", "--ngrams", "0")
    listed = (folder / "n.tsv").read_text()
    assert "\tage\n" in listed and "\thost=a.example\n" in listed and "gram" not in listed


def test_a_column_url_of_a_table_is_told(folder: Path, cwtool: Run) -> None:
    (folder / "a.csv").write_text("y,url\n1,http://a.example/\n")
    told = "every URL of the column url is one feature; --url url makes features of its parts"
    assert told in cwtool("convert", "a.csv", "-o", "a.svm").err
    for how in ["--url", "url"], ["--from", "urls"], ["--drop", "url"]:
        assert told not in cwtool("convert", "a.csv", "-o", "a.svm", *how).err


def some_urls(seed: int, n: int) -> str:
    """Half of the URLs have long hosts of digits and ask for passwords."""
    draw = random.Random(seed)
    words = ["news", "cart", "about", "item", "map", "faq", "blog", "user"]
    lines = []
    for k in range(n):
        path = "/".join(draw.sample(words, 2))
        if k % 2:
            number = draw.randrange(10**6)
            lines.append(f"1 http://secure-{number}.example.net/{path}/login.php?id={number}")
        else:
            lines.append(f"-1 https://www.{draw.choice(words)}.example.org/{path}.html")
    return "\n".join(lines) + "\n"


def test_training_learns_from_urls(folder: Path, ok: Run) -> None:
    import json

    for day in 1, 2:
        (folder / f"{day}.txt").write_text(some_urls(day, 300))
        ok("convert", "--from", "urls", f"{day}.txt", "-o", f"{day}.svm", "--hash-bits", "18")
    ok("train", "1.svm", "-m", "m.cw")
    found = json.loads(ok("predict", "2.svm", "-m", "m.cw", "--evaluate", "--json"))
    assert found["error"] < 0.02


def test_one_pipe_from_urls_to_the_model(folder: Path) -> None:
    (folder / "day.txt").write_text(some_urls(1, 200))
    cwtool = f"{sys.executable} -m cwtool"
    pipe = f"{cwtool} convert --from urls day.txt -o - | {cwtool} feed - -m m.cw"
    done = subprocess.run(pipe, shell=True, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (folder / "m.cw").exists()
