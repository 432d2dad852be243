"""Lines of LIBSVM text that are changed piece by piece, and random bytes."""

from __future__ import annotations

import random

CORPUS = [
    b"+1 1:0.5 7:1 12:-3.25e-2", b"-1 1:1 2:1 3:1 4:1 5:1 6:1", b"0 3:0.123456789012345678",
    b"2:0.5 qid:12 1:1 9:2.5 # note 1:1", b"-1.5e3 2147483646:1e300", b"# only a note", b"",
    b"1 10000000:0.1 100000000:0.2 1000000000:0.3", b"+1\t1:1\t2:2\r", b"3 1:0 2:-0.0 3:1e-320",
    b"1:0 5:1", b"1 1:123456789.125 2:.5 3:7. 4:1E5", b"-0 1:00001 02:1", b"9 2147483647:1",
]  # fmt: skip
PIECES = [
    b" ", b"  ", b"\t", b"\r", b"\x0b", b"\x0c", b"\x00", b"\x7f", b"\xff", b"\xc3\xa9", b":",
    b"#", b"-", b"+", b".", b"e", b"E", b"0", b"1", b"9", b"x", b"_", b",", b";", b" 0:1",
    b" 1:1", b" 2:2", b"nan", b"inf", b"-inf", b"NaN", b"Infinity", b"e999", b"e-999", b"1e308",
    b"1.8e308", b"e+5", b"99999999999", b"2147483646", b"2147483647", b"2147483648",
    b"4294967297", b"18446744073709551617", b" qid:1", b" qid:x", b"0x1p3", b"1_0",
    b"00000000000000000001", b"0.00000000000000000000000001", b"123456789012345678901234567890",
    b"5e-324", b"2.5e-324", b"0.1e1000000000000", b"9007199254740993",
    b"179769313486231580793728971405301e276", b".", b"-.", b"+e1", b"1e", b"1e+", b"\xef\xbb\xbf",
    b"\xc2\xa0", b"\x1f", b"\x0b1:1",
]  # fmt: skip
DIGITS = b"0123456789:. \n#-+e\t"


def changed(draw: random.Random, line: bytes) -> bytes:
    """One change of a line."""
    at, kind = draw.randint(0, len(line)), draw.randrange(6)
    if kind == 0:
        return line[:at] + draw.choice(PIECES) + line[at:]
    if kind == 1:
        return line[:at] + line[at + draw.randint(1, 3) :]
    if kind == 2:
        return line[:at] + bytes([draw.randrange(256)]) + line[at + 1 :]
    if kind == 3:
        cut = draw.randint(at, len(line))
        return line[:cut] + line[at:cut] + line[cut:]
    if kind == 4:
        items = line.split(b" ")
        draw.shuffle(items)
        return b" ".join(items)
    return line[:at] + draw.choice(PIECES) + line[at + draw.randint(1, 4) :]


def made(draw: random.Random) -> bytes:
    """A line that is good, or almost."""
    label = draw.choice([b"+1", b"-1", b"0", b"2.5", b"1:2", b"-1:0.25", b"1e2", b"+0"])
    ids = sorted(
        draw.sample(range(1, draw.choice([12, 300, 10**5, 10**8, 2**31])), draw.randint(0, 6))
    )
    return label + b"".join(b" %d:%s" % (j, number(draw)) for j in ids)


def number(draw: random.Random) -> bytes:
    """A number in one of many notations."""
    kind = draw.randrange(6)
    if kind == 0:
        return b"%d" % draw.choice([0, 1, 2, 9, 10**9, -1])
    if kind == 1:
        return f"{draw.uniform(-10, 10):.{draw.randint(0, 20)}f}".encode()
    if kind == 2:
        return repr(draw.uniform(-1, 1) * 10.0 ** draw.randint(-320, 300)).encode()
    if kind == 3:
        return f"{draw.getrandbits(draw.randint(1, 90))}e{draw.randint(-330, 280)}".encode()
    if kind == 4:  # half-way between two doubles, or next to it
        whole = (draw.getrandbits(53) | 1 << 52) * 2 + 1
        return b"%d%s" % (whole, draw.choice([b"", b".0", b".00000000000000000001", b"e5", b"e-5"]))
    return b"%d.%d" % (draw.randint(0, 99), draw.getrandbits(draw.randint(1, 80)))


def text(seed: int, n: int) -> bytes:
    """About n lines; the same seed gives the same."""
    draw = random.Random(seed)
    lines = []
    for _ in range(n):
        kind = draw.randrange(20)
        if kind == 0:
            lines.append(bytes(draw.randrange(256) for _ in range(draw.randint(0, 40))))
        elif kind == 1:
            lines.append(bytes(draw.choice(DIGITS) for _ in range(draw.randint(0, 60))))
        else:
            line = draw.choice(CORPUS) if kind < 8 else made(draw)
            for _ in range(draw.choice([0, 1, 1, 2, 3])):
                line = changed(draw, line)
            lines.append(line)
    return b"\n".join(lines) + draw.choice([b"", b"\n"])
