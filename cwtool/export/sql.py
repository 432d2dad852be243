"""Tables of a database that score rows in it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cwtool.export import sql_probability
from cwtool.export.scorer import Scorer
from cwtool.export.sql_probability import filled, inserted

HEAD = """\
-- A linear model of cwtool. The rows to score are in a table that you make and fill:
--   CREATE TABLE cwtool_entry (row_id INTEGER, feature INTEGER, value REAL);
-- Then this gives the class of each row that has an entry:
--   SELECT row_id, label, score FROM cwtool_label;
CREATE TABLE cwtool_class (
  class INTEGER PRIMARY KEY, label TEXT, intercept REAL, variance REAL);
CREATE TABLE cwtool_weight (
  feature INTEGER, class INTEGER, weight REAL, PRIMARY KEY (feature, class));
"""
SCORE = """\
CREATE VIEW cwtool_score AS
SELECT r.row_id, c.class, c.label, c.intercept + COALESCE(s.total, 0) AS score
FROM (SELECT DISTINCT row_id FROM cwtool_entry) r
CROSS JOIN cwtool_class c
LEFT JOIN (
  SELECT e.row_id, w.class, SUM(w.weight * e.value){length} AS total
  FROM cwtool_entry e JOIN cwtool_weight w ON w.feature = e.feature{lengths}
  GROUP BY e.row_id, w.class) s ON s.row_id = r.row_id AND s.class = c.class;
"""
LENGTHS = """
  JOIN (SELECT row_id, SQRT(SUM(value * value)) AS length FROM cwtool_entry GROUP BY row_id) n
    ON n.row_id = e.row_id"""
TWO = """\
CREATE VIEW cwtool_label AS
SELECT row_id, CASE WHEN score {above} THEN label ELSE {other} END AS label, score
FROM cwtool_score;
"""
SEVERAL = """\
CREATE VIEW cwtool_label AS
SELECT row_id, label, score FROM (
  SELECT row_id, label, score,
    ROW_NUMBER() OVER (PARTITION BY row_id ORDER BY score DESC, class) AS place
  FROM cwtool_score) AS ranked
WHERE place = 1;
"""


def text(scorer: Scorer) -> Iterator[str]:
    """The script that makes and fills the tables and views."""
    yield HEAD
    classes = zip(scorer.names, scorer.intercept.tolist(), strict=True)
    constant = np.broadcast_to(scorer.constant_variance, scorer.intercept.shape).tolist()
    rows = [f"({k}, {_quoted(n)}, {c!r}, {constant[k]!r})" for k, (n, c) in enumerate(classes)]
    yield from inserted("cwtool_class", rows)
    yield from filled("cwtool_weight", scorer, scorer.weight, np.flatnonzero(scorer.weight))
    unit = scorer.reading.normalize == "l2"
    yield SCORE.format(length=" / MAX(n.length)" if unit else "", lengths=LENGTHS if unit else "")
    above = "> 0" if scorer.above else f">= {scorer.threshold!r}"
    yield SEVERAL if scorer.several else TWO.format(above=above, other=_quoted(scorer.labels[0]))
    if scorer.has_probability:
        yield from sql_probability.text(scorer)


def _quoted(name: str) -> str:
    return "'" + name.replace("'", "''") + "'"
