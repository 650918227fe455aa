#!/usr/bin/env python3
"""Makes the golden rasters with GDAL: every codec x layout x data type that it can write, and every kind
of georeference, mask, palette and metadata that the reader understands.

Needs: apt-get install gdal-bin python3-gdal python3-numpy. Run: /usr/bin/python3 test/golden/make.py [DIR]
DIR is test/golden/raster by default. Writes NAME.tif files, index.json with what GDAL says about each, and
samples/HASH.gz with what GDAL reads; files with the same samples share one.
"""
import gzip, hashlib, itertools, json, os, shutil, sys
import numpy as np
from osgeo import gdal, osr
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import dump

gdal.UseExceptions()
gdal.SetConfigOption('GDAL_PAM_ENABLED', 'NO')
gdal.PushErrorHandler('CPLQuietErrorHandler')
OUT = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), 'raster')
shutil.rmtree(OUT, ignore_errors=True)
os.makedirs(os.path.join(OUT, 'samples'))
DRIVER = gdal.GetDriverByName('GTiff')
W, H = 26, 19
index = {}

GDT = {'uint8': gdal.GDT_Byte, 'int8': gdal.GDT_Byte, 'uint16': gdal.GDT_UInt16, 'int16': gdal.GDT_Int16, 'uint32': gdal.GDT_UInt32, 'int32': gdal.GDT_Int32,
       'uint64': gdal.GDT_UInt64, 'int64': gdal.GDT_Int64, 'float32': gdal.GDT_Float32, 'float64': gdal.GDT_Float64}

def image(kind, bands, width=W, height=H, seed=1):
    """Smooth waves with a little noise, over most of the range of the type; deterministic."""
    y, x = np.mgrid[0:height, 0:width]
    noise = np.random.RandomState(seed)
    planes = []
    for band in range(bands):
        wave = np.sin(x / (3.0 + band) + y / 7.0) * 0.45 + 0.5 + noise.rand(height, width) * 0.04
        wave = np.round(np.clip(wave, 0, 1) * 120) / 120
        if kind.startswith('float'):
            planes.append((wave * 2000 - 700).astype(kind))
        else:
            info = np.iinfo(kind)
            span = {'uint8': 250, 'int8': 250, 'uint16': 60000, 'int16': 60000}.get(kind, 10 ** 9 if info.bits == 32 else 10 ** 12)
            low = info.min + 3 if info.bits <= 16 else (0 if kind.startswith('u') else -span // 2)
            plane = (np.floor(wave * span).astype(np.int64) + low).astype(kind)
            if info.bits == 64:
                plane[0, 0] = info.max
                plane[0, 1] = info.min
            planes.append(plane)
    return np.stack(planes)

def create(name, array, kind, options, path=None):
    bands, height, width = array.shape
    path = path or os.path.join(OUT, name + '.tif')
    extra = ['PIXELTYPE=SIGNEDBYTE'] if kind == 'int8' else []
    ds = DRIVER.Create(path, width, height, bands, GDT[kind], options + extra)
    stored = array.view(np.uint8) if kind == 'int8' else array
    for band in range(bands):
        ds.GetRasterBand(band + 1).WriteArray(stored[band])
    return ds

def finish(name, ds=None):
    ds = None
    source = gdal.Open(os.path.join(OUT, name + '.tif'))
    info, data = dump.dump(source)
    digest = hashlib.sha256(data).hexdigest()[:16]
    info['samples'] = digest
    target = os.path.join(OUT, 'samples', digest + '.gz')
    if not os.path.exists(target):
        with open(target, 'wb') as f:
            f.write(gzip.compress(data, 9, mtime=0))
    index[name] = info

TILED = ['TILED=YES', 'BLOCKXSIZE=16', 'BLOCKYSIZE=16']
LAYOUTS = {'tile-pixel': TILED + ['INTERLEAVE=PIXEL'], 'tile-band': TILED + ['INTERLEAVE=BAND'],
           'strip-pixel': ['BLOCKYSIZE=8', 'INTERLEAVE=PIXEL'], 'strip-band': ['BLOCKYSIZE=8', 'INTERLEAVE=BAND']}
INTS = ['uint8', 'int8', 'uint16', 'int16', 'uint32', 'int32', 'uint64', 'int64']
FLOATS = ['float32', 'float64']
CODECS = ['NONE', 'PACKBITS', 'LZW', 'DEFLATE', 'ZSTD', 'LERC', 'LERC_DEFLATE', 'LERC_ZSTD']

def plain(name, kind, options, bands=2, array=None):
    ds = create(name, image(kind, bands) if array is None else array, kind, options)
    ds = None
    finish(name)

for codec, (layout, options), kind in itertools.product(CODECS, LAYOUTS.items(), INTS + FLOATS):
    if codec.startswith('LERC') and kind.endswith('int64'):
        continue
    plain(f'{codec.lower()}-{layout}-{kind}', kind, options + [f'COMPRESS={codec}'])

for codec, layout, kind in itertools.product(['LZW', 'DEFLATE', 'ZSTD'], ['tile-pixel', 'strip-band'], INTS + FLOATS):
    for predictor in [2] + ([3] if kind in FLOATS else []):
        plain(f'{codec.lower()}-p{predictor}-{layout}-{kind}', kind, LAYOUTS[layout] + [f'COMPRESS={codec}', f'PREDICTOR={predictor}'])

for codec, predictor, kind in [('NONE', 1, 'uint16'), ('NONE', 1, 'float64'), ('LZW', 2, 'int16'), ('DEFLATE', 2, 'uint32'), ('DEFLATE', 3, 'float32'), ('ZSTD', 3, 'float64'),
                               ('ZSTD', 2, 'uint64'), ('DEFLATE', 1, 'int32')]:
    plain(f'big-endian-{codec.lower()}-p{predictor}-{kind}', kind, TILED + [f'COMPRESS={codec}', f'PREDICTOR={predictor}', 'ENDIANNESS=BIG'])
plain('bigtiff-little', 'uint16', TILED + ['BIGTIFF=YES', 'COMPRESS=DEFLATE'])
plain('bigtiff-big', 'int16', TILED + ['BIGTIFF=YES', 'ENDIANNESS=BIG', 'COMPRESS=LZW', 'PREDICTOR=2'])
for bands in (1, 3, 4, 5, 7):
    plain(f'bands-{bands}', 'uint16', TILED + ['COMPRESS=DEFLATE', 'PREDICTOR=2'], bands)

for bits in [1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 17, 20, 24, 27, 31]:
    kind = 'uint8' if bits < 8 else 'uint16' if bits < 16 else 'uint32'
    array = (image('uint32', 2) % (2 ** bits)).astype(kind)
    plain(f'nbits-{bits}-tile', kind, TILED + [f'NBITS={bits}', 'COMPRESS=DEFLATE'], array=array)
    plain(f'nbits-{bits}-strip', kind, ['BLOCKYSIZE=8', 'INTERLEAVE=BAND', f'NBITS={bits}', 'COMPRESS=NONE'], array=array)
plain('float16', 'float32', TILED + ['NBITS=16', 'COMPRESS=DEFLATE'])
plain('float16-p3', 'float32', TILED + ['NBITS=16', 'COMPRESS=ZSTD', 'PREDICTOR=3'])
plain('float16-big-endian', 'float32', ['NBITS=16', 'ENDIANNESS=BIG'])

def masked(kind):
    array = image(kind, 1)
    array[0, 5:9, 4:20] = np.nan
    return array
for codec in ['LERC', 'LERC_ZSTD', 'DEFLATE']:
    plain(f'nan-{codec.lower()}', 'float32', TILED + [f'COMPRESS={codec}'], array=masked('float32'))
plain('lerc-lossy', 'float32', TILED + ['COMPRESS=LERC', 'MAX_Z_ERROR=0.5'])
rgba = image('uint8', 4)
rgba[3] = np.where(rgba[0] > 100, 255, 0)
plain('lerc-alpha-as-mask', 'uint8', TILED + ['COMPRESS=LERC', 'PHOTOMETRIC=RGB', 'ALPHA=YES'], array=rgba)

for name, bands, options in [('gray', 1, []), ('two', 2, []), ('rgb', 3, ['PHOTOMETRIC=RGB']), ('ycbcr', 3, ['PHOTOMETRIC=YCBCR']), ('rgba', 4, ['PHOTOMETRIC=RGB', 'ALPHA=YES']),
                             ('three-plain', 3, ['PHOTOMETRIC=MINISBLACK']), ('four-plain', 4, ['PHOTOMETRIC=MINISBLACK']), ('band', 3, ['INTERLEAVE=BAND'])]:
    plain(f'jpeg-{name}-tile', 'uint8', TILED + ['COMPRESS=JPEG'] + options, bands)
    plain(f'jpeg-{name}-strip', 'uint8', ['BLOCKYSIZE=16', 'COMPRESS=JPEG'] + options, bands)
for tables in range(4):
    plain(f'jpeg-tables-{tables}', 'uint8', TILED + ['COMPRESS=JPEG', 'PHOTOMETRIC=YCBCR', f'JPEGTABLESMODE={tables}'], 3)
for bands, lossless in itertools.product((3, 4), ('YES', 'NO')):
    plain(f'webp-{bands}-{"lossless" if lossless == "YES" else "lossy"}', 'uint8', TILED + ['COMPRESS=WEBP', f'WEBP_LOSSLESS={lossless}'], bands)
    plain(f'webp-{bands}-{"lossless" if lossless == "YES" else "lossy"}-strip', 'uint8', ['BLOCKYSIZE=8', 'COMPRESS=WEBP', f'WEBP_LOSSLESS={lossless}'], bands)

def located(ds, epsg=32633, transform=(500000.0, 10.0, 0, 5200000.0, 0, -10.0)):
    srs = osr.SpatialReference()
    srs.ImportFromEPSG(epsg)
    ds.SetSpatialRef(srs)
    ds.SetGeoTransform(transform)

def special(name, kind='uint8', bands=1, options=(), change=None, array=None):
    ds = create(name, image(kind, bands) if array is None else array, kind, TILED + ['COMPRESS=DEFLATE', *options])
    change(ds)
    ds.FlushCache()
    ds = None
    finish(name)

special('geo-utm', change=located)
special('geo-4326', change=lambda ds: located(ds, 4326, (10.0, 0.001, 0, 47.0, 0, -0.001)))
special('geo-point', options=['GEOTIFF_VERSION=1.1'], change=lambda ds: (located(ds), ds.SetMetadataItem('AREA_OR_POINT', 'Point')))
special('geo-rotated', change=lambda ds: located(ds, 32633, (500000.0, 9.0, 2.0, 5200000.0, 1.5, -8.0)))
special('geo-south-up', change=lambda ds: located(ds, 4326, (10.0, 0.5, 0, -20.0, 0, 0.5)))
def gcps(ds):
    srs = osr.SpatialReference()
    srs.ImportFromEPSG(4326)
    points = [gdal.GCP(10 + c * 0.01 + r * 0.001 + (0.0004 if c == r else 0), 47 - r * 0.01 + c * 0.002, 0, c, r) for c in (0, 10, 20, 30) for r in (0, 10, 20)]
    ds.SetGCPs(points, srs)
special('geo-gcps', change=gcps)
special('nodata-0', 'uint16', change=lambda ds: ds.GetRasterBand(1).SetNoDataValue(600))
special('nodata-nan', 'float32', change=lambda ds: ds.GetRasterBand(1).SetNoDataValue(float('nan')), array=masked('float32'))
def lowest(ds):
    ds.GetRasterBand(1).SetNoDataValue(-3.4028234663852886e38)
floor = image('float32', 1)
floor[0, 3:7] = np.float32(-3.4028234663852886e38)
special('nodata-lowest', 'float32', change=lowest, array=floor)
special('nodata-out-of-range', 'uint8', change=lambda ds: ds.GetRasterBand(1).SetNoDataValue(-9999))
special('nodata-int64', 'int64', change=lambda ds: ds.GetRasterBand(1).SetNoDataValueAsInt64(-9223372036854775808))
def palette(ds):
    table = gdal.ColorTable()
    for i in range(256):
        table.SetColorEntry(i, (i, 255 - i, (i * 7) % 256, 255))
    ds.GetRasterBand(1).SetRasterColorTable(table)
    ds.GetRasterBand(1).SetNoDataValue(7)
special('palette', options=['PHOTOMETRIC=PALETTE'], change=palette)
def palette4(ds):
    table = gdal.ColorTable()
    for i in range(16):
        table.SetColorEntry(i, (i * 16, 10, 255 - i, 255))
    ds.GetRasterBand(1).SetRasterColorTable(table)
special('palette-4bit', options=['PHOTOMETRIC=PALETTE', 'NBITS=4'], change=palette4, array=(image('uint8', 1) % 16).astype('uint8'))
def described(ds):
    for i, (name, scale, offset) in enumerate([('B02 & <blue>', 0.0001, -0.1), ('B08', 0.0002, 0)]):
        band = ds.GetRasterBand(i + 1)
        band.SetDescription(name)
        band.SetScale(scale)
        band.SetOffset(offset)
        band.SetUnitType('reflectance')
    ds.SetMetadataItem('PLATFORM', 'test "one"')
special('described', 'int16', 2, change=described)
def internal_mask(ds):
    gdal.SetConfigOption('GDAL_TIFF_INTERNAL_MASK', 'YES')
    ds.CreateMaskBand(gdal.GMF_PER_DATASET)
    mask = np.zeros((H, W), np.uint8)
    mask[4:15, 7:25] = 255
    ds.GetRasterBand(1).GetMaskBand().WriteArray(mask)
special('mask-internal', 'uint8', 3, change=internal_mask)
special('mask-and-nodata', 'uint16', 2, change=lambda ds: (internal_mask(ds), ds.GetRasterBand(1).SetNoDataValue(600)))
def with_overviews(ds):
    ds.BuildOverviews('AVERAGE', [2, 4])
special('overviews', 'uint16', 2, change=lambda ds: (located(ds), with_overviews(ds)))
special('mask-overviews', 'uint8', 3, change=lambda ds: (internal_mask(ds), with_overviews(ds)))
alpha = image('uint8', 4)
special('alpha-8', 'uint8', 4, options=['PHOTOMETRIC=RGB', 'ALPHA=YES'], change=lambda ds: None, array=alpha)
special('alpha-16', 'uint16', 4, options=['PHOTOMETRIC=RGB', 'ALPHA=YES'], change=lambda ds: None)
special('alpha-band', 'uint8', 2, options=['ALPHA=YES', 'INTERLEAVE=BAND'], change=lambda ds: None)
special('min-is-white', 'uint8', 1, options=['PHOTOMETRIC=MINISWHITE'], change=lambda ds: None)

ds = DRIVER.Create(os.path.join(OUT, 'sparse.tif'), 48, 48, 1, gdal.GDT_Int16, TILED + ['COMPRESS=DEFLATE', 'SPARSE_OK=YES'])
ds.GetRasterBand(1).SetNoDataValue(-32768)
ds.GetRasterBand(1).WriteArray(image('int16', 1, 16, 16)[0], 16, 16)
ds = None
finish('sparse')

# Overviews in a file of their own.
ds = create('external-overviews', image('uint16', 2), 'uint16', TILED + ['COMPRESS=DEFLATE'])
ds = None
ds = gdal.Open(os.path.join(OUT, 'external-overviews.tif'))
gdal.SetConfigOption('COMPRESS_OVERVIEW', 'DEFLATE')
gdal.SetConfigOption('GDAL_TIFF_OVR_BLOCKSIZE', '64')
ds.BuildOverviews('NEAREST', [2, 4])
ds = None
finish('external-overviews')

# What real files hold beside that: fax coding, LZMA, complex samples, inks, 24-bit floats, nodata that bytes cannot hold.
def bilevel(width=W, height=H, seed=3):
    noise = np.random.RandomState(seed)
    y, x = np.mgrid[0:height, 0:width]
    lines = ((x // 7 + y // 5) % 3 == 0) | (noise.rand(height, width) > 0.93) | ((y % 11 == 4) & (x > width // 3))
    return np.stack([lines.astype(np.uint8)])
for codec in ['CCITTRLE', 'CCITTFAX3', 'CCITTFAX4']:
    for width in (26, 1801):
        plain(f'{codec.lower()}-{width}', 'uint8', ['BLOCKYSIZE=8', f'COMPRESS={codec}', 'NBITS=1'], array=bilevel(width, 19))
        plain(f'{codec.lower()}-white-{width}', 'uint8', ['BLOCKYSIZE=19', f'COMPRESS={codec}', 'NBITS=1', 'PHOTOMETRIC=MINISWHITE'], array=bilevel(width, 19, 9))
    runs = np.zeros((1, 30, 6000), np.uint8)
    for row in range(30):
        runs[0, row, row * 97 % 700:row * 97 % 700 + row * 160] = 1
        runs[0, row, 5200:5200 + row] = 1
    plain(f'{codec.lower()}-runs', 'uint8', ['BLOCKYSIZE=30', f'COMPRESS={codec}', 'NBITS=1'], array=runs)
for layout, kind in itertools.product(['tile-pixel', 'strip-band'], ['uint8', 'int16', 'uint32', 'float32', 'float64']):
    plain(f'lzma-{layout}-{kind}', kind, LAYOUTS[layout] + ['COMPRESS=LZMA'])
plain('lzma-p2-uint16', 'uint16', TILED + ['COMPRESS=LZMA', 'PREDICTOR=2'])
plain('lzma-p3-float32', 'float32', TILED + ['COMPRESS=LZMA', 'PREDICTOR=3', 'LZMA_PRESET=9'])
plain('lzma-large-uint16', 'uint16', ['BLOCKYSIZE=300', 'COMPRESS=LZMA'], array=image('uint16', 1, 500, 300))
plain('float24', 'float32', TILED + ['NBITS=24', 'COMPRESS=DEFLATE'])
plain('float24-big-endian', 'float32', ['NBITS=24', 'ENDIANNESS=BIG'])
CGDT = {'cint16': gdal.GDT_CInt16, 'cint32': gdal.GDT_CInt32, 'cfloat32': gdal.GDT_CFloat32, 'cfloat64': gdal.GDT_CFloat64}
for kind, options in itertools.product(CGDT, (TILED + ['COMPRESS=DEFLATE'], ['ENDIANNESS=BIG', 'COMPRESS=LZW', 'INTERLEAVE=BAND'])):
    name = f'{kind}-{"big" if "ENDIANNESS=BIG" in options else "little"}'
    ds = DRIVER.Create(os.path.join(OUT, name + '.tif'), W, H, 2, CGDT[kind], options)
    for band in range(2):
        real, imaginary = image('int16', 2, seed=band + 1).astype(np.float64)
        ds.GetRasterBand(band + 1).WriteArray(real * 0.5 + 0.5j * imaginary if kind.startswith('cfloat') else np.round(real / 2) + 1j * np.round(imaginary / 2))
    ds = None
    finish(name)
plain('cmyk', 'uint8', TILED + ['COMPRESS=DEFLATE', 'PHOTOMETRIC=CMYK'], 4)
def drone(ds):
    ds.GetRasterBand(1).SetNoDataValue(-10000)
special('nodata-beside-alpha', 'uint8', 4, options=['PHOTOMETRIC=RGB', 'ALPHA=YES'], change=drone, array=rgba)
special('nodata-beyond-uint16', 'uint16', change=lambda ds: ds.GetRasterBand(1).SetNoDataValue(-3.4028234663852886e38))
special('geo-rotated-south', change=lambda ds: located(ds, 32633, (500000.0, 7.0, -6.0, 5200000.0, -6.0, -7.0)))

# Systems that the file defines by parameters: GDAL writes the keys, PROJ computes points of the system it reads back.
CUSTOM = {
    'tmerc': ('+proj=tmerc +lat_0=10 +lon_0=21 +k=0.9999 +x_0=500000 +y_0=-1000 +datum=WGS84', (21.3, 10.4)),
    'utm-nad83': ('EPSG:26915', (-93, 40)),
    'utm-by-code': ('+proj=utm +zone=33 +south +ellps=GRS80', (15.5, -20)),
    'lcc-2sp-feet': ('+proj=lcc +lat_1=33 +lat_2=45 +lat_0=23 +lon_0=-96 +x_0=100000 +y_0=2000 +datum=NAD83 +units=us-ft', (-100, 40)),
    'lcc-1sp': ('+proj=lcc +lat_1=46.5 +lat_0=46.5 +lon_0=3 +k_0=0.99987742 +x_0=600000 +y_0=2200000 +ellps=GRS80 +towgs84=0,0,0', (2.5, 47)),
    'laea': ('+proj=laea +lat_0=50 +lon_0=15 +x_0=1000 +y_0=2000 +datum=WGS84', (17, 51)),
    'aea': ('+proj=aea +lat_1=20 +lat_2=60 +lat_0=40 +lon_0=-96 +datum=WGS84', (-90, 41)),
    'aeqd': ('+proj=aeqd +lat_0=53 +lon_0=24 +x_0=5837287.81977 +y_0=2121415.69617 +datum=WGS84', (20, 50)),
    'eqdc': ('+proj=eqdc +lat_0=30 +lon_0=95 +lat_1=15 +lat_2=65 +datum=WGS84', (100, 35)),
    'polar-lat-ts': ('+proj=stere +lat_0=-90 +lat_ts=-65 +lon_0=140 +x_0=300000 +y_0=200000 +datum=WGS84', (140, -67)),
    'polar-scale': ('+proj=stere +lat_0=90 +lon_0=10 +k=0.994 +x_0=2000000 +y_0=2000000 +datum=WGS84', (20, 85)),
    'sterea': ('+proj=sterea +lat_0=52.1561605555556 +lon_0=5.38763888888889 +k=0.9999079 +x_0=155000 +y_0=463000 +ellps=bessel +towgs84=565.4171,50.3319,465.5524,-0.398957,0.343988,-1.877402,4.0725', (6, 52)),
    'merc-lat-ts': ('+proj=merc +lat_ts=42 +lon_0=51 +datum=WGS84', (50, 40)),
    'merc-scale': ('+proj=merc +lon_0=110 +k=0.997 +x_0=3900000 +y_0=900000 +datum=WGS84', (111, -5)),
    'eqc': ('+proj=eqc +lat_ts=30 +lon_0=10 +datum=WGS84', (12, 33)),
    'sinusoidal-modis': ('+proj=sinu +lon_0=0 +R=6371007.181', (12, 33)),
    'cea': ('+proj=cea +lat_ts=30 +lon_0=0 +datum=WGS84', (12, 33)),
    'poly': ('+proj=poly +lat_0=0 +lon_0=-54 +x_0=5000000 +y_0=10000000 +ellps=GRS80 +towgs84=0,0,0', (-50, -10)),
    'geographic-shifted': ('+proj=longlat +ellps=bessel +towgs84=598.1,73.7,418.2,0.202,0.045,-2.455,6.7', (10, 51)),
    'geographic-wgs84-ellipsoid': ('+proj=longlat +ellps=WGS84', (10, 51)),
    'omerc': ('+proj=omerc +lat_0=4 +lonc=102.25 +alpha=323.0257905 +gamma=323.130102361111 +k=0.99984 +x_0=804670.24 +y_0=0 +no_uoff +ellps=GRS80 +towgs84=0,0,0', (102, 4.5)),
}
wgs84 = osr.SpatialReference()
wgs84.ImportFromEPSG(4326)
wgs84.SetAxisMappingStrategy(osr.OAMS_TRADITIONAL_GIS_ORDER)
os.makedirs(os.path.join(OUT, 'crs'))
custom = {}
for name, (text, (lon, lat)) in CUSTOM.items():
    srs = osr.SpatialReference()
    srs.SetFromUserInput(text)
    if text.startswith('EPSG'):
        srs.SetProjCS('own name')
        srs = osr.SpatialReference(srs.ExportToWkt().replace(',AUTHORITY["EPSG","26915"]', '').replace('AUTHORITY["EPSG","26915"],', ''))
    path = os.path.join(OUT, 'crs', name + '.tif')
    ds = DRIVER.Create(path, 1, 1, 1, gdal.GDT_Byte)
    ds.SetSpatialRef(srs)
    ds.SetGeoTransform((0, 1, 0, 0, 0, -1))
    ds = None
    read = gdal.Open(path).GetSpatialRef()
    read.SetAxisMappingStrategy(osr.OAMS_TRADITIONAL_GIS_ORDER)
    x, y, _ = osr.CoordinateTransformation(wgs84, read).TransformPoint(lon, lat)
    custom[name] = [lon, lat, x, y]
with open(os.path.join(OUT, 'crs', 'index.json'), 'w') as f:
    f.write(json.dumps(custom, indent=0))

with open(os.path.join(OUT, 'index.json'), 'w') as f:
    f.write('{\n' + ',\n'.join(f'"{name}": {json.dumps(info, separators=(",", ":"))}' for name, info in index.items()) + '\n}\n')
size = sum(os.path.getsize(os.path.join(d, n)) for d, _, names in os.walk(OUT) for n in names)
print(len(index), 'rasters,', size // 1024, 'KB')
