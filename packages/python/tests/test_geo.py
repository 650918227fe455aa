"""Goal: imagery arrives in shapely, geopandas, rasterio, xarray, pandas and folium as the service has it, and no credential is kept."""

from __future__ import annotations

import re
from typing import Any

import pytest
from conftest import URL
from groundtrack import GroundtrackError, geo
from groundtrack.types import Order

geopandas = pytest.importorskip("geopandas")
import numpy  # noqa: E402
import shapely  # noqa: E402


@pytest.fixture(scope="module")
def square(demo: Any) -> Any:
    west, south, east, north = demo.item.bbox
    x, y = (west + east) / 2, (south + north) / 2
    return shapely.box(x - 0.005, y - 0.005, x + 0.005, y + 0.005)


def test_geometries_go_in_and_come_out(demo: Any, square: Any) -> None:
    found = demo.gt.items.search(project_id=demo.project_id, bbox=square.bounds).all()
    assert demo.item.id in [feature.id for feature in found]
    assert geo.shape(demo.item).intersects(square) and geo.shape(demo.item.geometry).equals(geo.shape(found[0]) if found[0].id == demo.item.id else geo.shape(demo.item))
    created = demo.gt.items.create(project_id=demo.project_id, type="external_reference", name="A square", datetime="2025-01-01T00:00:00Z", geometry=square)
    assert geo.shape(created).equals(square)
    demo.gt.items.delete(item_id=created.id)


def test_searches_become_geodataframes(demo: Any) -> None:
    frame = geo.to_geodataframe(demo.gt.items.search(project_id=demo.project_id))
    assert frame.crs == "EPSG:4326" and demo.item.id in set(frame["id"])
    row = frame[frame["id"] == demo.item.id].iloc[0]
    assert row.geometry.equals(geo.shape(demo.item)) and str(row["datetime"].date()) == "2025-06-12"
    scenes = geo.to_geodataframe(demo.gt.catalog.search(host_name="sandbox-hr", bbox=[2.2, 48.1, 2.4, 48.3], limit=5).fetch().features)
    assert len(scenes) == 5 and "creditsPerSqKm" in scenes
    assert len(geo.to_geodataframe([])) == 0


def test_items_open_in_rasterio(demo: Any) -> None:
    with demo.item.open() as dataset:
        assert repr(dataset) == f"<open file 'data' of item {demo.item.id}>", "not the signed URL, which a notebook would save"
        assert dataset.count == 12 and dataset.crs is not None
        assert dataset.read(1, window=((0, 8), (0, 8))).shape == (8, 8)
    with pytest.raises(GroundtrackError, match="has no asset 'red'"):
        demo.item.open("red")


def test_items_become_a_lazy_dataset_of_xarray(demo: Any, square: Any) -> None:
    items = demo.gt.items.list_by_collection(collection_id=demo.collection.id).all()
    assert len(items) == 3
    cube = geo.to_xarray(demo.gt, items, ["red", "nir"], square.bounds)
    assert dict(cube.sizes)["time"] == 3 and set(cube.data_vars) == {"red", "nir"}
    assert cube.red.chunks is not None, "nothing is read yet"
    assert cube.red.dtype == "float32" and geo.to_xarray(demo.gt, items, ["red"], square.bounds, is_masked=False).red.dtype == "uint16"
    ndvi = ((cube.nir - cube.red) / (cube.nir + cube.red)).mean(("x", "y")).compute()
    series = geo.time_series(demo.gt, square, collection_id=demo.collection.id, index_name="ndvi", statistics=["mean"])
    assert list(series.index.month) == [2, 6, 10]
    assert numpy.allclose(ndvi.values, series["mean"].values, atol=0.02), (ndvi.values, series["mean"].values)
    coarse = geo.to_xarray(demo.gt, [demo.item.id], ["red"], square.bounds, 40)
    assert coarse.sizes["x"] == pytest.approx(cube.sizes["x"] / 4, abs=2)


def test_zonal_statistics_become_a_dataframe(demo: Any, square: Any) -> None:
    zones = geopandas.GeoDataFrame({"crop": ["wheat", "rye"]}, geometry=[square, shapely.affinity.translate(square, 0.012)], crs="EPSG:4326")
    frame = geo.zonal_statistics(demo.gt, demo.item.id, zones, statistics=["mean", "count"], index_name="ndvi", percentiles=[50])
    assert list(frame["crop"]) == ["wheat", "rye"] and {"zone", "mean", "count", "p50", "valid_fraction"} <= set(frame)
    single = geo.zonal_statistics(demo.gt, demo.item.id, square, statistics=["mean"], index_name="ndvi")
    assert single["mean"][0] == pytest.approx(frame["mean"][0])


CREDENTIALS = re.compile(r"svc_|key=|Bearer|signature|X-Amz|eyJ[\w-]+\.")


def test_notebooks_show_images_and_no_credential(demo: Any) -> None:
    shown = demo.item._repr_html_()
    assert shown.count("data:image/png;base64,") >= 1 and demo.item.name in shown
    for html in (shown, demo.item.map().get_root().render(), demo.item.map(profile="ndvi").get_root().render(), demo.collection.map().get_root().render()):
        assert "data:image/png;base64," in html
        text = re.sub(r"base64,[A-Za-z0-9+/=]+", "", html)
        assert URL not in text and not CREDENTIALS.search(text)
    order = Order({"id": "1", "status": "fulfilled", "totalCredits": 12, "itemIds": [demo.item.id]}, demo.gt)._repr_html_()
    assert "fulfilled" in order and "data:image/png;base64," in order
    job = demo.gt.processing.jobs.list().first()
    assert job is not None and job.status in job._repr_html_() and "data:image/png;base64," in job._repr_html_()


def test_records_of_the_async_client_say_what_to_use(demo: Any) -> None:
    from groundtrack import AsyncGroundtrack
    from groundtrack.types import Item

    client = AsyncGroundtrack(URL, "svc_x")
    with pytest.raises(GroundtrackError, match=r"Use: await gt\.wait\(order=order\.id\)"):
        Order({"id": "1"}, client).wait()
    assert "Lake" in Item({**demo.item.to_dict(), "name": "<Lake>"}, client)._repr_html_()
    assert "<Lake>" not in Item({**demo.item.to_dict(), "name": "<Lake>"}, client)._repr_html_()


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch, demo: Any) -> None:
    import sys

    for name in ("rasterio", "folium", "shapely.geometry", "pandas", "geopandas", "odc.stac"):
        monkeypatch.setitem(sys.modules, name, None)
    for use in (demo.item.open, demo.item.map, lambda: geo.shape(demo.item), lambda: geo.to_geodataframe([]), lambda: geo.to_xarray(demo.gt, [demo.item])):
        with pytest.raises(GroundtrackError, match=r"is not installed. Install it with: pip install 'groundtrack\[geo\]'"):
            use()
