"""A raster layer as a GeoTIFF that can be uploaded: its own file where that is one, otherwise a copy."""

from __future__ import annotations

import os
import re
import shutil
import tempfile

from osgeo import gdal, osr
from qgis.core import QgsFeedback, QgsMapLayer, QgsProject, QgsRasterFileWriter, QgsRasterLayer, QgsRasterPipe

from .errors import CanceledError, PluginError, code_of, disk_error
from .geometry import require_crs

_TIFF = (".tif", ".tiff", ".gtiff")


class Exported:
    """The file, and its folder if it is a copy."""

    def __init__(self, path: str, folder: str | None) -> None:
        self.path, self._folder = path, folder

    def discard(self) -> None:
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


def file_name(layer: QgsMapLayer) -> str:
    """The name of the item will be the file's, so it is the layer's."""
    return (re.sub(r"[^\w .,()+-]", "_", layer.name()).strip(" .")[:120] or "layer") + ".tif"


def check(layer: QgsMapLayer | None) -> QgsRasterLayer:
    """Before anything is sent."""
    if layer is None:
        raise PluginError("No layer is selected. Select a raster layer in the Layers panel.")
    if not isinstance(layer, QgsRasterLayer):
        raise PluginError(f"{layer.name()} is not a raster layer. Rasterize it first, or select a raster layer.")
    if not layer.isValid() or layer.dataProvider() is None:
        raise PluginError(f"{layer.name()} cannot be read. Repair its data source first.")
    if layer.providerType() != "gdal":
        raise PluginError(f"{layer.name()} is an online map, not a file. Save it as a GeoTIFF first, under Layer > Save As.")
    require_crs(layer)
    return layer


class Plan:
    """What is needed to write a layer on another thread, where the layer itself must not be touched. Made in the main thread."""

    def __init__(self, layer: QgsMapLayer | None) -> None:
        checked = check(layer)
        self.title, self.file_name, self.source = checked.name(), file_name(checked), checked.source().split("|")[0]
        self.crs, self.extent = checked.crs(), checked.extent()
        self.width, self.height = checked.width(), checked.height()
        self.provider = checked.dataProvider().clone()
        self.context = QgsProject.instance().transformContext()

    def export(self, feedback: QgsFeedback) -> Exported:
        dataset = gdal.Open(self.source) if os.path.isfile(self.source) else None
        if dataset is not None and self.source.lower().endswith(_TIFF) and self._has_same_crs(dataset):
            return Exported(self.source, None)
        del dataset
        folder = tempfile.mkdtemp(prefix="groundtrack-upload-")
        exported = Exported(os.path.join(folder, self.file_name), folder)
        try:
            self._require_space(folder)
            self._write(exported.path, feedback)
        except BaseException as error:
            exported.discard()
            if isinstance(error, OSError):
                raise disk_error(error, folder) from error
            raise
        return exported

    def _has_same_crs(self, dataset: gdal.Dataset) -> bool:
        """A user may have set another CRS in QGIS than the file states, or the only one."""
        stated = dataset.GetSpatialRef()
        if stated is None:
            return False
        chosen = osr.SpatialReference()
        chosen.ImportFromWkt(self.crs.toWkt())
        return bool(stated.IsSame(chosen, ["IGNORE_DATA_AXIS_TO_SRS_AXIS_MAPPING=YES"]))

    def _require_space(self, folder: str) -> None:
        bands = range(1, self.provider.bandCount() + 1)
        needed = self.width * self.height * sum(self.provider.dataTypeSize(band) for band in bands)
        free = shutil.disk_usage(folder).free
        if needed > free:
            raise PluginError(
                f"The disk of {folder} is full: the copy of {self.title} needs {needed / 1e6:.0f} MB, and {free / 1e6:.0f} MB are free."
            )

    def _write(self, path: str, feedback: QgsFeedback) -> None:
        pipe = QgsRasterPipe()
        if not pipe.set(self.provider.clone()):
            raise PluginError(f"{self.title} cannot be read. Repair its data source first.")
        writer = QgsRasterFileWriter(path)
        writer.setOutputFormat("GTiff")
        writer.setCreateOptions(["COMPRESS=DEFLATE", "TILED=YES", "BIGTIFF=IF_SAFER"])
        code = writer.writeRaster(pipe, self.width, self.height, self.extent, self.crs, self.context)
        if feedback.isCanceled():
            raise CanceledError
        if code_of(code) != 0:
            raise PluginError(f"The copy of {self.title} cannot be written to {os.path.dirname(path)}. Check that the disk is not full.")
