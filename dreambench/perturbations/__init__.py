"""Perturbations: reports changed on purpose, with a log of every edit, to see what a metric sees.

Flaws plant what a good metric must notice, placebos what it must not mind. `arms` makes them from config nodes.
"""

from dreambench.perturbations.arms import arms
from dreambench.perturbations.edits import Edit, EditLog, Perturbed, replay, revert
from dreambench.perturbations.perturbation import Perturbation

__all__ = ["Edit", "EditLog", "Perturbation", "Perturbed", "arms", "replay", "revert"]
