"""The error messages for lines that are not valid LIBSVM text."""

from cwtool.data.chunks import Bytes
from cwtool_ext import libsvm

FAILED = b"conversion-failed"  # what convert writes to a pipe if it fails: no LIBSVM row

SENTENCES: dict[int, tuple[str, str]] = {
    libsvm.BAD_LABEL: (
        "label {item} is not a number",
        "a line starts with its label, a number such as +1 or -1; replace labels that are text, "
        "for example with sed 's/^spam /1 /; s/^ham /-1 /'",
    ),
    libsvm.INFINITE_LABEL: ("label {item} is not finite", "labels are finite numbers"),
    libsvm.MISSING_COLON: (
        "{item} has no colon",
        "features are written index:value, separated by blanks",
    ),
    libsvm.BAD_INDEX: (
        "feature index {index} is not a whole number",
        "an index is written with digits only; qid:N stands right behind the label",
    ),
    libsvm.ZERO_INDEX: (
        "feature index 0 in a file whose indices start at 1",
        "if its indices start at 0, add `zero_based`",
    ),
    libsvm.NEGATIVE_INDEX: (
        "feature index {index} is negative",
        "indices start at 1, or at 0 with `zero_based`",
    ),
    libsvm.LARGE_INDEX: (
        "feature index {index} is too large",
        "the largest is 2147483647, or 2147483646 with `zero_based`",
    ),
    libsvm.DESCENDING: (
        "feature index {index} after {previous}; indices must increase",
        "sort the features of each line by index",
    ),
    libsvm.DUPLICATE: (
        "feature index {index} twice in one line",
        "give each feature of a line once",
    ),
    libsvm.BAD_VALUE: (
        "value {item} of feature {index} is not a number",
        "values are decimal numbers such as 1, -0.5 or 2e-3",
    ),
    libsvm.INFINITE_VALUE: (
        "value {item} of feature {index} is not finite",
        "leave out the features whose value is unknown",
    ),
    libsvm.OVERFLOW: (
        "value {item} of feature {index} is too large for a double",
        "values go up to 1.797e308",
    ),
    libsvm.BINARY: (
        "control bytes in {item}; this is not text",
        "give LIBSVM text, plain or compressed with gzip, bzip2, xz or zstd",
    ),
    libsvm.BAD_WEIGHT: (
        "row weight {item} is not a number",
        "a line starts with label or label:weight, such as +1 or +1:2.5",
    ),
    libsvm.INFINITE_WEIGHT: (
        "row weight {item} is not finite",
        "row weights are finite numbers, 0 or greater",
    ),
    libsvm.NEGATIVE_WEIGHT: (
        "row weight {item} is negative",
        "row weights are 0 or greater; a row of weight 0 is predicted and not learned",
    ),
}


def failed_conversion(text: Bytes, start: int, stop: int) -> int:
    """Where the text ends with the word of a conversion that failed; -1 if it does not."""
    tail = text[max(start, stop - len(FAILED) - 2) : stop].tobytes()
    ended = tail.rstrip(b"\r\n")
    return stop - len(tail) + len(ended) - len(FAILED) if ended.endswith(FAILED) else -1


def describe(code: int, line: bytes, column: int) -> tuple[str, str]:
    """The sentence and the hint for the fault at line[column] (counted from 0)."""
    sentence, hint = SENTENCES[code]
    item = _first(line[column:])
    if item == FAILED:
        return "cwtool convert, which writes to this pipe, has failed", "its own error says why"
    before = line[:column].split()
    at_value = line[:column].endswith(b":")
    index = before[-1][:-1] if at_value else item.split(b":")[0]
    previous = before[-1].split(b":")[0] if before else b""
    return sentence.format(item=_show(item), index=_show(index), previous=_show(previous)), hint


def _first(text: bytes) -> bytes:
    """Up to the first blank or `#`; a value may be missing altogether."""
    if text[:1].isspace():
        return b""
    return (text.split(b"#")[0].split() or [b""])[0]


def _show(item: bytes, most: int = 40) -> str:
    if not item:
        return "(empty)"
    text = item[: most + 1].decode("utf-8", "backslashreplace")
    text = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)
    return text if len(item) <= most else text[:most] + "..."
