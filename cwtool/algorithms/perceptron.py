"""The perceptron (Rosenblatt 1958) and its average (Freund and Schapire 1999)."""

from __future__ import annotations

from cwtool.algorithms.online.first_order import FirstOrder, FirstOrderParams
from cwtool_ext import rules


class Perceptron(FirstOrder):
    name = "perceptron"
    summary = "perceptron: w += y x on a mistake"
    Params = FirstOrderParams
    rule = rules.perceptron()


ALGORITHMS = {"perceptron": Perceptron}
