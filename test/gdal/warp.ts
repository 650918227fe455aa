/**
 * Goal: where GDAL is installed, our tiles hold the samples that gdalwarp finds with exact transformation: at least 99% of
 * them equal with nearest, the same pixels masked, and nearly the same means with the smooth methods.
 *
 * Run: node --test test/gdal/warp.ts. Skips where gdalwarp is missing.
 */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'

import { openFileSource } from '#raster/source/file.ts'
import { openTiff } from '#raster/tiff/open.ts'
import type { Affine, Raster } from '#raster/types.ts'
import { createBlockCache } from '#raster/warp/blocks.ts'
import { HALF_WORLD_M, tileTransform, WORLD_M, type TileAddress } from '#raster/warp/mercator.ts'
import { placementOf, planTile } from '#raster/warp/plan.ts'
import { samplePlanes, type Resampling } from '#raster/warp/sample.ts'

const skip = spawnSync('gdalwarp', ['--version']).status === 0 ? false : 'GDAL is not on this machine'
const work = mkdtempSync(path.join(tmpdir(), 'raster-warp-'))
after(() => rmSync(work, { recursive: true, force: true }))

const SIZE = 256
const [WIDTH, HEIGHT, NODATA] = [900, 700, 0]
const PLACES: Record<string, { epsg: number; transform: Affine }> = {
  utm: { epsg: 32633, transform: [500_000, 30, 0, 5_400_000, 0, -30] },
  utmSouth: { epsg: 32755, transform: [600_000, 10, 0, 6_100_000, 0, -10] },
  geographic: { epsg: 4326, transform: [10, 0.001, 0, 47, 0, -0.001] },
  mercator: { epsg: 3857, transform: [1_000_000, 9.5, 0, 6_000_000, 0, -9.5] },
  lambert: { epsg: 3035, transform: [4_300_000, 100, 0, 3_000_000, 0, -100] },
  polar: { epsg: 3413, transform: [-500_000, 500, 0, -1_500_000, 0, -500] },
  rotated: { epsg: 32633, transform: [500_000, 25, 10, 5_400_000, 10, -25] },
}

/** Writes a raster as raw bytes that GDAL reads through a VRT, and has GDAL make a tiled TIFF with an overview of it. */
function make(name: string, { epsg, transform }: { epsg: number; transform: Affine }): string {
  const samples = new Uint16Array(WIDTH * HEIGHT)
  for (let y = 0; y < HEIGHT; y++) {
    for (let x = 0; x < WIDTH; x++) {
      const isOutside = x + y * 0.3 < 120 || (x > 400 && x < 420 && y > 300)
      samples[y * WIDTH + x] = isOutside
        ? NODATA
        : Math.round(20_000 + 9_000 * Math.sin(x / 40) * Math.cos(y / 30)) + ((x * 31 + y * 17) % 97)
    }
  }
  const [raw, vrt, tif] = ['bin', 'vrt', 'tif'].map((extension) => path.join(work, `${name}.${extension}`)) as [string, string, string]
  writeFileSync(raw, samples)
  writeFileSync(
    vrt,
    `<VRTDataset rasterXSize="${WIDTH}" rasterYSize="${HEIGHT}"><SRS>EPSG:${epsg}</SRS><GeoTransform>${transform.join(',')}</GeoTransform>
     <VRTRasterBand dataType="UInt16" band="1" subClass="VRTRawRasterBand"><NoDataValue>${NODATA}</NoDataValue>
     <SourceFilename relativetoVRT="1">${name}.bin</SourceFilename><ByteOrder>LSB</ByteOrder></VRTRasterBand></VRTDataset>`,
  )
  execFileSync('gdal_translate', [
    '-q',
    '-co',
    'TILED=YES',
    '-co',
    'BLOCKXSIZE=128',
    '-co',
    'BLOCKYSIZE=128',
    '-co',
    'COMPRESS=DEFLATE',
    vrt,
    tif,
  ])
  execFileSync('gdaladdo', ['-q', '-r', 'average', tif, '2', '4'])
  return tif
}

function tileAround(raster: Raster, closer: number): TileAddress {
  const { minX, maxX, minY, maxY } = placementOf(raster.info).extent
  const z = Math.floor(Math.log2(WORLD_M / Math.max(maxX - minX, maxY - minY))) + closer
  const index = (metres: number): number => Math.floor((metres / WORLD_M) * 2 ** z)
  return { z, x: index((minX + maxX) / 2 + HALF_WORLD_M), y: index(HALF_WORLD_M - (minY + maxY) / 2) }
}

const GDAL_NAMES: Record<Resampling, string> = { nearest: 'near', bilinear: 'bilinear', cubic: 'cubic', average: 'average' }

/** What gdalwarp makes of the tile, from the same level: values, then 0 or 255 for the mask. */
function warpByGdal(tif: string, tile: TileAddress, resampling: Resampling, level: number): { values: Float64Array; mask: Float64Array } {
  const [left, pixelM, , top] = tileTransform(tile, SIZE)
  const out = path.join(work, 'warped.bin')
  const extent = [left, top - SIZE * pixelM, left + SIZE * pixelM, top].map(String)
  const format = ['-of', 'ENVI', '-co', 'INTERLEAVE=BSQ', '-ot', 'Float64', '-dstalpha', '-overwrite']
  execFileSync('gdalwarp', [
    '-q',
    '-t_srs',
    'EPSG:3857',
    '-te',
    ...extent,
    '-ts',
    `${SIZE}`,
    `${SIZE}`,
    '-r',
    GDAL_NAMES[resampling],
    '-et',
    '0',
    '-ovr',
    level === 0 ? 'NONE' : `${level - 1}`,
    ...format,
    tif,
    out,
  ])
  const samples = new Float64Array(Uint8Array.from(readFileSync(out)).buffer)
  return { values: samples.subarray(0, SIZE * SIZE), mask: samples.subarray(SIZE * SIZE) }
}

async function compare(raster: Raster, tif: string, tile: TileAddress, resampling: Resampling) {
  const windows = planTile(raster, tile, SIZE)
  const expected = warpByGdal(tif, tile, resampling, windows[0]?.level ?? 0)
  const { planes, mask } = await samplePlanes({
    raster,
    blocks: createBlockCache(2 ** 26),
    windows,
    bands: [0],
    width: SIZE,
    height: SIZE,
    resampling,
    rule: 'all',
  })
  const counts = { seen: 0, equal: 0, close: 0, maskDifferent: 0 }
  for (let i = 0; i < mask.length; i++) {
    const isData = expected.mask[i] !== 0
    if (isData !== (mask[i] !== 0)) counts.maskDifferent += 1
    else if (isData) {
      const distance = Math.abs((planes[0]?.[i] ?? 0) - (expected.values[i] ?? 0))
      counts.seen += 1
      counts.equal += Number(distance === 0)
      counts.close += Number(distance <= 30)
    }
  }
  return counts
}

for (const [name, place] of Object.entries(PLACES)) {
  test(`nearest tiles of a raster in ${name} equal gdalwarp`, { skip }, async () => {
    const tif = make(name, place)
    const raster = await openTiff(await openFileSource(tif))
    for (const closer of [-2, -1, 0, 1, 2]) {
      const { seen, equal, maskDifferent } = await compare(raster, tif, tileAround(raster, closer), 'nearest')
      assert.ok(seen > 500, `zoom ${closer}: ${seen} samples`)
      assert.ok(equal >= seen * 0.99, `zoom ${closer}: ${equal} of ${seen} equal`)
      assert.equal(maskDifferent, 0, `zoom ${closer}: masks`)
    }
    await raster.close()
  })
}

test('smooth methods come close to gdalwarp', { skip }, async () => {
  for (const name of ['utm', 'geographic', 'lambert'] as const) {
    const tif = make(`${name}-smooth`, PLACES[name] ?? assert.fail())
    const raster = await openTiff(await openFileSource(tif))
    for (const resampling of ['bilinear', 'cubic', 'average'] as const) {
      // Only where a tile lies inside the raster: gdalwarp guesses how much it shrinks from the parts outside, too.
      for (const closer of [2, 3]) {
        const { seen, close, maskDifferent } = await compare(raster, tif, tileAround(raster, closer), resampling)
        assert.ok(close >= seen * 0.98, `${name} ${resampling} ${closer}: ${close} of ${seen} close`)
        assert.ok(
          maskDifferent <= (seen + maskDifferent) * 0.01,
          `${name} ${resampling} ${closer}: ${maskDifferent} masks differ of ${seen}`,
        )
      }
    }
    await raster.close()
  }
})
