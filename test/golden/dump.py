#!/usr/bin/env python3
"""What GDAL reads in a raster: a description and the samples of every level.

Run: /usr/bin/python3 test/golden/dump.py FILE... ; writes FILE.json and FILE.bin beside each, or into --out DIR.
The .bin holds, for each level, all bands one after the other in little-endian order, then one mask byte
a pixel (255 = data) of the first band.
"""
import json, math, os, sys
import numpy as np
from osgeo import gdal

gdal.UseExceptions()

TYPES = {gdal.GDT_Byte: 'uint8', gdal.GDT_UInt16: 'uint16', gdal.GDT_Int16: 'int16', gdal.GDT_UInt32: 'uint32', gdal.GDT_Int32: 'int32',
         gdal.GDT_UInt64: 'uint64', gdal.GDT_Int64: 'int64', gdal.GDT_Float32: 'float32', gdal.GDT_Float64: 'float64',
         # Complex samples are read as their magnitude.
         gdal.GDT_CInt16: 'float32', gdal.GDT_CFloat32: 'float32', gdal.GDT_CInt32: 'float64', gdal.GDT_CFloat64: 'float64'}

def number(value):
    return str(value) if value is not None and isinstance(value, float) and not math.isfinite(value) else value

def describe(ds):
    band = ds.GetRasterBand(1)
    structure = band.GetMetadata('IMAGE_STRUCTURE')
    kind = TYPES[band.DataType]
    if structure.get('PIXELTYPE') == 'SIGNEDBYTE':
        kind = 'int8'
    table = band.GetRasterColorTable()
    srs = ds.GetSpatialRef() or ds.GetGCPSpatialRef()
    bands = [ds.GetRasterBand(i + 1) for i in range(ds.RasterCount)]
    return {
        'width': ds.RasterXSize, 'height': ds.RasterYSize, 'bandCount': ds.RasterCount, 'dataType': kind,
        'nbits': int(structure.get('NBITS', 0)) or None,
        'levels': [[ds.RasterXSize, ds.RasterYSize]] + [[band.GetOverview(i).XSize, band.GetOverview(i).YSize] for i in range(band.GetOverviewCount())],
        'transform': ds.GetGeoTransform(can_return_null=True),
        'gcpCount': ds.GetGCPCount(),
        'gcpTransform': gdal.GCPsToGeoTransform(ds.GetGCPs(), 1) if ds.GetGCPCount() else None,
        'nodata': number(band.GetNoDataValue()),
        'epsg': int(srs.GetAuthorityCode(None)) if srs and srs.GetAuthorityCode(None) else None,
        'scales': [1 if b.GetScale() is None else b.GetScale() for b in bands],
        'offsets': [0 if b.GetOffset() is None else b.GetOffset() for b in bands],
        'names': [b.GetDescription() or None for b in bands],
        'units': [b.GetUnitType() or None for b in bands],
        'colors': [gdal.GetColorInterpretationName(b.GetColorInterpretation()).lower() for b in bands],
        'maskFlags': band.GetMaskFlags(),
        'colorTable': [list(table.GetColorEntry(i)) for i in range(table.GetCount())] if table else None,
    }

def samples(band, kind):
    array = band.ReadAsArray()
    if np.iscomplexobj(array):
        return np.sqrt(array.real.astype(np.float64) ** 2 + array.imag.astype(np.float64) ** 2).astype(kind)
    return array.view(np.int8) if kind == 'int8' else array

def dump(ds):
    info = describe(ds)
    out = bytearray()
    first = ds.GetRasterBand(1)
    for level in range(len(info['levels'])):
        pick = (lambda b: b) if level == 0 else (lambda b: b.GetOverview(level - 1))
        for i in range(ds.RasterCount):
            out += samples(pick(ds.GetRasterBand(i + 1)), info['dataType']).astype(samples(pick(ds.GetRasterBand(i + 1)), info['dataType']).dtype.newbyteorder('<')).tobytes()
        out += pick(first).GetMaskBand().ReadAsArray().astype(np.uint8).tobytes()
    return info, bytes(out)

if __name__ == '__main__':
    args = sys.argv[1:]
    target = None
    if args and args[0] == '--out':
        target, args = args[1], args[2:]
    for path in args:
        info, data = dump(gdal.Open(path))
        base = os.path.join(target, os.path.basename(path)) if target else path
        with open(base + '.json', 'w') as f:
            json.dump(info, f)
        with open(base + '.bin', 'wb') as f:
            f.write(data)
