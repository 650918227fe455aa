"""The peers of `bench/processes.ts` that GDAL has no command for, by numpy; all write a COG as GDAL's driver does."""

import sys
import warnings

import numpy as np
from osgeo import gdal

warnings.simplefilter("ignore")
gdal.UseExceptions()
name, out, *paths = sys.argv[1:]


def write(path, planes, like, transform, nodata, level, resampling="AVERAGE"):
    kind = {"float32": gdal.GDT_Float32, "uint16": gdal.GDT_UInt16, "uint8": gdal.GDT_Byte}[planes.dtype.name]
    memory = gdal.GetDriverByName("MEM").Create("", planes.shape[2], planes.shape[1], planes.shape[0], kind)
    memory.SetGeoTransform(transform)
    memory.SetProjection(like.GetProjection())
    for index, plane in enumerate(planes):
        memory.GetRasterBand(index + 1).WriteArray(plane)
        memory.GetRasterBand(index + 1).SetNoDataValue(nodata)
    options = [
        "COMPRESS=ZSTD",
        f"LEVEL={level}",
        "PREDICTOR=YES",
        "BLOCKSIZE=256",
        f"OVERVIEW_RESAMPLING={resampling}",
        "NUM_THREADS=ALL_CPUS",
    ]
    gdal.GetDriverByName("COG").CreateCopy(path, memory, options=options)


def stacked():
    """All scenes on the grid that covers them, with the grid's place."""
    opened = [gdal.Open(path) for path in paths]
    places = [one.GetGeoTransform() for one in opened]
    size = places[0][1]
    left, top = min(p[0] for p in places), max(p[3] for p in places)
    width = round((max(p[0] + size * d.RasterXSize for p, d in zip(places, opened)) - left) / size)
    height = round((top - min(p[3] - size * d.RasterYSize for p, d in zip(places, opened))) / size)
    stack = np.zeros((len(opened), opened[0].RasterCount, height, width), np.uint16)
    for index, (one, place) in enumerate(zip(opened, places)):
        x, y = round((place[0] - left) / size), round((top - place[3]) / size)
        stack[index, :, y : y + one.RasterYSize, x : x + one.RasterXSize] = one.ReadAsArray()
    return opened[0], stack, (left, size, 0, top, 0, -size)


def ndvi(planes):
    p = planes.astype(np.float32)
    with np.errstate(all="ignore"):
        v = (p[3] - p[2]) / (p[3] + p[2])
    v[(planes[3] == 0) | (planes[2] == 0)] = np.nan
    return v


if name == "ndvi":
    raster = gdal.Open(paths[0])
    write(out, ndvi(raster.ReadAsArray())[None], raster, raster.GetGeoTransform(), np.nan, 3)
elif name in ("median", "mean", "max"):
    like, stack, place = stacked()
    values = stack.astype(np.float32)
    for scene in values:
        scene[:, (scene == 0).all(axis=0)] = np.nan
    found = {"median": np.nanmedian, "mean": np.nanmean, "max": np.nanmax}[name](values, axis=0)
    write(out, found.astype(np.float32), like, place, np.nan, 3)
elif name.startswith("mosaic"):
    like, stack, place = stacked()
    valid = (stack != 0).any(axis=1)
    score = stack.sum(axis=1, dtype=np.float32)
    score[~valid] = np.nan
    if name == "mosaic-first":
        chosen = valid.argmax(axis=0)
    elif name == "mosaic-brightest":
        chosen = np.where(valid, score, -1).argmax(axis=0)
    else:
        chosen = np.where(valid, -np.abs(score - np.nanmedian(score, axis=0)), -1e9).argmax(axis=0)
    pixels = np.take_along_axis(stack, chosen[None, None], axis=0)[0]
    write(out, pixels, like, place, 0, 1)
    numbers = np.where(valid.any(axis=0), chosen + 1, 0).astype(np.uint16)
    write(out.replace(".tif", "-index.tif"), numbers[None], like, place, 0, 6, "MODE")
elif name == "clouds":
    raster = gdal.Open(paths[0])
    samples = raster.ReadAsArray()
    blue, green, red, nir = samples.astype(np.float32) * 1e-4
    mean = (blue + green + red) / 3
    white = (np.abs(blue - mean) + np.abs(green - mean) + np.abs(red - mean)) / mean
    bright = (blue > 0.24) & (white < 0.7) & (blue - 0.5 * red - 0.08 > 0)
    cloudy = (bright & ~((nir - red) / (nir + red) > 0.7)).astype(np.uint8)
    missing = (samples == 0).any(axis=0)
    cloudy[missing] = 0
    around = np.pad(cloudy, 1)
    height, width = cloudy.shape
    count = sum(around[y : y + height, x : x + width] for y in range(3) for x in range(3))
    found = np.where(missing, 255, count >= 4).astype(np.uint8)
    write(out, found[None], raster, raster.GetGeoTransform(), 255, 6, "MODE")
elif name == "change":
    like, stack, place = stacked()
    difference = ndvi(stack[1]) - ndvi(stack[0])
    write(out, difference[None].astype(np.float32), like, place, np.nan, 3)
    classes = np.where(np.isnan(difference), 0, np.where(difference <= -0.1, 1, np.where(difference >= 0.1, 3, 2))).astype(np.uint8)
    write(out.replace(".tif", "-classes.tif"), classes[None], like, place, 0, 6, "MODE")
