// Goal: whatever reads a band that a raster lacks says which bands there are, with their names.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createContext } from '#raster/render/context.ts'
import { readPoint } from '#raster/render/point.ts'
import { renderTerrainTile, renderTile } from '#raster/render/tile.ts'
import { memorySource } from '#raster/source/memory.ts'
import { computeStatistics } from '#raster/statistics/index.ts'
import { openTiff } from '#raster/tiff/open.ts'
import { zonalStatistics } from '#raster/zonal/index.ts'
import { scene, tileAt } from '../../test/support/scene.ts'

const LISTED = /^band 9 does not exist \(there are 4\); the bands are b1 \(blue\), b2 \(green\), b3 \(red\), b4 \(nir\)$/
const [LONGITUDE, LATITUDE] = [151.15, -33.1]

test('a band that does not exist', async () => {
  const raster = await openTiff(memorySource(await scene()))
  const tile = tileAt(LONGITUDE, LATITUDE, 11)
  const field = {
    type: 'Polygon',
    coordinates: [
      [
        [151.1, -33.1],
        [151.2, -33.1],
        [151.2, -33.05],
        [151.1, -33.1],
      ],
    ],
  }
  const readers: Record<string, () => Promise<unknown>> = {
    'a window': () => raster.readWindow(0, { x: 0, y: 0, width: 1, height: 1 }, { bands: [8] }),
    'a point': () => readPoint(createContext(), raster, { longitude: LONGITUDE, latitude: LATITUDE }, { bands: [9] }),
    'a tile': () =>
      renderTile(createContext(), raster, tile, { format: 'png', style: { kind: 'rgb', bands: [1, 2, 9], ranges: null } as never }),
    'a terrain tile': () => renderTerrainTile(createContext(), raster, tile, { band: 9 }),
    statistics: () => computeStatistics(raster, { bands: [9] }),
    zones: () => zonalStatistics(raster, { zones: [field], bands: [9] }),
  }
  for (const [name, read] of Object.entries(readers)) await assert.rejects(read, { message: LISTED }, name)
})
