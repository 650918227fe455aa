/**
 * Goal: where GDAL is installed, each process gives the pixels that GDAL or numpy gives for the same input; where a few differ,
 * the test says how many and by how much at most. Times of both are printed; they are noisy on a busy machine.
 *
 * Run: node --test test/gdal/processes.ts. Skips where GDAL or its Python is missing.
 */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { campaign } from '../support/campaign.ts'
import { runMethod, withRasters } from '#raster/process/index.ts'
import { openFileSource } from '#raster/source/file.ts'
import { openTiff } from '#raster/tiff/open.ts'

const PYTHON = '/usr/bin/python3'
const hasGdal = spawnSync('gdalinfo', ['--version']).status === 0 && spawnSync(PYTHON, ['-c', 'import osgeo.gdal, numpy']).status === 0
const skip = hasGdal ? false : 'GDAL is not on this machine'
const work = mkdtempSync(path.join(tmpdir(), 'processes-gdal-'))
after(() => rmSync(work, { recursive: true, force: true }))
const at = (name: string) => path.join(work, name)

/** A terrain of waves and noise with a hole, three scenes of four bands that overlap in part, classes, and a panchromatic band. */
const MAKE = `
import sys, numpy as np
from osgeo import gdal, osr
gdal.UseExceptions()
folder, size = sys.argv[1], int(sys.argv[2])
rng = np.random.default_rng(7)
srs = osr.SpatialReference(); srs.ImportFromEPSG(32755)
def write(name, planes, kind, transform, nodata=None):
    ds = gdal.GetDriverByName('GTiff').Create(f'{folder}/{name}.tif', planes.shape[2], planes.shape[1], planes.shape[0], kind,
      ['TILED=YES', 'BLOCKXSIZE=256', 'BLOCKYSIZE=256', 'COMPRESS=DEFLATE', 'INTERLEAVE=PIXEL'])
    ds.SetProjection(srs.ExportToWkt()); ds.SetGeoTransform(transform)
    for i, plane in enumerate(planes):
        ds.GetRasterBand(i + 1).WriteArray(plane)
        if nodata is not None: ds.GetRasterBand(i + 1).SetNoDataValue(nodata)
    ds = None
y, x = np.mgrid[0:size, 0:size].astype(np.float64)
heights = (500 + 200 * np.sin(x / 60) * np.cos(y / 45) + rng.normal(0, 2, (size, size))).astype(np.float32)
heights[300:340, 200:280] = -9999
write('dem', heights[None], gdal.GDT_Float32, [600000, 10, 0, 6100000, 0, -10], -9999)
for i, shift in enumerate([0, 40, 90]):
    bands = rng.integers(200, 6000, (4, size, size)).astype(np.uint16)
    bands[:, (x + y) % 211 < 20 * (i + 1)] = 0
    write(f'scene{i}', bands, gdal.GDT_UInt16, [600000 + 10 * shift, 10, 0, 6100000 - 10 * shift, 0, -10], 0)
waves = np.sin(x / 70)[None] * np.cos(y / 50)[None] * np.array([1, .8, .6, .9])[:, None, None]
smooth = np.clip(3000 + 2000 * waves, 1, 9000).astype(np.uint16)
write('colours', smooth[:, ::4, ::4], gdal.GDT_UInt16, [600000, 40, 0, 6100000, 0, -40])
pan = (smooth.mean(axis=0) + rng.integers(-200, 200, (size, size)))[None].astype(np.uint16)
write('pan', pan, gdal.GDT_UInt16, [600000, 10, 0, 6100000, 0, -10])
classes = ((np.sin(x / 40) + np.cos(y / 33)) * 2 + 5).astype(np.uint8); classes[10:60, 10:60] = 0
write('classes', classes[None], gdal.GDT_Byte, [600000, 10, 0, 6100000, 0, -10], 0)
`
/** Compares two rasters band by band. */
const COMPARE = `
import sys, json, numpy as np
from osgeo import gdal
a, b = [gdal.Open(p) for p in sys.argv[1:3]]
shape = lambda r: (r.RasterXSize, r.RasterYSize, r.RasterCount)
assert shape(a) == shape(b), (shape(a), shape(b))
assert np.allclose(a.GetGeoTransform(), b.GetGeoTransform(), atol=1e-6), (a.GetGeoTransform(), b.GetGeoTransform())
out = []
for i in range(a.RasterCount):
    x, y = [d.GetRasterBand(i + 1) for d in (a, b)]
    p, q = x.ReadAsArray().astype(np.float64), y.ReadAsArray().astype(np.float64)
    m, n = [np.isnan(v) | (v == (band.GetNoDataValue() if band.GetNoDataValue() is not None else np.nan)) for v, band in ((p, x), (q, y))]
    both = ~m & ~n
    d = np.abs(p - q)[both]
    if len(sys.argv) > 3: d = np.minimum(d, 360 - d) # North is 0 and 360.
    out.append(dict(pixels=int(both.sum()), masks=int((m != n).sum()), differ=int((d > 0).sum()),
        most=float(d.max()) if d.size else 0.0, mean=float(d.mean()) if d.size else 0.0))
print(json.dumps(out))
`
/** Of a short campaign as large as two blocks and a part of a third. */
const SIZE = Number(process.env['PROCESS_SIZE'] ?? campaign({ short: 600, long: 1200 }))

const LIMITS = { hillshade: 1, slope: 0.002, aspect: 1 }

interface Difference {
  pixels: number
  masks: number
  differ: number
  most: number
  mean: number
}

const python = (...args: string[]): string => execFileSync(PYTHON, args, { encoding: 'utf8', maxBuffer: 1 << 28 })
const compare = (ours: string, theirs: string, ...around: 'degrees'[]): Difference[] =>
  JSON.parse(python(at('compare.py'), at(ours), at(theirs), ...around))

async function ours(method: string, inputs: readonly string[], options: object, files: Record<string, string>) {
  const started = performance.now()
  const result = await withRasters(
    inputs,
    async (name) => openTiff(await openFileSource(at(`${name}.tif`))),
    (rasters) =>
      runMethod(method, {
        rasters,
        options: options as Record<string, unknown>,
        files: Object.fromEntries(Object.entries(files).map(([name, file]) => [name, at(file)])),
        temporaryDirectory: work,
        compression: 'deflate',
        signal: new AbortController().signal,
        onProgress: () => {},
      }),
  )
  return { result, ms: performance.now() - started }
}

function theirs(command: string, args: readonly string[]): number {
  const started = performance.now()
  execFileSync(command, args, { stdio: 'ignore' })
  return performance.now() - started
}

const told = (t: { diagnostic(text: string): void }, name: string, mine: number, other: number, differences: readonly Difference[]) =>
  t.diagnostic(
    `${name}: ours ${mine.toFixed(0)} ms, theirs ${other.toFixed(0)} ms (${(other / mine).toFixed(2)}x); ` +
      differences
        .map(
          ({ pixels, masks, differ, most, mean }) =>
            `${differ} of ${pixels} differ, at most ${most.toPrecision(3)}, mean ${mean.toPrecision(2)}, masks ${masks}`,
        )
        .join(' | '),
  )

test('processes against GDAL and numpy', { skip }, async (t) => {
  writeFileSync(at('make.py'), MAKE)
  writeFileSync(at('compare.py'), COMPARE)
  python(at('make.py'), work, String(SIZE))
  const tiled = ['-co', 'TILED=YES', '-co', 'COMPRESS=DEFLATE']

  for (const [kind, options, args] of [
    ['hillshade', { azimuth: 300, altitude: 40, zFactor: 2 }, ['-az', '300', '-alt', '40', '-z', '2']],
    ['slope', {}, []],
    ['slope', { unit: 'percent' }, ['-p']],
    ['aspect', {}, []],
  ] as const)
    await t.test(`${kind} ${args.join(' ')}`, async (s) => {
      const { ms } = await ours('terrain', ['dem'], { kind, ...options }, { 'data.tif': 'ours.tif' })
      const other = theirs('gdaldem', [kind, at('dem.tif'), at('theirs.tif'), ...args, ...tiled, '-q'])
      const [found] = compare('ours.tif', 'theirs.tif', ...(kind === 'aspect' ? (['degrees'] as const) : []))
      told(s, kind, ms, other, [found!])
      assert.equal(found!.masks, 0)
      // gdaldem works with 32-bit floats: a shade may fall on the other side of a half, and where it is almost flat an aspect turns.
      assert.ok(found!.most <= LIMITS[kind] && found!.mean < 0.002, `at most ${found!.most}, mean ${found!.mean}`)
    })

  await t.test('band math against numpy', async (s) => {
    const { ms } = await ours('expression', ['scene0'], { expression: '(b4-b3)/(b4+b3)' }, { 'data.tif': 'ours.tif' })
    writeFileSync(
      at('ndvi.py'),
      `
import sys, numpy as np
from osgeo import gdal
a = gdal.Open(sys.argv[1]); p = a.ReadAsArray().astype(np.float64)
with np.errstate(all='ignore'): v = (p[3] - p[2]) / (p[3] + p[2])
v[(p[3] == 0) | (p[2] == 0)] = np.nan
o = gdal.GetDriverByName('GTiff').Create(sys.argv[2], a.RasterXSize, a.RasterYSize, 1, gdal.GDT_Float32, ['TILED=YES', 'COMPRESS=DEFLATE'])
o.SetGeoTransform(a.GetGeoTransform()); o.SetProjection(a.GetProjection())
o.GetRasterBand(1).WriteArray(v.astype(np.float32)); o.GetRasterBand(1).SetNoDataValue(np.nan)
`,
    )
    const other = theirs(PYTHON, [at('ndvi.py'), at('scene0.tif'), at('theirs.tif')])
    const [found] = compare('ours.tif', 'theirs.tif')
    told(s, 'band math', ms, other, [found!])
    assert.deepEqual([found!.masks, found!.differ], [0, 0])
  })

  await t.test('reproject against gdalwarp', async (s) => {
    for (const resampling of ['nearest', 'bilinear', 'cubic'] as const) {
      const { ms } = await ours('warp', ['dem'], { epsg: 3857, resolution: 15, resampling }, { 'data.tif': 'ours.tif' })
      const extent = JSON.parse(execFileSync('gdalinfo', ['-json', at('ours.tif')], { encoding: 'utf8', maxBuffer: 1 << 26 })) as {
        geoTransform: number[]
        size: [number, number]
      }
      const [x, size, , y] = extent.geoTransform as [number, number, number, number]
      const box = [x, y - extent.size[1] * size, x + extent.size[0] * size, y].map(String)
      const args = [
        '-q',
        '-overwrite',
        '-t_srs',
        'EPSG:3857',
        '-tr',
        '15',
        '15',
        '-te',
        ...box,
        '-r',
        resampling === 'nearest' ? 'near' : resampling,
        '-et',
        '0',
      ]
      const other = theirs('gdalwarp', [...args, ...tiled, at('dem.tif'), at('theirs.tif')])
      const [found] = compare('ours.tif', 'theirs.tif')
      told(s, `warp ${resampling}`, ms, other, [found!])
      assert.ok(found!.differ === 0 || found!.mean < 0.05, `mean difference ${found!.mean}`)
    }
  })

  await t.test('resample against gdalwarp -r average', async (s) => {
    const { ms } = await ours('warp', ['scene0'], { resolution: 40, resampling: 'average' }, { 'data.tif': 'ours.tif' })
    const other = theirs('gdalwarp', ['-q', '-overwrite', '-tr', '40', '40', '-r', 'average', ...tiled, at('scene0.tif'), at('theirs.tif')])
    const found = compare('ours.tif', 'theirs.tif')
    told(s, 'resample', ms, other, found)
    for (const { most, masks } of found) assert.ok(most <= 1 && masks === 0)
  })

  await t.test('cog_convert keeps every sample', async (s) => {
    const { ms } = await ours('convert', ['scene1'], {}, { 'data.tif': 'ours.tif' })
    const other = theirs('gdal_translate', ['-q', '-of', 'COG', '-co', 'COMPRESS=DEFLATE', at('scene1.tif'), at('theirs.tif')])
    const found = compare('ours.tif', 'theirs.tif')
    told(s, 'convert', ms, other, found)
    assert.ok(found.every(({ differ, masks }) => differ === 0 && masks === 0))
  })

  await t.test('composite against numpy', async (s) => {
    writeFileSync(
      at('stack.py'),
      `
import sys, numpy as np, warnings
from osgeo import gdal
warnings.simplefilter('ignore')
statistic, out, *paths = sys.argv[1:]
ds = [gdal.Open(p) for p in paths]
left = min(d.GetGeoTransform()[0] for d in ds); top = max(d.GetGeoTransform()[3] for d in ds)
right = max(d.GetGeoTransform()[0] + 10 * d.RasterXSize for d in ds); bottom = min(d.GetGeoTransform()[3] - 10 * d.RasterYSize for d in ds)
w, h = round((right - left) / 10), round((top - bottom) / 10)
stack = np.full((len(ds), ds[0].RasterCount, h, w), np.nan)
for i, d in enumerate(ds):
    g = d.GetGeoTransform(); x, y = round((g[0] - left) / 10), round((top - g[3]) / 10)
    p = d.ReadAsArray().astype(np.float64); p[:, (p == 0).all(axis=0)] = np.nan
    stack[i, :, y:y + d.RasterYSize, x:x + d.RasterXSize] = p
v = dict(median=np.nanmedian, mean=np.nanmean, max=np.nanmax, min=np.nanmin)[statistic](stack, axis=0)
o = gdal.GetDriverByName('GTiff').Create(out, w, h, v.shape[0], gdal.GDT_Float32, ['TILED=YES', 'COMPRESS=DEFLATE'])
o.SetGeoTransform([left, 10, 0, top, 0, -10]); o.SetProjection(ds[0].GetProjection())
for i, plane in enumerate(v): o.GetRasterBand(i + 1).WriteArray(plane.astype(np.float32)); o.GetRasterBand(i + 1).SetNoDataValue(np.nan)
`,
    )
    for (const statistic of ['median', 'mean', 'max'] as const) {
      const { ms } = await ours('composite', ['scene0', 'scene1', 'scene2'], { statistic }, { 'data.tif': 'ours.tif' })
      const other = theirs(PYTHON, [at('stack.py'), statistic, at('theirs.tif'), ...[0, 1, 2].map((n) => at(`scene${n}.tif`))])
      const found = compare('ours.tif', 'theirs.tif')
      told(s, `composite ${statistic}`, ms, other, found)
      assert.ok(found.every(({ differ, masks }) => differ === 0 && masks === 0))
    }
  })

  await t.test('mosaic: each pixel is that of the scene whose number stands there, and the right one', async (s) => {
    writeFileSync(
      at('mosaic.py'),
      `
import sys, json, numpy as np
from osgeo import gdal
choice, data, index, *paths = sys.argv[1:]
m, k = gdal.Open(data), gdal.Open(index).ReadAsArray()
g = m.GetGeoTransform(); p = m.ReadAsArray()
stack = np.zeros((len(paths),) + p.shape, p.dtype)
for i, path in enumerate(paths):
    d = gdal.Open(path); t = d.GetGeoTransform(); x, y = round((t[0] - g[0]) / 10), round((g[3] - t[3]) / 10)
    stack[i, :, y:y + d.RasterYSize, x:x + d.RasterXSize] = d.ReadAsArray()
wrong = 0
for i in range(len(paths)): wrong += int(((k == i + 1) & (p != stack[i]).any(axis=0)).sum())
valid = (stack != 0).any(axis=1)
score = stack.astype(np.float64).sum(axis=1); score[~valid] = np.nan
order = dict(first=lambda: np.where(valid, -np.arange(len(paths))[:, None, None], -1e9),
    brightest=lambda: np.where(valid, score, -1), darkest=lambda: np.where(valid, -score, -1e9),
  median=lambda: np.where(valid, -np.abs(score - np.nanmedian(score, axis=0)), -1e9))[choice]()
expected = np.where(valid.any(axis=0), order.argmax(axis=0) + 1, 0)
print(json.dumps(dict(wrong=wrong, other=int((k != expected).sum()), empty=int(((k == 0) & valid.any(axis=0)).sum()), pixels=int(k.size))))
`,
    )
    for (const choice of ['first', 'brightest', 'darkest', 'median'] as const) {
      const { ms } = await ours(
        'mosaic',
        ['scene0', 'scene1', 'scene2'],
        { choice },
        { 'data.tif': 'ours.tif', 'source_index.tif': 'index.tif' },
      )
      const found = JSON.parse(
        python('-W', 'ignore', at('mosaic.py'), choice, at('ours.tif'), at('index.tif'), ...[0, 1, 2].map((n) => at(`scene${n}.tif`))),
      )
      s.diagnostic(`mosaic ${choice}: ours ${ms.toFixed(0)} ms; ${JSON.stringify(found)}`)
      assert.deepEqual([found.wrong, found.other, found.empty], [0, 0, 0])
    }
  })

  await t.test('pansharpen against gdal_pansharpen.py', async (s) => {
    const { ms } = await ours('pansharpen', ['pan', 'colours'], {}, { 'data.tif': 'ours.tif' })
    const other = theirs('gdal_pansharpen.py', [
      '-q',
      at('pan.tif'),
      at('colours.tif'),
      at('theirs.tif'),
      '-co',
      'TILED=YES',
      '-co',
      'COMPRESS=DEFLATE',
    ])
    const found = compare('ours.tif', 'theirs.tif')
    told(s, 'pansharpen', ms, other, found)
    for (const { differ, pixels, mean } of found) assert.ok(mean < 0.5 && differ < pixels * 0.5, `${differ} of ${pixels}, mean ${mean}`)
  })

  await t.test('polygonize against gdal_polygonize.py', async (s) => {
    const { ms, result } = await ours('polygonize', ['classes'], {}, { 'polygons.geojson': 'ours.geojson' })
    const other = theirs('gdal_polygonize.py', ['-q', '-overwrite', at('classes.tif'), at('theirs.gpkg')])
    writeFileSync(
      at('areas.py'),
      `
import sys, json, collections
from osgeo import ogr, osr
ogr.UseExceptions()
def read(path, field, project):
    d = ogr.Open(path); out = collections.defaultdict(list)
    for f in d.GetLayer(0):
        g = f.GetGeometryRef().Clone()
        if project: g.Transform(project)
        assert g.IsValid(), f.GetField(field)
        out[int(f.GetField(field))].append(g.Area())
    return {k: (len(v), sorted(round(a / 100) for a in v)) for k, v in out.items()}
utm, ll = osr.SpatialReference(), osr.SpatialReference()
utm.ImportFromEPSG(32755); ll.ImportFromEPSG(4326); ll.SetAxisMappingStrategy(osr.OAMS_TRADITIONAL_GIS_ORDER)
a, b = read(sys.argv[1], 'value', osr.CoordinateTransformation(ll, utm)), read(sys.argv[2], 'DN', None)
print(json.dumps(dict(same=a == b, ours={k: v[0] for k, v in a.items()}, theirs={k: v[0] for k, v in b.items()})))
`,
    )
    const found = JSON.parse(python(at('areas.py'), at('ours.geojson'), at('theirs.gpkg')))
    s.diagnostic(
      `polygonize: ours ${ms.toFixed(0)} ms, theirs ${other.toFixed(0)} ms (${(other / ms).toFixed(2)}x); ` +
        `${result['featureCount']} polygons, areas in pixels equal: ${found.same}`,
    )
    assert.ok(found.same, JSON.stringify(found))
  })

  await t.test('contour against gdal_contour', async (s) => {
    const { ms, result } = await ours('contour', ['dem'], { interval: 50 }, { 'contours.geojson': 'lines.geojson' })
    const other = theirs('gdal_contour', ['-q', '-i', '50', '-a', 'elev', '-f', 'GPKG', at('dem.tif'), at('lines.gpkg')])
    writeFileSync(
      at('lines.py'),
      `
import sys, json, collections, numpy as np
from osgeo import gdal, ogr
gdal.UseExceptions()
p = gdal.Open(sys.argv[3]).ReadAsArray().astype(np.float64); p[p == -9999] = np.nan
v = ~np.isnan(p); full = v[:-1, :-1] & v[1:, :-1] & v[:-1, 1:] & v[1:, 1:]
ours, theirs = collections.Counter(), collections.Counter()
for f in json.load(open(sys.argv[1]))['features']: ours[round(f['properties']['elev'])] += len(f['geometry']['coordinates']) - 1
kept = ogr.Open(sys.argv[2]) # Its layers do not outlive it.
for f in kept.GetLayer(0): theirs[round(f.GetField('elev'))] += f.GetGeometryRef().GetPointCount() - 1
wrong = 0
for level in theirs:
    a, b, c, d = [(x >= level)[full].astype(int) for x in (p[:-1, :-1], p[:-1, 1:], p[1:, :-1], p[1:, 1:])]
    n = a + b + c + d
    wrong += abs(int(((n > 0) & (n < 4)).sum() + ((n == 2) & (a == d)).sum()) - ours[level])
print(json.dumps(dict(levels=sorted(ours) == sorted(theirs), wrong=wrong, segments=sum(ours.values()), theirs=sum(theirs.values()))))
`,
    )
    const found = JSON.parse(python(at('lines.py'), at('lines.geojson'), at('lines.gpkg'), at('dem.tif')))
    s.diagnostic(
      `contour: ours ${ms.toFixed(0)} ms, theirs ${other.toFixed(0)} ms (${(other / ms).toFixed(2)}x); ` +
        `${result['featureCount']} lines, ${JSON.stringify(found)}`,
    )
    // Every square between four centres has its pieces; GDAL adds half a pixel around the edge and around holes.
    assert.deepEqual([found.levels, found.wrong], [true, 0])
    assert.ok(found.theirs >= found.segments && found.theirs < found.segments * 1.1)
  })
})
