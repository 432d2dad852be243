"""Probabilities in a database, beside the tables of sql.py. They need EXP and SQRT."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

import numpy as np

from cwtool.data.rows import Floats, Longs
from cwtool.export.scorer import Scorer
from cwtool_ext.shortest import lines

AT_ONCE = 500  # tuples of an INSERT
TABLES = """\
-- SELECT row_id, label, probability FROM cwtool_probability; needs the functions EXP and SQRT.
CREATE TABLE cwtool_variance (
  feature INTEGER, class INTEGER, variance REAL, PRIMARY KEY (feature, class));
CREATE TABLE cwtool_linear (feature INTEGER PRIMARY KEY, variance REAL);
CREATE TABLE cwtool_pair (
  feature INTEGER, other INTEGER, variance REAL, PRIMARY KEY (feature, other));
"""
UNIT_ENTRY = """\
CREATE VIEW cwtool_unit_entry AS
SELECT e.row_id, e.feature, e.value{length} AS value FROM cwtool_entry e{lengths};
"""
LENGTHS = """
JOIN (SELECT row_id, SQRT(SUM(value * value)) AS length FROM cwtool_entry GROUP BY row_id) n
  ON n.row_id = e.row_id"""
SPREAD = """\
CREATE VIEW cwtool_spread AS
SELECT s.row_id, s.class, s.label, s.score,
  c.variance + COALESCE(v.total, 0) + COALESCE(l.total, 0) + COALESCE(p.total, 0) AS variance
FROM cwtool_score s
JOIN cwtool_class c ON c.class = s.class
LEFT JOIN (
  SELECT e.row_id, k.class, SUM(COALESCE(w.variance, {unknown}) * e.value * e.value) AS total
  FROM cwtool_unit_entry e CROSS JOIN cwtool_class k
  LEFT JOIN cwtool_variance w ON w.feature = e.feature AND w.class = k.class
  GROUP BY e.row_id, k.class) v ON v.row_id = s.row_id AND v.class = s.class
LEFT JOIN (
  SELECT e.row_id, SUM(w.variance * e.value) AS total
  FROM cwtool_unit_entry e JOIN cwtool_linear w ON w.feature = e.feature
  GROUP BY e.row_id) l ON l.row_id = s.row_id
LEFT JOIN (
  SELECT e.row_id, SUM(w.variance * e.value * f.value) AS total
  FROM cwtool_unit_entry e
  JOIN cwtool_pair w ON w.feature = e.feature
  JOIN cwtool_unit_entry f ON f.row_id = e.row_id AND f.feature = w.other
  GROUP BY e.row_id) p ON p.row_id = s.row_id;
"""
NO_SPREAD = """\
CREATE VIEW cwtool_spread AS
SELECT row_id, class, label, score, 0.0 AS variance FROM cwtool_score;
"""
TWO = """\
CREATE VIEW cwtool_probability AS
SELECT row_id, label,
  1 / (1 + EXP(-({slope} * score / SQRT(1 + variance) + {offset}))) AS probability
FROM cwtool_spread;
"""
BENT = """\
-- The probability needs the functions LN, ABS and SIGN as well.
CREATE VIEW cwtool_probability AS
SELECT row_id, label,
  1 / (1 + EXP(-({slope} * SIGN(z) * LN(ABS(z) + SQRT(z * z + 1)) / {bend} + {offset})))
    AS probability
FROM (SELECT row_id, label, {bend} * score / SQRT(1 + variance) AS z FROM cwtool_spread) t;
"""
SEVERAL = """\
CREATE VIEW cwtool_probability AS
WITH ranked AS (
  SELECT row_id, class, label, score, variance,
    ROW_NUMBER() OVER (PARTITION BY row_id ORDER BY score DESC, class) AS place
  FROM cwtool_spread),
top AS (
  SELECT row_id, MAX(score) AS score, AVG(variance) AS variance
  FROM ranked WHERE place <= 2 GROUP BY row_id),
share AS (
  SELECT r.row_id, r.label,
    EXP({slope} * (r.score - top.score) / SQRT(1 + top.variance) + {offset}) AS share
  FROM ranked r JOIN top ON top.row_id = r.row_id)
SELECT row_id, label, share / SUM(share) OVER (PARTITION BY row_id) AS probability
FROM share;
"""


def text(scorer: Scorer) -> Iterator[str]:
    """The tables of variances, and the view of the probability of each class: of two classes only
    that of the second."""
    if scorer.variance is None:
        yield NO_SPREAD
    else:
        yield from _spread(scorer)
    form = SEVERAL if scorer.several else BENT if scorer.bend else TWO
    yield form.format(slope=repr(scorer.slope), offset=_offset(scorer), bend=repr(scorer.bend))


def _offset(scorer: Scorer) -> str:
    """The offset; of several classes that of `r.class`, the largest of which is 0 here."""
    if not scorer.several:
        return repr(scorer.offsets[0])
    most = max(scorer.offsets, default=0.0)
    cases = "".join(f"\n      WHEN {k} THEN {b - most!r}" for k, b in enumerate(scorer.offsets))
    return f"CASE r.class{cases} END" if any(scorer.offsets) else "0"


def _spread(scorer: Scorer) -> Iterator[str]:
    assert scorer.variance is not None
    yield TABLES
    places = np.arange(scorer.variance.size)
    yield from filled("cwtool_variance", scorer, scorer.variance, places)
    if scorer.linear is not None:
        linear = scorer.by_feature(scorer.linear)
        yield from inserted("cwtool_linear", (f"({j}, {c!r})" for j, c in linear if c))
    rows = (f"({i}, {j}, {c!r})" for i, j, c in scorer.named_pairs)
    yield from inserted("cwtool_pair", rows)
    unit = scorer.reading.normalize == "l2"
    yield UNIT_ENTRY.format(length=" / n.length" if unit else "", lengths=LENGTHS if unit else "")
    yield SPREAD.format(unknown=repr(scorer.unknown))


def filled(table: str, scorer: Scorer, values: Floats, places: Longs) -> Iterator[str]:
    """The commands that fill a table with feature, class and value at these places of a table that
    has one row per feature and one column per class."""
    for start in range(0, len(places), AT_ONCE):
        row, column = np.divmod(places[start : start + AT_ONCE], values.shape[1])
        keys = np.stack([scorer.features[row], column], axis=1)
        text = lines(keys, values[row, column][:, None], b"(", b", ", b", ", b"),\n")
        yield f"INSERT INTO {table} VALUES\n{text[:-2]};"


def inserted(table: str, rows: Iterable[str]) -> Iterator[str]:
    """The commands that fill a table with these tuples."""
    left = iter(rows)
    while some := list(islice(left, AT_ONCE)):
        yield f"INSERT INTO {table} VALUES\n" + ",\n".join(some) + ";"
