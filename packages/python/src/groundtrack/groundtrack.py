"""The complete clients: every operation as a method, and helpers for tasks that need several calls."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload
from urllib.parse import quote, urlencode

from .generated.operations import AsyncOperations, Operations
from .prices import Price, price_of
from .wait import wait_for_job, wait_for_order, wait_for_upload

if TYPE_CHECKING:
    import os
    from pathlib import Path

    from .generated.events import Event
    from .generated.types import Order, ProcessingJob, Upload
    from .generated.uploads import UploadsCompleteInputPositions
    from .transfer import FileLike, Progress

WAIT_SECONDS = 3600.0
CHUNK_BYTES = 8 * 1024 * 1024


def _target(project_id: str, collection_id: str | None, item_id: str | None, asset_key: str | None, is_categorical: bool) -> dict[str, Any]:
    given = {"target_collection_id": collection_id, "target_item_id": item_id, "asset_key": asset_key, "is_categorical": is_categorical or None}
    return {"project_id": project_id, **{name: value for name, value in given.items() if value is not None}}


def _tile_url(base_url: str, item_id: str, format: str, style: dict[str, str]) -> str:
    query = f"?{urlencode(style)}" if style else ""
    return f"{base_url}/api/v1/items/{quote(item_id, safe='')}/tiles/{{z}}/{{x}}/{{y}}.{format}{query}"


class Groundtrack(Operations):
    """
    The client. Operations are methods: `items.tile.render` is `gt.items.tile.render(…)`.

    Use it as a context manager, or `close()` it, to close its connections. It can be shared by threads.
    """

    def upload(
        self,
        files: FileLike | Sequence[FileLike],
        *,
        project_id: str,
        collection_id: str | None = None,
        item_id: str | None = None,
        asset_key: str | None = None,
        is_categorical: bool = False,
        as_one_item: bool = False,
        positions: Sequence[UploadsCompleteInputPositions] | None = None,
        content_type: str = "image/tiff",
        state_file: str | os.PathLike[str] | None = None,
        progress: Progress = False,
        chunk_bytes: int = CHUNK_BYTES,
    ) -> Upload:
        """
        Uploads files in chunks, directly to the object store, and creates items. `.wait()` on the result waits for the conversion.

        Interrupted transfers resume, and checksums are compared. If the upload fails for good, its session is aborted and nothing is
        kept, unless there is a `state_file`.

        Args:
            files: A path, `(name, bytes)`, or a list of them
            project_id: Project ID
            collection_id: ID of the collection to add the items to
            item_id: ID of an item to add the files to, instead of creating items
            asset_key: Asset key of the files
            is_categorical: Whether pixel values are class codes, which are never rescaled or interpolated
            as_one_item: Whether files with one band each become one item
            positions: Positions of images without a georeference
            content_type: Media type of the files
            state_file: A file in which to keep the state of the upload, so that another call can resume it
            progress: True for a progress bar of tqdm, or a function of the bytes sent and their total
            chunk_bytes: Size of one request; if it is smaller than the default, files of more than 32 MiB are sent in such chunks, too
        """
        from .transfer import upload

        target = _target(project_id, collection_id, item_id, asset_key, is_categorical)
        return self.run(
            upload(
                self,
                files,
                target,
                positions=positions,
                as_one_item=as_one_item,
                content_type=content_type,
                state_file=state_file,
                progress=progress,
                chunk_bytes=chunk_bytes,
            )
        )

    def download(
        self,
        item_id: str,
        path: str | os.PathLike[str],
        *,
        asset_key: str = "data",
        asset_id: str | None = None,
        progress: bool | Callable[[int, int | None], None] = False,
    ) -> Path:
        """
        Downloads an asset to a file, which gets its name only when it is complete and its checksum is right. An interrupted download
        goes on where it stopped, also when it is called again later.

        Args:
            item_id: Item ID
            path: The file to write
            asset_key: Asset key
            asset_id: Asset ID, instead of its key
            progress: True for a progress bar of tqdm, or a function of the bytes received and their total
        """
        from .transfer import download

        return self.run(download(self, item_id, path, asset_key=asset_key, asset_id=asset_id, progress=progress))

    @overload
    def wait(self, *, order: str, timeout: float = ..., progress: bool | Callable[[Order], None] = ...) -> Order: ...
    @overload
    def wait(self, *, job: str, timeout: float = ..., progress: bool | Callable[[ProcessingJob], None] = ...) -> ProcessingJob: ...
    @overload
    def wait(self, *, upload: str, timeout: float = ..., progress: bool | Callable[[Upload], None] = ...) -> Upload: ...
    def wait(
        self, *, order: str | None = None, job: str | None = None, upload: str | None = None, timeout: float = WAIT_SECONDS, progress: Any = False
    ) -> Order | ProcessingJob | Upload:
        """
        Waits until an order, a job or the conversion of an upload has succeeded or failed, and returns it; check its `status`.

        Args:
            order: Order ID
            job: Job ID
            upload: ID of an upload session
            timeout: Seconds after which the wait ends with a `WaitTimeoutError`; the order or job goes on
            progress: True for a progress bar of tqdm, or a function that is called with each new state
        """
        if order is not None:
            return self.run(wait_for_order(self, order, timeout, progress))
        if job is not None:
            return self.run(wait_for_job(self, job, timeout, progress))
        if upload is not None:
            return self.run(wait_for_upload(self, upload, timeout, progress))
        raise TypeError("wait() needs one of order, job and upload")

    def events(self, last_event_id: str | None = None, on_open: Callable[[], None] | None = None) -> Generator[Event, None, None]:
        """
        The organization's events as they happen; the stream reconnects automatically.

        Args:
            last_event_id: Resume after this event; later ones are sent first
            on_open: Called whenever the stream is open
        """
        from .events import events

        return events(self, last_event_id, on_open, self._sleep)

    def price(self, operation: str, **fields: Any) -> Price:
        """The price of a call that spends credits, without making the call: `gt.price("orders.archive.place", captures=[…])`."""
        return self.run(price_of(self, operation, fields))

    def tile_url(self, item_id: str, format: Literal["webp", "png", "jpg"] = "webp", **style: str) -> str:
        """
        The tile URL of an item, with `{z}/{x}/{y}`, for any map library. `key` adds a read-only API key for libraries that cannot send
        headers; everyone who can open the map can read it.
        """
        return _tile_url(self.base_url, item_id, format, style)


class AsyncGroundtrack(AsyncOperations):
    """The client for asyncio and trio. Its methods are those of `Groundtrack`, awaited."""

    async def upload(
        self,
        files: FileLike | Sequence[FileLike],
        *,
        project_id: str,
        collection_id: str | None = None,
        item_id: str | None = None,
        asset_key: str | None = None,
        is_categorical: bool = False,
        as_one_item: bool = False,
        positions: Sequence[UploadsCompleteInputPositions] | None = None,
        content_type: str = "image/tiff",
        state_file: str | os.PathLike[str] | None = None,
        progress: Progress = False,
        chunk_bytes: int = CHUNK_BYTES,
    ) -> Upload:
        """See `Groundtrack.upload`."""
        from .transfer import upload

        target = _target(project_id, collection_id, item_id, asset_key, is_categorical)
        return await self.run(
            upload(
                self,
                files,
                target,
                positions=positions,
                as_one_item=as_one_item,
                content_type=content_type,
                state_file=state_file,
                progress=progress,
                chunk_bytes=chunk_bytes,
            )
        )

    async def download(
        self,
        item_id: str,
        path: str | os.PathLike[str],
        *,
        asset_key: str = "data",
        asset_id: str | None = None,
        progress: bool | Callable[[int, int | None], None] = False,
    ) -> Path:
        """See `Groundtrack.download`."""
        from .transfer import download

        return await self.run(download(self, item_id, path, asset_key=asset_key, asset_id=asset_id, progress=progress))

    @overload
    async def wait(self, *, order: str, timeout: float = ..., progress: bool | Callable[[Order], None] = ...) -> Order: ...
    @overload
    async def wait(self, *, job: str, timeout: float = ..., progress: bool | Callable[[ProcessingJob], None] = ...) -> ProcessingJob: ...
    @overload
    async def wait(self, *, upload: str, timeout: float = ..., progress: bool | Callable[[Upload], None] = ...) -> Upload: ...
    async def wait(
        self, *, order: str | None = None, job: str | None = None, upload: str | None = None, timeout: float = WAIT_SECONDS, progress: Any = False
    ) -> Order | ProcessingJob | Upload:
        """See `Groundtrack.wait`."""
        if order is not None:
            return await self.run(wait_for_order(self, order, timeout, progress))
        if job is not None:
            return await self.run(wait_for_job(self, job, timeout, progress))
        if upload is not None:
            return await self.run(wait_for_upload(self, upload, timeout, progress))
        raise TypeError("wait() needs one of order, job and upload")

    def events(self, last_event_id: str | None = None, on_open: Callable[[], None] | None = None) -> AsyncGenerator[Event, None]:
        """See `Groundtrack.events`."""
        from .events import async_events

        return async_events(self, last_event_id, on_open)

    async def price(self, operation: str, **fields: Any) -> Price:
        """See `Groundtrack.price`."""
        return await self.run(price_of(self, operation, fields))

    def tile_url(self, item_id: str, format: Literal["webp", "png", "jpg"] = "webp", **style: str) -> str:
        """See `Groundtrack.tile_url`."""
        return _tile_url(self.base_url, item_id, format, style)
