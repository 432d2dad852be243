"""The parser against a slow and obvious one, on good lines and on spoiled ones."""

from hypothesis import given, settings
from hypothesis import strategies as st
from slow_libsvm import check, parse

blanks = st.text(" \t\r\v\f", min_size=1, max_size=3) | st.just(" ")
numbers = (
    st.sampled_from(["1", "0", "+1", "-1", "0.5", "1e-3", "-0", "12345678.12345678", ".5", "7."])
    | st.floats(allow_nan=False, allow_infinity=False).map(repr)
    | st.integers(-(10**25), 10**25).map(str)
)
weights = st.sampled_from(["1", "0", "2.5", "+1", "1e-3", "1000", "1."]) | st.floats(
    min_value=0, allow_infinity=False
).map(repr)


@st.composite
def good_line(draw: st.DrawFn) -> str:
    ids = sorted(draw(st.sets(st.integers(1, 2**31 - 1) | st.integers(1, 50), max_size=12)))
    parts = [draw(st.just("") | blanks), draw(numbers)]
    if draw(st.booleans()):
        parts += [f":{draw(weights)}"]
    if draw(st.booleans()):
        parts += [draw(blanks), f"qid:{draw(st.integers(0, 10**12))}"]
    for i in ids:
        parts += [draw(blanks), f"{i}:{draw(numbers)}"]
    parts += [draw(st.just("") | blanks), draw(st.just("") | st.just("#x 1:1 é"))]
    return "".join(parts)


texts = st.lists(good_line() | st.sampled_from(["", "  ", "#", " # note"]), max_size=8)
spoilers = st.sampled_from([b" ", b"\t", b"\r", b"\n", b"\0", b"\x7f", b"\xff"]) | st.sampled_from(
    b":|#|-|+|.|e|0|9|x|_| 0:1| 1:1|nan|inf|e999|99999999999| qid:1".split(b"|")
)
many = settings(max_examples=4 * settings.default.max_examples)


@many
@given(texts, st.booleans(), st.integers(0, 1))
def test_good_lines(lines: list[str], newline: bool, base: int) -> None:
    check(("\n".join(lines) + "\n" * newline).encode(), base)


@many
@given(texts, st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 3), spoilers), max_size=4))
def test_spoiled_lines(lines: list[str], spoils: list[tuple[int, int, bytes]]) -> None:
    text = "\n".join(lines).encode()
    for at, cut, spoiler in spoils:
        at %= len(text) + 1
        text = text[:at] + spoiler + text[at + cut :]
    check(text, 1)
    check(text, 0)


@many
@given(st.binary(max_size=200) | st.text("0123456789:. \n#-+e", max_size=200).map(str.encode))
def test_garbage(text: bytes) -> None:
    check(text, 1)


@many
@given(texts, st.binary(min_size=1, max_size=1))
def test_the_padding_does_not_matter(lines: list[str], pad: bytes) -> None:
    text = "\n".join(lines).encode()
    assert repr(parse(text, 1, pad)) == repr(parse(text, 1, b"\n"))


matrices = st.lists(
    st.tuples(
        st.sampled_from([-1.0, 1.0]),
        st.dictionaries(
            st.integers(0, 2**31 - 2),
            st.floats(allow_nan=False, allow_infinity=False).filter(bool),
            max_size=20,
        ),
    ),
    max_size=10,
)


@given(matrices, st.integers(0, 1))
def test_what_is_written_is_read_back(
    rows: list[tuple[float, dict[int, float]]], base: int
) -> None:
    text = "".join(
        f"{y:+g}{''.join(f' {i + base}:{v!r}' for i, v in sorted(x.items()))}\n" for y, x in rows
    )
    (found, _), faults = parse(text.encode(), base)
    assert faults == []
    assert found == [(n, y, sorted(x.items()), 1.0) for n, (y, x) in enumerate(rows)]
