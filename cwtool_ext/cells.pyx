"""Cells of a line of a table to named entries."""

from libc.stdint cimport uint8_t
from libc.string cimport memcpy

from cwtool_ext.decimal cimport number

cdef extern from "Python.h":
    bint PyUnicode_IS_ASCII(str text)
    const uint8_t* PyUnicode_1BYTE_DATA(str text)

cdef enum:
    SHORT = 24  # characters of a number that are read without Python's float()


cdef inline bint plain_number(str cell, double* x):
    """Whether the cell is a short number without blanks, and the number."""
    cdef uint8_t text[SHORT + 16]  # number() reads eight bytes behind the number
    cdef Py_ssize_t n = len(cell)
    if n > SHORT or not PyUnicode_IS_ASCII(cell):
        return False
    memcpy(text, PyUnicode_1BYTE_DATA(cell), n)
    memcpy(text + n, b"\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n", 16)
    return number(text, x) == text + n


cdef bint other_number(str cell, double* x):
    """Whether the cell is a number with blanks or of any length, and the number."""
    if "_" in cell:
        return False
    try:
        x[0] = float(cell)
    except ValueError:
        return False
    return True


def named_entries(list cells, list features, frozenset missing) -> tuple[list, int]:
    """The (name, value) entries of the cells of text at features [(place, name, as text)]: numbers
    are values of the name, and other text has the name `name=text` and the value 1. Cells whose
    text in small letters is in `missing`, or nan, give no entry. The second result is the place of
    the first cell that is infinite, or -1.
    """
    cdef list entries = []
    cdef Py_ssize_t place
    cdef str cell, name, word
    cdef Py_UCS4 c
    cdef double x = 0.0
    cdef bint as_text
    for place, name, as_text in features:
        cell = cells[place]
        if not cell:
            continue
        c = cell[0]
        if not as_text and (c <= c"9" and (c >= c"0" or c in " +-.\t")):
            if plain_number(cell, &x) or other_number(cell, &x):
                if x - x == 0.0:
                    if cell not in missing:
                        entries.append((name, x))
                elif x == x:
                    return entries, place
                continue
        word = cell.strip()
        lower = word.lower()
        if lower not in missing:
            if lower == "inf" or lower == "infinity":
                return entries, place
            entries.append((f"{name}={word}", 1.0))
    return entries, -1
