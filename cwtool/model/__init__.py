"""A model: an algorithm, its state, and all that is needed to go on learning or to predict."""

from cwtool.model.interpretation import AnyReliability
from cwtool.model.model import Model
from cwtool.model.opening import algorithm_of
from cwtool.model.results import Learned, Prediction, Weights

__all__ = ["AnyReliability", "Learned", "Model", "Prediction", "Weights", "algorithm_of"]
