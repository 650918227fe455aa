"""
Imagery in Python's geospatial packages: shapely, geopandas, rasterio, xarray and pandas. Requires `pip install 'groundtrack[geo]'`.

Geometries, GeoDataFrames and items can be passed to every operation as they are: whatever has `__geo_interface__` is sent as GeoJSON.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from .client import Client
from .errors import GroundtrackError, MissingExtraError
from .geojson import GeoInterface, GeometryInput
from .records import Record

if TYPE_CHECKING:
    import geopandas
    import pandas
    import rasterio.io
    import shapely.geometry.base
    import xarray

# Each file is opened by its URL alone: GDAL need not look for others beside it.
_GDAL = {"GDAL_DISABLE_READDIR_ON_OPEN": "EMPTY_DIR", "VSI_CACHE": True}


def shape(geometry: Mapping[str, Any] | GeoInterface) -> shapely.geometry.base.BaseGeometry:
    """A shapely geometry of GeoJSON, or of an item's footprint."""
    try:
        from shapely.geometry import shape as to_shape
    except ImportError:
        raise MissingExtraError("shapely") from None
    geojson: Any = getattr(geometry, "__geo_interface__", geometry)
    return to_shape(geojson["geometry"] if geojson.get("type") == "Feature" else geojson)


def to_geodataframe(items: Iterable[Any]) -> geopandas.GeoDataFrame:
    """A row for each item or scene of a list or search, with its footprint: `to_geodataframe(gt.items.search(project_id=…))`."""
    try:
        import geopandas
    except ImportError:
        raise MissingExtraError("geopandas") from None
    features = [_feature(item) for item in items]
    frame: Any = geopandas.GeoDataFrame.from_features(features, columns=None if features else ["geometry"], crs="EPSG:4326")
    frame.insert(0, "id", [feature["id"] for feature in features])
    for name in ("datetime", "start_datetime", "end_datetime", "created_at", "updated_at"):
        if name in frame:
            import pandas

            frame[name] = pandas.to_datetime(frame[name], utc=True, format="ISO8601")
    return cast("geopandas.GeoDataFrame", frame)


def _feature(item: Any) -> dict[str, Any]:
    geojson = getattr(item, "__geo_interface__", None)
    data: dict[str, Any] = geojson if geojson is not None else item.to_dict() if isinstance(item, Record) else dict(item)
    properties = {name: value for name, value in (data.get("properties") or {}).items() if name != "id"}
    return {"type": "Feature", "id": data.get("id"), "geometry": data.get("geometry"), "properties": properties}


def signed_url(client: Client, item_id: str, asset_key: str = "data") -> str:
    """A URL from which anyone can read the file until it expires."""
    from .transfer import _asset_of  # pyright: ignore[reportPrivateUsage]

    asset_id = client.run(_asset_of(client, item_id, asset_key))
    return str(client.call("items.asset.download", {"item_id": item_id, "asset_id": asset_id}, repeat="read")["url"])


def open_item(client: Client, item_id: str, asset_key: str = "data") -> rasterio.io.DatasetReader:
    """A file of an item as a rasterio dataset. Close it, or use it as a context manager."""
    try:
        import rasterio
    except ImportError:
        raise MissingExtraError("rasterio") from None
    with rasterio.Env(**_GDAL):
        dataset: Any = rasterio.open(signed_url(client, item_id, asset_key))
    dataset.__class__ = _unsigned(type(dataset), f"<open file {asset_key!r} of item {item_id}>")
    return cast("rasterio.io.DatasetReader", dataset)


def _unsigned(kind: type[Any], text: str) -> type[Any]:
    """A dataset whose text does not show its signed URL, because a notebook saves what it shows."""
    return type(kind.__name__, (kind,), {"__repr__": lambda self: text})


def to_xarray(
    client: Client,
    items: Iterable[Any],
    bands: Sequence[str] | None = None,
    bbox: Sequence[float] | None = None,
    resolution: float | None = None,
    *,
    crs: str | int | None = None,
    is_masked: bool = True,
    chunks: Mapping[str, int] | None = None,
    **options: Any,
) -> xarray.Dataset:
    """
    Items as one xarray dataset with the dimensions time, y and x, read lazily by dask when its values are needed. The signed URLs of the
    files expire, so compute it soon after.

    Args:
        client: A `Groundtrack`
        items: Items, or their IDs
        bands: Names of bands; all by default
        bbox: West, south, east, north in degrees; everything by default
        resolution: Pixel size in units of `crs`; that of the files by default
        crs: Coordinate system; that of the first file by default
        is_masked: Whether values become 32-bit floats with NaN where there is no data, so that arithmetic is safe; otherwise they stay as
            they are in the files
        chunks: Size of dask's chunks, for example `{"x": 1024, "y": 1024}`
        options: Further arguments of `odc.stac.load`, such as `resampling` or `groupby`
    """
    try:
        import odc.stac
        import pystac
        import rasterio
    except ImportError:
        raise MissingExtraError("odc-stac") from None
    ids = [item if isinstance(item, str) else str(item["id"]) for item in items]
    if not ids:
        raise GroundtrackError("There are no items to read. Pass at least one.")
    found = [_stac_item(client, id) for id in ids]
    if crs is None or resolution is None:
        first = next(iter(found[0]["assets"].values()))
        with rasterio.Env(**_GDAL), rasterio.open(first["href"]) as dataset:
            source: Any = dataset
            crs = crs or str(source.crs)
            resolution = resolution if resolution is not None else float(source.res[0])
    loaded: Any = odc.stac.load(
        [pystac.Item.from_dict(item) for item in found],
        bands=None if bands is None else list(bands),
        bbox=None if bbox is None else tuple(bbox),
        crs=crs,
        resolution=resolution,
        chunks=dict(chunks) if chunks is not None else {"x": 2048, "y": 2048},
        **options,
    )
    return cast("xarray.Dataset", loaded.map(_masked) if is_masked else loaded)


def _masked(band: Any) -> Any:
    values = band.astype("float32")
    nodata = band.attrs.get("nodata")
    return values if nodata is None else values.where(band != nodata)


def _stac_item(client: Client, item_id: str) -> dict[str, Any]:
    """The STAC item with the URLs of its rasters signed, and its bands named as the service names them."""
    item: dict[str, Any] = client.call("items.get_stac", {"item_id": item_id}, repeat="read")
    item["links"] = []
    assets: dict[str, Any] = {}
    for asset in client.call("items.list_assets", {"item_id": item_id}, repeat="read"):
        if asset["key"] not in item["assets"] or "tiff" not in (asset["media_type"] or ""):
            continue
        signed = client.call("items.asset.download", {"item_id": item_id, "asset_id": asset["id"]}, repeat="read")
        names = asset["band_names"] or []
        bands = {"eo:bands": [{"name": name} for name in names]} if len(names) > 1 else {}
        assets[asset["key"]] = {**item["assets"][asset["key"]], "href": signed["url"], **bands}
    if not assets:
        raise GroundtrackError(f"The item {item_id} has no raster.")
    return {**item, "assets": assets}


def zonal_statistics(
    client: Client, item_id: str, zones: GeometryInput, *, statistics: Sequence[str] | None = None, **params: Any
) -> pandas.DataFrame:
    """
    Statistics of a raster in zones, one row per zone and band: the zone's ID and properties, then the statistics.

    Args:
        client: A `Groundtrack`
        item_id: Item ID
        zones: A GeoDataFrame, a FeatureCollection or one geometry
        statistics: Statistics to compute, such as `mean` and `std`
        params: Further parameters of the method `zonal_stats`, such as `index_name`, `bands` or `percentiles`
    """
    geojson: Any = getattr(zones, "__geo_interface__", zones)
    area = {"zones": zones} if geojson.get("type") == "FeatureCollection" else {"geometry": zones}
    given = {"item_id": item_id, **area, **({} if statistics is None else {"statistics": list(statistics)}), **params}
    answer = client.call("analytics.execute", {"operation": "zonal_stats", "params": given})
    rows = [
        {"zone": zone["id"], **(zone["properties"] or {}), **_statistics(result)} for zone in answer["result"]["zones"] for result in zone["results"]
    ]
    return _frame(rows)


def time_series(
    client: Client,
    geometry: GeometryInput,
    *,
    collection_id: str | None = None,
    item_ids: Sequence[str] | None = None,
    statistics: Sequence[str] | None = None,
    **params: Any,
) -> pandas.DataFrame:
    """
    Statistics of an area over time, one row per scene and band, indexed by the time of acquisition.

    Args:
        client: A `Groundtrack`
        geometry: The area
        collection_id: ID of the collection to analyse
        item_ids: IDs of the items to analyse, instead of a collection
        statistics: Statistics to compute, such as `mean` and `std`
        params: Further parameters of the method `time_series`, such as `index_name` or `datetime`
    """
    given: dict[str, Any] = {"geometry": geometry, **params}
    if collection_id is not None:
        given["collection_id"] = collection_id
    if item_ids is not None:
        given["item_ids"] = list(item_ids)
    if statistics is not None:
        given["statistics"] = list(statistics)
    answer = client.call("analytics.execute", {"operation": "time_series", "params": given})
    rows = [{"datetime": point["datetime"], "item_id": point["item_id"], **_statistics(point)} for point in answer["result"]["points"]]
    frame = _frame(rows)
    if rows:
        import pandas

        frame["datetime"] = pandas.to_datetime(frame["datetime"], utc=True, format="ISO8601")
        frame = frame.set_index("datetime").sort_index()
    return frame


def _statistics(result: Mapping[str, Any]) -> dict[str, Any]:
    own = {name: value for name, value in result.items() if name not in ("percentiles", "item_id", "datetime")}
    return {**own, **{f"p{each['percentile']:g}": each["value"] for each in result.get("percentiles") or ()}}


def _frame(rows: list[dict[str, Any]]) -> pandas.DataFrame:
    try:
        import pandas
    except ImportError:
        raise MissingExtraError("pandas") from None
    return pandas.DataFrame(rows)
