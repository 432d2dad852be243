"""A model: an algorithm, its state, and all that is needed to go on learning or to predict."""

from cwtool.model.model import AnyReliability, Learned, Model, Prediction, algorithm_of

__all__ = ["AnyReliability", "Learned", "Model", "Prediction", "algorithm_of"]
