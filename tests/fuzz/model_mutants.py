"""Model files that are changed in every way that a stranger could, with lengths and checksum made
anew."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from hashlib import sha256

import array_mutants as of_arrays
import content_mutants as of_content
import header_mutants as of_header
import joint_mutants as of_many
import stranger_mutants as of_strangers
from model_parts import PRELUDE, Parts, parts_of, sealed

Change = Callable[[random.Random, Parts], bytes]


def mixed(draw: random.Random, parts: Parts) -> bytes:
    """Several changes at a time."""
    data = sealed(*parts)
    for _ in range(draw.randint(2, 4)):
        try:
            data = draw.choice(OF_PARTS)(draw, parts_of(data))
        except Exception:  # the file is such that nothing more can be changed in it
            return data
    return data


def signed(data: bytes) -> bytes:
    """These bytes with their checksum."""
    return data + sha256(data).digest()


def prelude(draw: random.Random, parts: Parts) -> bytes:
    """Lengths and version before the header."""
    data = sealed(*parts)
    _, version, size, length = PRELUDE.unpack_from(data)
    field = draw.randrange(3)
    near = [n + step for n in (size, length) for step in (-32, -8, -1, 1, 8)]
    odd = draw.choice([0, 1, 7, 24, 2**31, 2**63, 2**64 - 1, *near])
    changed = [draw.choice([0, 1, 2, 3, 4, 255]) if field == 0 else version,
               odd if field == 1 else size, odd if field == 2 else length]  # fmt: skip
    return signed(PRELUDE.pack(b"CWTOOL\0", *changed) + data[PRELUDE.size : -32])


def more_bytes(draw: random.Random, parts: Parts) -> bytes:
    """Extra bytes after the arrays, between them or at the end, or a second model at the end."""
    data, kind = sealed(*parts), draw.randrange(5)
    more = draw.choice([b"\0", b"\0" * 8, b"\xff" * 8, bytes(range(64)), b"\0" * 4096])
    if kind == 0:
        return data + more
    if kind == 1:
        return data + data
    if kind == 2:
        return signed(data)
    body = data[:-32]
    at = len(body) if kind == 3 else draw.randrange(PRELUDE.size, len(body))
    body = body[:at] + more + body[at:]
    _, version, size, length = PRELUDE.unpack_from(body)
    right = draw.random() < 0.7
    start = PRELUDE.pack(b"CWTOOL\0", version, size + (len(more) if right else 0), length)
    return signed(start + body[PRELUDE.size :])


def fewer_bytes(draw: random.Random, parts: Parts) -> bytes:
    """A file that was cut and signed anew."""
    body = sealed(*parts)[:-32]
    body = body[: draw.choice([len(body) - 8, len(body) - 1, draw.randrange(len(body))])]
    if len(body) < PRELUDE.size or draw.random() < 0.2:
        return body
    _, version, _, length = PRELUDE.unpack_from(body)
    start = PRELUDE.pack(b"CWTOOL\0", version, len(body) + 32, length)
    return signed(start + body[PRELUDE.size :])


def of_two(draw: random.Random, parts: Parts, other: bytes) -> bytes:
    """Header entries or arrays of another model."""
    (header, arrays), (their, theirs) = parts, parts_of(other)
    kind = draw.randrange(4)
    if kind == 0:  # all arrays
        return sealed(header | {"arrays": their["arrays"]}, theirs)
    if kind == 1:  # all entries but the arrays
        return sealed(their | {"arrays": header["arrays"]}, arrays)
    if kind == 2:
        name = draw.choice([name for name in their if name != "arrays"])
        return sealed(header | {name: their[name]}, arrays)
    found = {entry["name"]: (entry, a) for entry, a in zip(header["arrays"], arrays, strict=True)}
    for entry, a in zip(their["arrays"], theirs, strict=True):
        if draw.random() < 0.5 and (entry["name"] in found or draw.random() < 0.2):
            found[entry["name"]] = entry, a
    listed = [entry for entry, _ in found.values()]
    return sealed(header | {"arrays": listed}, [a for _, a in found.values()])


OF_PARTS: list[Change] = [
    of_header.odd_value, of_header.odd_value, of_header.nudged_value, of_header.nudged_value,
    of_header.removed_entry, of_header.added_entry, of_header.swapped_entries,
    of_header.text_value, of_header.nested_value, of_header.many_entries,
    of_header.other_setting, of_header.other_setting, of_header.other_algorithm,
    of_header.other_order, of_arrays.shape_of_array, of_arrays.kind_of_array,
    of_arrays.name_of_array, of_arrays.without_array, of_arrays.longer_array,
    of_arrays.other_length, of_arrays.exchanged_arrays, of_arrays.reread_array,
    *(3 * [of_arrays.values_of_array, of_arrays.filled_array, of_arrays.flipped_bits]),
    of_arrays.magnified_array, of_arrays.magnified_array, *of_content.CHANGES,
    *of_many.CHANGES, of_strangers.huge_everywhere, of_strangers.huge_everywhere,
    of_strangers.names_of_classes, of_strangers.equal_counts,
]  # fmt: skip
OF_BYTES: list[Change] = [
    of_header.text_of_header, of_header.literal, of_header.literal, of_header.repeated_inside,
    prelude, more_bytes, fewer_bytes, of_content.numbers_of_json, of_strangers.text_of_others,
    of_strangers.text_of_others,
]  # fmt: skip


def mutant(seed: int, data: bytes, others: Sequence[bytes] = ()) -> tuple[str, bytes]:
    """One change of a file, drawn by the seed, perhaps with parts of another one; what was done,
    and the bytes."""
    draw = random.Random(seed)
    if others and draw.random() < 0.15:
        other = draw.choice(others)
        mixing = draw.choice(
            [of_two, of_strangers.arrays_of_another, of_strangers.params_of_another]
        )
        return mixing.__name__, mixing(draw, parts_of(data), other)
    change = draw.choice([*OF_PARTS, *OF_BYTES, mixed, mixed, mixed])
    return change.__name__, change(draw, parts_of(data))
