"""What the service returns: JSON objects whose fields are attributes."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

from .errors import DownloadError, GroundtrackError, disk_error

if TYPE_CHECKING:
    import os
    from pathlib import Path

    import rasterio.io

    from .client import Client
    from .generated.types import Order, ProcessingJob, Upload

R = TypeVar("R", bound="Record")


class Record:
    """
    A JSON object. Its fields are attributes (`item.name`) and keys (`item["name"]`). An optional field that the service left out
    is None. `to_dict()` returns the plain JSON.
    """

    __slots__ = ("_data", "_client", "_views")
    _nested: ClassVar[Mapping[str, str]] = {}
    """Fields that hold records, with the class of each; `{}` marks a map of records."""

    def __init__(self, data: Mapping[str, Any], client: Any = None) -> None:
        self._data = data
        self._client = client
        self._views: dict[str, Any] | None = None

    if not TYPE_CHECKING:  # Type checkers know the fields of each class, and find misspelt ones.

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):
                raise AttributeError(name)
            try:
                value = self._data[name]
            except KeyError:
                if _declares(type(self), name):
                    return None
                known = ", ".join(self._data)
                raise AttributeError(f"{type(self).__name__} has no field {name!r}; it has {known}") from None
            if not isinstance(value, (dict, list)):
                return value
            return self._view(name, value)

    def _view(self, name: str, value: Any) -> Any:
        wraps = type(self)._nested.get(name)
        if wraps is None:
            # A record of no class knows nothing of its fields, so each of its objects becomes one too.
            if type(self) not in (Record, AnyRecord):
                return value
            wraps = "Record"
        if self._views is None:
            self._views = {}
        view = self._views.get(name)
        if view is None:
            view = self._views[name] = _wrapped(value, wraps, type(self).__module__, self._client)
        return view

    def __getitem__(self, name: str) -> Any:
        return self._data[name]

    def __contains__(self, name: object) -> bool:
        return name in self._data

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and self._data == other._data

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._data]

    def __repr__(self) -> str:
        """Without secrets, because a notebook saves what it shows; attributes have them."""
        fields = ", ".join(f"{name}={_short(name, value)}" for name, value in self._data.items())
        return f"{type(self).__name__}({fields})"

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self._data,))  # Without the client, which holds a credential.

    def to_dict(self) -> dict[str, Any]:
        """The record as plain JSON."""
        return dict(self._data)


class AnyRecord(Record):
    """A record whose fields the contract does not say, such as a STAC item."""

    __slots__ = ()
    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


def _declares(record: type[Record], name: str) -> bool:
    return any(name in vars(base).get("__annotations__", ()) for base in record.__mro__)


_SECRET_NAME = r"\w*(?:password|secret|token|credential)s?"
_SECRETS = (
    (re.compile(rf"(['\"]{_SECRET_NAME}['\"]: )(?:'[^']*'|\"[^\"]*\")", re.I), r"\1'…'"),
    (re.compile(r"\b(svc|whsec)_[\w-]+"), r"\1_…"),
    (re.compile(r"([?&](?:\w+[-_])*(?:key|grant|token|signature|credential)=)[^&'\"\s]+", re.I), r"\1…"),
)
"""In the text of a value: fields that hold a secret, keys, and signatures in URLs."""


def _short(name: str, value: Any) -> str:
    if isinstance(value, str) and re.fullmatch(_SECRET_NAME, name, re.I):
        return "'…'"
    text = repr(value)
    for pattern, shown in _SECRETS:
        text = pattern.sub(shown, text)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _wrapped(value: Any, wraps: str, module: str, client: Any) -> Any:
    is_map = wraps.startswith("{}")
    name = wraps[2:] if is_map else wraps
    record: type[Record] = getattr(sys.modules[module], name, Record)

    def wrap(value: Any, depth: int) -> Any:
        if isinstance(value, list):
            return [wrap(element, depth) for element in value]
        if not isinstance(value, dict):
            return value
        if depth > 0:
            return {key: wrap(element, depth - 1) for key, element in cast("dict[str, Any]", value).items()}
        return record(cast("dict[str, Any]", value), client)

    return wrap(value, 1 if is_map else 0)


class EventBase(Record):
    """What all events have."""

    __slots__ = ()
    event_id: str
    """Event ID; a delivery can arrive twice, deduplicate by it."""
    timestamp: str
    """Time of the event."""
    organization_id: str
    """Organization ID."""
    entity_type: str
    """Type of the object that the event is about."""
    entity_id: str
    """ID of the object that the event is about."""


class Content(bytes):
    """Bytes with their media type. A notebook shows an image."""

    media_type: str

    def __new__(cls, data: bytes, media_type: str) -> Content:
        content = super().__new__(cls, data)
        content.media_type = media_type
        return content

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the bytes to a file."""
        from pathlib import Path

        target = Path(path)
        part = target.with_name(f".{target.name}.part")
        try:
            part.write_bytes(self)
            part.replace(target)
        except OSError as error:
            part.unlink(missing_ok=True)
            raise DownloadError(disk_error(error, target, target.parent.resolve())) from error
        return target

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        if self.media_type in ("image/png", "image/jpeg"):
            return {self.media_type: bytes(self)}
        if self.media_type == "image/webp":
            from .display import image_html

            return {"text/html": image_html(self)}
        return {"text/plain": f"Content({self.media_type}, {len(self)} bytes)"}

    def __repr__(self) -> str:
        return f"Content({self.media_type}, {len(self)} bytes)"


def _client_of(record: Record, instead: str) -> Client:
    from .client import AsyncClient, Client

    client = record._client  # pyright: ignore[reportPrivateUsage]
    if isinstance(client, Client):
        return client
    if isinstance(client, AsyncClient):
        raise GroundtrackError(f"This record belongs to an AsyncGroundtrack. Use: {instead}")
    raise GroundtrackError("This record was not returned by a client. Get it again with its ID.")


class ItemMethods(Record):
    """What items can do."""

    __slots__ = ()
    if TYPE_CHECKING:
        id: str

    def _item_id(self) -> str:
        """A STAC feature has the ID of its catalogue, and the item's beside it."""
        properties = self._data.get("properties") or {}
        return str(properties.get("svc:item_id") or self._data["id"]) if self._data.get("type") == "Feature" else self.id

    @property
    def __geo_interface__(self) -> dict[str, Any]:
        """The item as a GeoJSON feature, which shapely and geopandas read."""
        data = self._data
        properties = data.get("properties") or {}
        rest = {key: value for key, value in data.items() if key not in ("geometry", "properties", "links", "assets", "bbox", "type")}
        return {"type": "Feature", "id": data["id"], "geometry": data.get("geometry"), "properties": {**rest, **properties}}

    def open(self, asset_key: str = "data") -> rasterio.io.DatasetReader:
        """
        Opens a file of the item as a rasterio dataset, through a signed URL that expires. Requires `groundtrack[geo]`.

        Args:
            asset_key: Asset key, such as `data`, or `red` for an item with a file per band
        """
        from .geo import open_item

        return open_item(_client_of(self, "groundtrack.geo with a Groundtrack"), self._item_id(), asset_key)

    def download(self, path: str | os.PathLike[str], asset_key: str = "data", progress: bool | Callable[[int, int | None], None] = False) -> Path:
        """Downloads a file of the item; see `Groundtrack.download`."""
        from .transfer import download

        client = _client_of(self, "await gt.download(item_id=…, path=…)")
        return client.run(download(client, self._item_id(), path, asset_key=asset_key, progress=progress))

    def map(self, **style: str) -> Any:
        """A folium map of the item. Requires `groundtrack[geo]`. `style` is that of the tiles, such as `profile` or `expression`."""
        from .maps import item_map

        return item_map(_client_of(self, "a Groundtrack for maps"), self._item_id(), style)

    def _repr_html_(self) -> str:
        from .display import item_html

        return item_html(self)


class CollectionMethods(Record):
    """What collections can do."""

    __slots__ = ()
    if TYPE_CHECKING:
        id: str

    def map(self, **style: str) -> Any:
        """A folium map of the collection as one layer. Requires `groundtrack[geo]`."""
        from .maps import collection_map

        return collection_map(_client_of(self, "a Groundtrack for maps"), self.id, style)


class OrderMethods(Record):
    """What orders can do."""

    __slots__ = ()
    if TYPE_CHECKING:
        id: str

    def wait(self, timeout: float = 3600, progress: bool | Callable[[Order], None] = False) -> Order:
        """Waits until the order has succeeded or failed, and returns it; check its `status`."""
        from .wait import wait_for_order

        client = _client_of(self, "await gt.wait(order=order.id)")
        return client.run(wait_for_order(client, self.id, timeout, progress))

    def _repr_html_(self) -> str:
        from .display import order_html

        return order_html(self)


class JobMethods(Record):
    """What processing jobs can do."""

    __slots__ = ()
    if TYPE_CHECKING:
        id: str

    def wait(self, timeout: float = 3600, progress: bool | Callable[[ProcessingJob], None] = False) -> ProcessingJob:
        """Waits until the job has succeeded or failed, and returns it; check its `status`."""
        from .wait import wait_for_job

        client = _client_of(self, "await gt.wait(job=job.id)")
        return client.run(wait_for_job(client, self.id, timeout, progress))

    def _repr_html_(self) -> str:
        from .display import job_html

        return job_html(self)


class UploadMethods(Record):
    """What upload sessions can do."""

    __slots__ = ()
    if TYPE_CHECKING:
        id: str

    def wait(self, timeout: float = 3600, progress: bool | Callable[[Upload], None] = False) -> Upload:
        """Waits until every file was converted or has failed, and returns the session; check its `files`."""
        from .wait import wait_for_upload

        client = _client_of(self, "await gt.wait(upload=upload.id)")
        return client.run(wait_for_upload(client, self.id, timeout, progress))
