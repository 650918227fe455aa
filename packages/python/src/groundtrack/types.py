"""Records that operations return: `from groundtrack.types import Item`."""

from .generated.types import *  # noqa: F403
