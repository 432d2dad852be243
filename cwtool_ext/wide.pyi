# Generated from wide.pyx by tools/stubs.py.

from cwtool_ext.visit import Learner

class Wide(Learner): ...
