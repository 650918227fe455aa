"""
A typed client for Groundtrack.

    from groundtrack import Groundtrack

    gt = Groundtrack()
    for project in gt.projects.list():
        print(project.name)
"""

from .client import VERSION as __version__
from .client import AsyncClient, Client
from .errors import (
    CredentialsError,
    DownloadError,
    FieldError,
    GroundtrackError,
    MissingExtraError,
    NetworkError,
    PriceError,
    ProblemError,
    SignatureError,
    UploadError,
    WaitTimeoutError,
    is_problem,
)
from .groundtrack import AsyncGroundtrack, Groundtrack
from .omit import OMIT, Omit
from .options import CallOptions
from .pages import AsyncLines, AsyncPage, Lines, Page
from .prices import Price
from .records import AnyRecord, Content, Record
from .session import SessionTokens
from .webhooks import sign_webhook, verify_webhook

__all__ = [
    "OMIT",
    "AnyRecord",
    "AsyncClient",
    "AsyncGroundtrack",
    "AsyncLines",
    "AsyncPage",
    "CallOptions",
    "Client",
    "Content",
    "CredentialsError",
    "DownloadError",
    "FieldError",
    "Groundtrack",
    "GroundtrackError",
    "Lines",
    "MissingExtraError",
    "NetworkError",
    "Omit",
    "Page",
    "Price",
    "PriceError",
    "ProblemError",
    "Record",
    "SessionTokens",
    "SignatureError",
    "UploadError",
    "WaitTimeoutError",
    "__version__",
    "is_problem",
    "sign_webhook",
    "verify_webhook",
]
