"""Cells of a line of a table to named entries."""


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
    cdef double x
    cdef bint as_text
    for place, name, as_text in features:
        cell = cells[place]
        if not cell:
            continue
        c = cell[0]
        if not as_text and (c <= c"9" and (c >= c"0" or c in " +-.\t")) and "_" not in cell:
            try:
                x = float(cell)
            except ValueError:
                pass
            else:
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
