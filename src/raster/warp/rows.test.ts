// Goal: rows of rounded colours are exactly the samples that planes have, and are refused where planes would differ.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { crsFromEpsg } from '#raster/crs/registry.ts'
import { MemoryRaster } from '#raster/testing/memory-raster.ts'
import { createBlockCache } from './blocks.ts'
import { planTarget } from './plan.ts'
import { samplePlanes, sampleRows } from './sample.ts'

const EPSG = 32_633
const [LEFT, TOP, SIDE] = [500_000, 5_400_000, 40] as const

interface Given {
  dataType: 'uint8' | 'int8' | 'uint16' | 'int16'
  bandCount: number
  /** Target pixels per source pixel. */
  factor: number
  /** Of the target, in target pixels. */
  shift: number
  resampling: 'bilinear' | 'cubic' | 'average'
  seed: number
}

const SPANS = { uint8: [0, 255], int8: [-128, 127], uint16: [0, 65_535], int16: [-32_768, 32_767] } as const

function requestOf({ dataType, bandCount, factor, shift, resampling, seed }: Given, nodata: number | null = null) {
  const [low, high] = SPANS[dataType]
  const value = (x: number, y: number, band: number) =>
    low + ((Math.imul((x * 37 + y * 101 + band * 7 + seed) | 1, 2_654_435_761) >>> 8) % (high - low + 1))
  const transform = [LEFT, SIDE, 0, TOP, 0, -SIDE] as const
  const raster = new MemoryRaster({ width: 40, height: 30, epsg: EPSG, transform, dataType, bandCount, nodata, blockSize: 16, value })
  const size = SIDE / factor
  const [width, height] = [53, 41]
  const target = { crs: crsFromEpsg(EPSG), transform: [LEFT + shift * size, size, 0, TOP - shift * size, 0, -size] as const, width, height }
  const bands = Array.from({ length: bandCount }, (_, band) => band)
  const windows = planTarget(raster, target)
  return { raster, blocks: createBlockCache(2 ** 24), windows, bands, width, height, resampling, rule: 'all' as const, isRounded: true }
}

test('rows have the samples of planes', async () => {
  const given = fc.record({
    dataType: fc.constantFrom('uint8', 'int8', 'uint16', 'int16'),
    bandCount: fc.integer({ min: 1, max: 5 }),
    factor: fc.constantFrom(0.4, 1, 2, 3, 4),
    shift: fc.constantFrom(-7, 0, 3.25, 90),
    resampling: fc.constantFrom('bilinear', 'cubic', 'average'),
    seed: fc.nat(1_000),
  })
  let passed = 0
  await fc.assert(
    fc.asyncProperty(given, async (each) => {
      const request = requestOf(each)
      const { planes, mask } = await samplePlanes(request)
      const seen = new Uint8Array(mask.length)
      const isDone = await sampleRows(request, (row, colours, first, last) => {
        for (let x = first; x < last; x++) {
          const at = row * request.width + x
          seen[at] = 255
          for (const band of request.bands)
            assert.equal(colours[x * request.bands.length + band], planes[band]![at], `band ${band} at ${x}, ${row}`)
        }
      })
      if (!isDone) return
      passed += 1
      assert.deepEqual(seen, mask)
    }),
    { numRuns: 60 },
  )
  assert.ok(passed > 20, `only ${passed} were passed as rows`)
})

test('missing samples are left to planes', async () => {
  const given = { dataType: 'uint8', bandCount: 2, factor: 2, shift: 0, resampling: 'cubic', seed: 1 } as const
  assert.equal(await sampleRows(requestOf(given, 7), () => assert.fail('a row was passed')), false)
})
