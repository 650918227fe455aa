/**
 * Goal: on a machine that has GDAL, fresh files of every kind that it writes are read exactly as it reads
 * them, our COGs satisfy its validator without error or warning, and it reads them as we do.
 *
 * Run: node --test test/gdal/run.ts. Skips where gdalinfo or GDAL's Python is missing.
 */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { deflateSync, gunzipSync } from 'node:zlib'
import { reverseBits } from '#raster/codec/unpack.ts'
import { openFileSource } from '#raster/source/file.ts'
import { buildTiff, plainTags } from '#raster/testing/build-tiff.ts'
import { differences, type Dump } from '#raster/testing/gdal-dump.ts'
import { encodeOldLzw } from '#raster/testing/old-lzw.ts'
import { openTiff } from '#raster/tiff/open.ts'
import { convertToCog, type ConvertOptions } from '#raster/write/convert.ts'
import { openFileSink } from '#raster/write/sink.ts'

const PYTHON = '/usr/bin/python3'
const GOLDEN = new URL('../golden/', import.meta.url).pathname
const SHARED = new URL('../../../shared/data/cogs/', import.meta.url).pathname
const hasGdal = spawnSync('gdalinfo', ['--version']).status === 0 && spawnSync(PYTHON, ['-c', 'import osgeo.gdal, numpy']).status === 0
const skip = hasGdal ? false : 'GDAL is not on this machine'
const work = mkdtempSync(join(tmpdir(), 'raster-gdal-'))
after(() => rmSync(work, { recursive: true, force: true }))

const python = (...args: string[]): string => execFileSync(PYTHON, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })

async function convert(from: string, to: string, options: ConvertOptions = {}): Promise<void> {
  const raster = await openTiff(await openFileSource(from))
  const sink = await openFileSink(to)
  try {
    await convertToCog(raster, sink, options)
  } finally {
    await sink.close()
    await raster.close()
  }
}

/** GDAL's own validator, with the check of every block's frame. */
const VALIDATE = `
import sys
from osgeo import gdal
from osgeo_utils.samples import validate_cloud_optimized_geotiff as v
for path in sys.argv[1:]:
    warnings, errors, _ = v.validate(path, full_check=True)
    for text in [*warnings, *errors]:
        print(path, text)
`

/** What GDAL says against files, and where GDAL's reading differs from ours. */
async function complaints(paths: readonly string[]): Promise<string[]> {
  const report = python('-c', VALIDATE, ...paths)
    .split('\n')
    .filter((line) => line !== '')
  python(join(GOLDEN, 'dump.py'), ...paths)
  for (const path of paths) {
    const raster = await openTiff(await openFileSource(path))
    const dump = JSON.parse(readFileSync(`${path}.json`, 'utf8')) as Dump
    report.push(...(await differences(raster, dump, readFileSync(`${path}.bin`))).map((text) => `${path} ${text}`))
    await raster.close()
  }
  return report
}

test('fresh files of every kind are read exactly', { skip }, async () => {
  const fresh = join(work, 'fresh')
  python(join(GOLDEN, 'make.py'), fresh)
  const index = JSON.parse(readFileSync(join(fresh, 'index.json'), 'utf8')) as Record<string, Dump & { samples: string }>
  assert.ok(Object.keys(index).length > 400)
  for (const [name, dump] of Object.entries(index)) {
    const path = join(fresh, `${name}.tif`)
    const overviews = existsSync(`${path}.ovr`) ? { overviews: await openFileSource(`${path}.ovr`) } : {}
    const raster = await openTiff(await openFileSource(path), overviews)
    const expected = gunzipSync(readFileSync(join(fresh, 'samples', `${dump.samples}.gz`)))
    assert.deepEqual(await differences(raster, dump, expected), [], name)
    await raster.close()
  }
})

const CLUMPS = [
  [1, 1],
  [2, 1],
  [2, 2],
  [4, 2],
  [4, 4],
] as const

/** A square of luma and chroma: so many pixels across and down share a pair of the latter. */
function clumpsOf(side: number, across: number, down: number): Uint8Array {
  const lumas = across * down
  const length = (side / across) * (side / down) * (lumas + 2)
  return Uint8Array.from({ length }, (_, i) => (i % (lumas + 2) < lumas ? 40 + (((i * 7) >> 2) % 180) : 100 + (((i * 3) >> 3) % 60)))
}

test(
  'files that GDAL reads but does not write: old LZW, reversed bits, the older deflate, untyped samples, luma and chroma',
  { skip },
  async () => {
    const pixels = Uint8Array.from({ length: 64 * 64 }, (_, i) => ((i * 7) >> 4) & 63)
    const packed = deflateSync(pixels)
    const variant = (name: string, changes: Record<number, readonly number[] | null>, block: Uint8Array): [string, Uint8Array] => [
      name,
      buildTiff({ ifds: [{ tags: plainTags(64, 64, { 322: null, 323: null, 278: [64], ...changes }), blocks: [block], strips: true }] }),
    ]
    const files = [
      variant('old-lzw', { 259: [5] }, encodeOldLzw(pixels)),
      variant('old-deflate', { 259: [32946] }, packed),
      variant('reversed', { 266: [2] }, reverseBits(pixels)),
      variant('reversed-deflate', { 259: [8], 266: [2] }, reverseBits(packed)),
      variant('untyped', { 339: [4] }, pixels),
      ...CLUMPS.flatMap(([across, down]) => {
        const tags = { 258: [8, 8, 8], 262: [6], 277: [3], 339: [1, 1, 1], 530: [across, down] }
        const clumps = clumpsOf(64, across, down)
        const name = `ycbcr-${across}-${down}`
        return [variant(name, tags, clumps), variant(`${name}-deflate`, { ...tags, 259: [8] }, deflateSync(clumps))]
      }),
    ]
    const paths = files.map(([name, bytes]) => {
      const path = join(work, `${name}.tif`)
      writeFileSync(path, bytes)
      return path
    })
    python(join(GOLDEN, 'dump.py'), ...paths)
    for (const path of paths) {
      const raster = await openTiff(await openFileSource(path))
      const dump = JSON.parse(readFileSync(`${path}.json`, 'utf8')) as Dump
      assert.deepEqual(await differences(raster, dump, readFileSync(`${path}.bin`)), [], path)
      await raster.close()
    }
  },
)

test('every golden raster becomes a COG that GDAL finds valid and reads as we do', { skip }, async () => {
  const source = join(GOLDEN, 'raster')
  const paths: string[] = []
  for (const name of readdirSync(source).filter((file) => file.endsWith('.tif'))) {
    const path = join(work, name)
    await convert(join(source, name), path, { blockSize: 16 })
    paths.push(path)
  }
  assert.deepEqual(await complaints(paths), [])
})

test('large COGs of several levels are valid, in both codecs and all overview methods', { skip }, async () => {
  const make = `
import sys, numpy as np
from osgeo import gdal
for kind, name in ((gdal.GDT_UInt16, 'int'), (gdal.GDT_Float32, 'float')):
    ds = gdal.GetDriverByName('GTiff').Create(sys.argv[1] + '/' + name + '-source.tif', 1100, 777, 2, kind, ['TILED=YES', 'COMPRESS=ZSTD'])
    y, x = np.mgrid[0:777, 0:1100]
    for b in range(2):
        ds.GetRasterBand(b + 1).WriteArray((np.sin(x / 50 + b) * np.cos(y / 70) * 9000 + 10000).astype(np.uint16))
    gdal.SetConfigOption('GDAL_TIFF_INTERNAL_MASK', 'YES')
    ds.CreateMaskBand(gdal.GMF_PER_DATASET)
    ds.GetRasterBand(1).GetMaskBand().WriteArray(np.where((x // 300 + y // 200) % 5 == 0, 0, 255).astype(np.uint8))
`
  python('-c', make, work)
  const paths: string[] = []
  for (const name of ['int', 'float']) {
    for (const compression of ['deflate', 'zstd'] as const) {
      for (const overviews of ['average', 'nearest', 'mode'] as const) {
        const path = join(work, `${name}-${compression}-${overviews}.tif`)
        await convert(join(work, `${name}-source.tif`), path, { compression, overviews })
        paths.push(path)
      }
    }
  }
  assert.deepEqual(await complaints(paths), [])
})

test(
  'real rasters are read as GDAL reads them, and convert',
  { skip: skip || (existsSync(SHARED) ? false : 'shared/data/cogs is not on this machine') },
  async () => {
    const sources = readdirSync(SHARED).filter((name) => name.endsWith('.tif'))
    python(join(GOLDEN, 'dump.py'), '--out', work, ...sources.map((name) => join(SHARED, name)))
    for (const name of sources) {
      const raster = await openTiff(await openFileSource(join(SHARED, name)))
      const dump = JSON.parse(readFileSync(join(work, `${name}.json`), 'utf8')) as Dump
      assert.deepEqual(await differences(raster, dump, readFileSync(join(work, `${name}.bin`))), [], name)
      await raster.close()
    }
    const paths: string[] = []
    for (const name of sources) {
      const path = join(work, `cog-${name}`)
      await convert(join(SHARED, name), path)
      paths.push(path)
    }
    assert.deepEqual(await complaints(paths), [])
  },
)
