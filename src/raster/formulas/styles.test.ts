// Goal: every index listed for an image can be rendered, for every sample type.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { crsFromEpsg } from '#raster/crs/registry.ts'
import { createContext, resolveRanges } from '#raster/render/context.ts'
import { draw } from '#raster/render/render.ts'
import { bandNames, parseStyle, visualizationsOf } from '#raster/render/request.ts'
import { MemoryRaster } from '#raster/testing/memory-raster.ts'
import type { DataType } from '#raster/types.ts'
import { planTarget } from '#raster/warp/plan.ts'
import { formulas } from './index.ts'

const SIDE = 16
const GRID = { width: SIDE, height: SIDE, transform: [1_000_000, 10, 0, 5_000_000, 0, -10] as const }

/** What a reflectance of 1 is stored as. */
const WHITE: Partial<Record<DataType, number>> = {
  uint8: 255,
  int8: 127,
  uint16: 10_000,
  int16: 10_000,
  uint32: 10_000,
  int32: 10_000,
  float32: 1,
  float64: 1,
}

/** Reflectances of land and water: each band has its own level, and pixels differ. */
const reflectance = (x: number, y: number, band: number): number => 0.05 + ((x * 7 + y * 13 + band * 37) % 55) / 100

/** How many pixels each index shows. */
async function shownPixels(dataType: DataType): Promise<Record<string, number>> {
  const context = createContext()
  const shown: Record<string, number> = {}
  for (const { id, roles } of formulas()) {
    const raster = new MemoryRaster({
      ...GRID,
      epsg: 3857,
      dataType,
      bandCount: roles.length,
      value: (x, y, band) => reflectance(x, y, band) * WHITE[dataType]!,
    })
    const names = bandNames(raster.info, roles)
    assert.ok(
      visualizationsOf(raster.info, names).visualizations.some((offered) => offered.id === id),
      `${id} is offered`,
    )
    const style = parseStyle({ visualization: id }, raster.info, names)
    const target = { ...GRID, windows: planTarget(raster, { ...GRID, crs: crsFromEpsg(3857) }) }
    const ranges = await resolveRanges(context, raster, style, { unscale: false })
    const image = await draw(context, raster, target, { style, ranges, resampling: 'nearest', unscale: false })
    shown[id] = 'indices' in image ? image.mask.filter((value) => value !== 0).length : 0
  }
  return shown
}

test('every index can be rendered from every sample type', async (t) => {
  const expected = await shownPixels('float64')
  for (const dataType of Object.keys(WHITE) as DataType[])
    await t.test(dataType, async () => {
      // Rounding to a byte may make a difference zero, by which nothing can be divided.
      for (const [id, shown] of Object.entries(await shownPixels(dataType)))
        assert.ok(shown > 0 && shown >= 0.85 * expected[id]!, `${id} shows ${shown} of ${expected[id]} pixels`)
    })
})
