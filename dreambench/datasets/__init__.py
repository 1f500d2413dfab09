"""Tasks and reports from files: one module per source, one `Loader` each, and a `Dataset` out of all of them."""

from dreambench.datasets.dataset import INFORMATIVE, Dataset, Finding
from dreambench.datasets.loader import Loader

__all__ = ["INFORMATIVE", "Dataset", "Finding", "Loader"]
