"""Draws rasters as other programs do when nobody tells them how. Started by bench/colours.ts, once for each program.

    colours-peer.py rio-tiler|qgis SIDE_PX FOLDER FILE...

Each picture becomes FOLDER/<name of the file>.png; what cannot be drawn is said on standard error and has none.
"""
import os
import sys
import warnings

program, side, folder, *files = sys.argv[1:]
side = int(side)


def target(path):
    return os.path.join(folder, os.path.basename(path) + ".png")


def with_rio_tiler():
    from rio_tiler.io import Reader

    warnings.simplefilter("ignore")
    for path in files:
        try:
            with Reader(path) as source:
                image = source.preview(max_size=side)
                picture = image.render(img_format="PNG", colormap=source.colormap)
            with open(target(path), "wb") as out:
                out.write(picture)
        except Exception as error:
            print(f"{os.path.basename(path)}: {error}", file=sys.stderr)


def with_qgis():
    from qgis.core import QgsApplication, QgsMapRendererSequentialJob, QgsMapSettings, QgsRasterLayer
    from qgis.PyQt.QtCore import QSize, Qt
    from qgis.PyQt.QtGui import QColor, QImage

    application = QgsApplication([], True)
    application.initQgis()
    for path in files:
        layer = QgsRasterLayer(path, "layer")
        if not layer.isValid():
            print(f"{os.path.basename(path)}: QGIS does not open it", file=sys.stderr)
            continue
        scale = side / max(layer.width(), layer.height())
        settings = QgsMapSettings()
        settings.setLayers([layer])
        settings.setDestinationCrs(layer.crs())
        settings.setExtent(layer.extent())
        settings.setOutputSize(QSize(max(1, round(layer.width() * scale)), max(1, round(layer.height() * scale))))
        settings.setOutputImageFormat(QImage.Format_ARGB32)
        settings.setBackgroundColor(QColor(Qt.transparent))
        job = QgsMapRendererSequentialJob(settings)
        job.start()
        job.waitForFinished()
        job.renderedImage().save(target(path))
    sys.stderr.flush()
    os._exit(0)  # QGIS without a window does not always end well.


with_rio_tiler() if program == "rio-tiler" else with_qgis()
