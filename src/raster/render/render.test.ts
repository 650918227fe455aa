// Goal: what is drawn shows the stored values as the style says, and nothing where there are none.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import sharp from 'sharp'

import { colorTable } from '#raster/colormap/index.ts'
import { MemoryRaster, type MemoryRasterOptions } from '#raster/testing/memory-raster.ts'
import { RasterError } from '#raster/types.ts'
import { fromMercator, tileTransform } from '#raster/warp/mercator.ts'
import { readClipped } from './clip.ts'
import { createContext } from './context.ts'
import { readPoint } from './point.ts'
import { defaultStyle, parseRanges } from './style.ts'
import { renderThumbnail } from './thumbnail.ts'
import { drawTile, renderCachedTile, renderTerrainTile, renderTile, type TileOptions } from './tile.ts'

const TILE = { z: 10, x: 540, y: 360 }
const [WEST_M, PIXEL_M, , NORTH_M] = tileTransform(TILE, 256)

/** A raster whose pixels are the upper left three quarters of the tile's, one to one. */
function raster(options: Partial<MemoryRasterOptions> = {}): MemoryRaster {
  return new MemoryRaster({
    epsg: 3857,
    width: 192,
    height: 192,
    transform: [WEST_M, PIXEL_M, 0, NORTH_M, 0, -PIXEL_M],
    value: (x, y, band) => (x + y * 2 + band * 50) % 256,
    ...options,
  })
}

/** The picture as RGBA, whatever it was drawn as. */
async function pixels(source: MemoryRaster, options: TileOptions = {}): Promise<(x: number, y: number) => number[]> {
  const png = await renderTile(createContext(), source, TILE, { format: 'png', ...options })
  const { data, info } = await sharp(png).toColourspace('srgb').ensureAlpha().raw().toBuffer({ resolveWithObject: true })
  return (x, y) => [...data.subarray((y * info.width + x) * info.channels, (y * info.width + x + 1) * info.channels)]
}

test('bytes are shown as they are, in colour and in grey, and outside is transparent', async () => {
  const color = await pixels(raster({ bandCount: 3 }))
  assert.deepEqual(color(10, 20), [50, 100, 150, 255])
  assert.deepEqual(color(191, 191), [(191 * 3) % 256, (191 * 3 + 50) % 256, (191 * 3 + 100) % 256, 255])
  assert.equal(color(192, 20)[3], 0)
  const gray = await pixels(raster())
  assert.deepEqual(gray(10, 20), [50, 50, 50, 255])
  assert.equal(gray(10, 192)[3], 0)
})

test('a range cuts off and rounds down, for every type of samples and whatever path draws it', async () => {
  for (const dataType of ['uint8', 'uint16', 'int16', 'int32', 'float32', 'float64'] as const) {
    for (const resampling of ['nearest', 'average'] as const) {
      const source = raster({ dataType, bandCount: 3, value: (x) => x })
      const at = await pixels(source, {
        resampling,
        style: {
          kind: 'rgb',
          bands: [1, 2, 3],
          ranges: [
            [50, 150],
            [0, 100],
            [0, 191],
          ],
        },
      })
      const expected = [(100 - 50) / 100, 1, 100 / 191].map((share) => Math.floor(share * 255 + 1e-9))
      at(100, 60)
        .slice(0, 3)
        .forEach((value, k) => assert.ok(Math.abs(value - expected[k]!) <= 1, `${dataType} ${resampling}: ${value} for ${expected[k]}`))
      assert.deepEqual(at(10, 60).slice(0, 2), [0, 25])
      assert.equal(at(10, 60)[3], 255)
    }
  }
})

test('a colormap colours one band or one result, and no data stays transparent', async () => {
  const table = colorTable('viridis')
  const ends = [
    [...table.subarray(0, 3), 255],
    [...table.subarray(765), 255],
  ]
  const source = raster({ dataType: 'int16', bandCount: 2, nodata: -1, value: (x, _y, band) => (x === 5 && band === 0 ? -1 : x) })
  const single = await pixels(source, { style: { kind: 'single', band: 1, colormap: 'viridis', ranges: [[10, 20]] } })
  assert.deepEqual([single(7, 3), single(180, 3)], ends)
  assert.equal(single(5, 3)[3], 0)
  const index = await pixels(source, {
    style: { kind: 'expression', expression: '(b1 - RED) / (RED - 40) + b1', names: { RED: 2 }, colormap: 'viridis', ranges: [[10, 20]] },
  })
  assert.deepEqual([index(7, 3), index(180, 3)], ends)
  assert.equal(index(40, 3)[3], 0, 'division by zero is no data')
  assert.equal(index(5, 3)[3], 0)
})

test('bytes are the entries of a colormap: each of the 256 has its own colour, with and without pixels that are no data', async () => {
  for (const hidden of [-1, 3]) {
    const source = raster({ width: 256, height: 256, value: (x) => x, mask: (_x, y) => (y === hidden ? 0 : 255) })
    for (const colormap of ['gray', 'viridis', 'tab10', 'landcover']) {
      const table = colorTable(colormap)
      const at = await pixels(source, { style: { kind: 'single', band: 1, colormap, ranges: [[0, 255]] } })
      for (let entry = 0; entry < 256; entry++)
        assert.deepEqual(at(entry, 7), [...table.subarray(entry * 3, entry * 3 + 3), 255], `${colormap} ${entry}`)
    }
  }
})

test('three results make a colour picture; two are refused', async () => {
  const at = await pixels(raster({ bandCount: 2, value: (x, _y, band) => x + band }), {
    style: { kind: 'expression', expression: 'b1; b2; 7', ranges: [[0, 255]] },
  })
  assert.deepEqual(at(30, 30), [30, 31, 7, 255])
  const refused = ['b1; b2', '1 + 1', 'b3', 'b1 +']
  for (const expression of refused)
    await assert.rejects(pixels(raster({ bandCount: 2 }), { style: { kind: 'expression', expression } }), RasterError)
  await assert.rejects(pixels(raster(), { style: { kind: 'rgb', bands: [1, 2, 3] } }), /band 2 does not exist/)
})

test('a missing range comes from the whole image, not from the tile', async () => {
  const source = raster({ dataType: 'uint16', width: 512, height: 512, value: (x) => x * 10 })
  const at = await pixels(source)
  const twoPercent = 0.02 * 5110
  const share = (1000 - twoPercent) / (0.96 * 5110)
  assert.ok(Math.abs((at(100, 5)[0] ?? 0) - share * 255) <= 2, `${at(100, 5)[0]} for ${share * 255}`)
})

test('a colour table gives its colours, and its transparent entries are transparent', async () => {
  const colors = new Uint8Array(1024)
  colors.set([10, 20, 30, 255], 4 * 4)
  colors.set([1, 2, 3, 0], 5 * 4)
  const source = raster({ colorTable: colors, value: (x) => (x < 50 ? 4 : 5) })
  assert.deepEqual(defaultStyle(source.info), { kind: 'palette' })
  const at = await pixels(source)
  assert.deepEqual(at(10, 10), [10, 20, 30, 255])
  assert.equal(at(60, 10)[3], 0)
})

test('an internal mask and partial transparency reach the picture; a black pixel stays', async () => {
  const source = raster({
    bandCount: 3,
    nodata: 0,
    value: (x, _y, band) => (x === 9 ? 0 : x === 8 ? band : 100),
    mask: (x) => (x === 3 ? 0 : x === 4 ? 128 : 255),
  })
  const at = await pixels(source)
  assert.deepEqual(
    [3, 4, 5].map((x) => at(x, 7)[3]),
    [0, 128, 255],
  )
  assert.equal(at(8, 7)[3], 255, 'one band that happens to be 0 is not a hole')
  assert.equal(at(9, 7)[3], 0)
})

test('scale and offset apply when asked for', async () => {
  const source = raster({ dataType: 'int16', scale: 0.5, offset: -10, value: (x) => x })
  const at = await pixels(source, { unscale: true, style: { kind: 'single', band: 1, ranges: [[0, 51]] } })
  assert.deepEqual(at(71, 3).slice(0, 1), [Math.floor(((71 * 0.5 - 10) / 51) * 255)])
  const index = await pixels(source, { unscale: true, style: { kind: 'expression', expression: 'b1 * 2', ranges: [[0, 255]] } })
  assert.equal(index(71, 3)[0], 51)
})

const box = (left: number, top: number, right: number, bottom: number): unknown => {
  const corner = (x: number, y: number): [number, number] => fromMercator(WEST_M + x * PIXEL_M, NORTH_M - y * PIXEL_M)
  return {
    type: 'Polygon',
    coordinates: [[corner(left, top), corner(right, top), corner(right, bottom), corner(left, bottom), corner(left, top)]],
  }
}

test('an area of interest clips, and a tile without anything to see is the empty one', async () => {
  const context = createContext()
  const at = await pixels(raster({ bandCount: 3 }), { aoi: box(20.3, 30.3, 40.3, 50.3) })
  assert.deepEqual([at(19, 40)[3], at(20, 40)[3], at(39, 40)[3], at(40, 40)[3], at(30, 29)[3], at(30, 30)[3]], [0, 255, 255, 0, 0, 255])
  assert.equal(await drawTile(context, raster(), TILE, { aoi: box(200, 200, 220, 220) }), null)
  assert.equal(await drawTile(context, raster(), { z: 10, x: 3, y: 3 }), null)
  const empty = await renderTile(context, raster(), { z: 10, x: 3, y: 3 }, { format: 'jpeg' })
  assert.ok((await sharp(empty).raw().toBuffer()).every((value) => value >= 254))
})

test('terrain tiles hold heights, zero and transparent outside the area', async () => {
  const source = raster({ dataType: 'float32', nodata: -9999, value: (x, y) => (x === 100 ? -9999 : x + y / 10) })
  for (const invert of [false, true]) {
    const webp = await renderTerrainTile(createContext(), source, TILE, { invert, aoi: box(0, 0, 150, 150), resampling: 'nearest' })
    const { data } = await sharp(webp).ensureAlpha().raw().toBuffer({ resolveWithObject: true })
    const heightAt = (x: number, y: number): number => {
      const i = (y * 256 + x) * 4
      return -10_000 + (data[i]! * 65536 + data[i + 1]! * 256 + data[i + 2]!) / 10
    }
    assert.ok(Math.abs(heightAt(42, 30) - (invert ? -45 : 45)) < 0.051)
    for (const x of [100, 170, 230]) {
      assert.ok(Math.abs(heightAt(x, 30)) < 1e-6)
      assert.equal(data[(30 * 256 + x) * 4 + 3], 0)
    }
  }
})

test('a thumbnail fits its box, keeps proportions and stretches what is not bytes', async () => {
  const wide = raster({ dataType: 'uint16', width: 400, height: 100, value: (x) => 3000 + x })
  const { data, info } = await sharp(await renderThumbnail(createContext(), wide, { format: 'jpeg', width: 200, height: 200 }))
    .raw()
    .toBuffer({ resolveWithObject: true })
  assert.deepEqual([info.width, info.height], [200, 50])
  assert.ok(data[10 * 200 * info.channels]! < 20 && data[(10 * 200 + 199) * info.channels]! > 235)
  await assert.rejects(renderThumbnail(createContext(), wide, { format: 'jpeg', width: 0 }), RasterError)
})

test('a point has the value of the pixel under it', async () => {
  const source = raster({ dataType: 'int16', bandCount: 2, nodata: 7, scale: 2, offset: 1, value: (x, y, band) => (band === 0 ? x : y) })
  const [longitude, latitude] = fromMercator(WEST_M + 12.4 * PIXEL_M, NORTH_M - 7.6 * PIXEL_M)
  assert.deepEqual(await readPoint(createContext(), source, { longitude, latitude }), [12, null])
  assert.deepEqual(await readPoint(createContext(), source, { longitude, latitude }, { bands: [1], unscale: true }), [25])
  assert.equal(await readPoint(createContext(), source, { longitude: 0, latitude: 0 }), null)
})

test('a window clipped to a polygon comes with its mask and its place', async () => {
  const clipped = await readClipped(raster({ dataType: 'uint16', value: (x, y) => x * 1000 + y }), box(20.3, 30.3, 22.3, 32.3), {
    maxPixels: 1000,
  })
  assert.deepEqual([clipped.width, clipped.height], [3, 3])
  assert.deepEqual([...clipped.mask], [255, 255, 0, 255, 255, 0, 0, 0, 0])
  assert.equal(clipped.planes[0]?.[4], 21_031)
  assert.ok(Math.abs(clipped.transform[0] - (WEST_M + 20 * PIXEL_M)) < 1e-6)
})

test('ranges are read from text, one or one for each band', () => {
  assert.deepEqual(parseRanges('0,3000'), [[0, 3000]])
  assert.deepEqual(parseRanges('-1,1;0,2;1e3,2e3'), [
    [-1, 1],
    [0, 2],
    [1000, 2000],
  ])
  for (const text of ['', '1', '2,1', '1,1', 'a,b', '1,2,3', '1,', '0,1;0,1;0,1;0,1']) assert.throws(() => parseRanges(text), RasterError)
})

test('a tile is drawn once for all who ask for it', async () => {
  const context = createContext()
  const source = raster({ bandCount: 3 })
  const [first, two] = await Promise.all([1, 2].map(() => renderCachedTile(context, source, TILE, { format: 'png' })))
  assert.equal(first, two)
  assert.notEqual(await renderCachedTile(context, source, TILE, { format: 'webp' }), first)
  const { misses, joined } = context.tiles.metrics
  assert.deepEqual({ misses, joined }, { misses: 2, joined: 1 })
})

test('a cancelled tile stops', async () => {
  await assert.rejects(
    drawTile(createContext(), raster(), TILE, { signal: AbortSignal.abort() }),
    (error) => error instanceof RasterError && error.code === 'aborted',
  )
})
