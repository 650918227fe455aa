/** Change between two scenes: one value of each, per pixel on the grid of the earlier one. */
import { compileExpression, parseExpression, scalesOf } from '#raster/expression/index.ts'
import { readPolygons } from '#raster/geometry/polygon.ts'
import { chooseArea, joinedMask, readArea, type AreaSamples } from '#raster/statistics/area.ts'
import { summarizeSamples } from '#raster/statistics/summarize.ts'
import { RasterError, type Affine, type Raster, type RasterInfo } from '#raster/types.ts'
import { applyAffine, invertAffine } from '#raster/warp/affine.ts'
import { createBlockCache } from '#raster/warp/blocks.ts'
import { placementOf, planTarget, type TargetGrid } from '#raster/warp/plan.ts'
import { projectorToLonLat, type Point } from '#raster/warp/projector.ts'
import { samplePlanes } from '#raster/warp/sample.ts'
import { writeCog } from '#raster/write/cog.ts'
import { memorySink } from '#raster/write/sink.ts'

/** One value of a scene, in its own bands. */
interface Measure {
  expression: string
  names?: Readonly<Record<string, number>>
}

export interface ChangeOptions {
  /** GeoJSON in longitude and latitude. */
  geometry: unknown
  before: Measure
  after: Measure
  /** A difference of at least this much, up or down, is a change. */
  threshold: number
  maxPixels: number
  signal?: AbortSignal | undefined
}

export interface Change {
  /** Pixels with data in both scenes; partly covered ones count as fractions. */
  count: number
  /** Pixels of the area on the earlier scene. */
  covered: number
  pixelAreaM2: number
  gain: number
  loss: number
  before: number | null
  after: number | null
  mean: number | null
  std: number | null
  min: number | null
  max: number | null
  percentiles: (number | null)[]
  histogram: { counts: number[]; edges: number[] }
  /** The difference as a COG of one band; outside the area it is NaN. */
  cog: Uint8Array
}

export const CHANGE_PERCENTILES = [5, 50, 95]
const BIN_COUNT = 20
const BLOCK_CACHE_BYTES = 64 * 1024 * 1024

export async function changeBetween(before: Raster, after: Raster, options: ChangeOptions): Promise<Change> {
  const { signal } = options
  const area = chooseArea(before.info, { polygons: readPolygons(options.geometry), maxPixels: options.maxPixels })
  if (area.level !== 0) {
    throw new RasterError('limit_exceeded', `The area has more than ${options.maxPixels} pixels`)
  }
  const earlier = parsed(before.info, options.before)
  const read = await readArea({ raster: before, exactCoverage: true, signal }, area, earlier.bands)
  const grid = gridOf(before.info, area.window)
  const first = evaluated(earlier, before.info, read.planes, read.mask, read.width * read.height)
  const second = await sampledOn(grid, after, options.after, signal)
  return await summarized(read, grid, first, second, options)
}

function parsed(info: RasterInfo, { expression, names }: Measure) {
  const parsed = parseExpression(expression, { bandCount: info.bandCount, ...(names ? { names } : {}) })
  if (parsed.results.length !== 1) throw new RasterError('invalid_argument', 'The expression of a change must have exactly one result')
  if (parsed.bands.length === 0) throw new RasterError('invalid_argument', 'The expression must use at least one band')
  return { expression: parsed, bands: parsed.bands.map((band) => band - 1) }
}

type Values = { values: Float64Array; mask: Uint8Array }

function evaluated(
  { expression, bands }: ReturnType<typeof parsed>,
  info: RasterInfo,
  planes: AreaSamples['planes'],
  known: Uint8Array | null,
  count: number,
): Values {
  const nodata = bands.map((band) => info.bands[band]?.nodata ?? null)
  const dataType = planes[0] instanceof Float64Array ? 'float64' : planes[0] instanceof Float32Array ? 'float32' : info.dataType
  const scales = scalesOf(info.isScaled ? info.bands : [])
  const { values, mask } = compileExpression(expression, { dataType, scales }).run(planes, joinedMask(planes, known, nodata, count), count)
  return { values: values[0]!, mask }
}

/** A scene's value on another scene's pixels: unchanged if the grids agree, otherwise bilinear. */
async function sampledOn(grid: TargetGrid, raster: Raster, measure: Measure, signal: AbortSignal | undefined): Promise<Values> {
  const later = parsed(raster.info, measure)
  const { planes, mask } = await samplePlanes({
    raster,
    blocks: createBlockCache(BLOCK_CACHE_BYTES),
    windows: planTarget(raster, grid),
    bands: later.bands,
    width: grid.width,
    height: grid.height,
    resampling: isAligned(grid, raster.info) ? 'nearest' : 'bilinear',
    rule: 'all',
    signal,
  })
  return evaluated(
    later,
    { ...raster.info, bands: raster.info.bands.map((band) => ({ ...band, nodata: null })) },
    planes,
    mask,
    mask.length,
  )
}

/** Whether the pixels of both grids coincide, with an offset of whole pixels. */
function isAligned(grid: TargetGrid, info: RasterInfo): boolean {
  const { crs, transform } = placementOf(info)
  const isSameStep = [1, 2, 4, 5].every((k) => Math.abs(transform[k]! - grid.transform[k]!) < 1e-9 * Math.abs(grid.transform[1]))
  if (crs.proj4 !== grid.crs.proj4 || !isSameStep) return false
  const [column, row] = applyAffine(invertAffine(transform), grid.transform[0], grid.transform[3])
  return [column, row].every((place) => Math.abs(place - Math.round(place)) < 1e-3)
}

function gridOf(info: RasterInfo, { x, y, width, height }: { x: number; y: number; width: number; height: number }): TargetGrid {
  const { crs, transform } = placementOf(info)
  const [left, top] = applyAffine(transform, x, y)
  return { crs, transform: [left, transform[1], transform[2], top, transform[4], transform[5]], width, height }
}

/** Weighted sums of pixels that have data in both scenes; the differences themselves are NaN elsewhere. */
function compared(weights: Float64Array, first: Values, second: Values, threshold: number) {
  const count = weights.length
  const difference = new Float32Array(count).fill(Number.NaN)
  const kept = { values: new Float64Array(count), weights: new Float64Array(count), count: 0 }
  const sums = { before: 0, after: 0, gain: 0, loss: 0 }
  for (let i = 0; i < count; i++) {
    const weight = weights[i]!
    if (weight === 0 || first.mask[i] === 0 || second.mask[i] === 0) continue
    const change = second.values[i]! - first.values[i]!
    kept.values[kept.count] = change
    kept.weights[kept.count++] = weight
    sums.before += weight * first.values[i]!
    sums.after += weight * second.values[i]!
    if (change >= threshold) sums.gain += weight
    else if (change <= -threshold) sums.loss += weight
    // An image has no fractions of pixels: a pixel counts if more than half is covered.
    if (weight >= 0.5) difference[i] = change
  }
  return { difference, kept, sums }
}

async function summarized(read: AreaSamples, grid: TargetGrid, first: Values, second: Values, options: ChangeOptions): Promise<Change> {
  const { difference, kept, sums } = compared(read.weights!, first, second, options.threshold)
  const { count, mean, std, min, max, percentiles, histogram } = summarizeSamples(kept, {
    percentiles: CHANGE_PERCENTILES,
    binCount: BIN_COUNT,
  })
  return {
    count,
    covered: read.pixelCount,
    pixelAreaM2: pixelAreaM2(grid),
    gain: sums.gain,
    loss: sums.loss,
    before: count > 0 ? sums.before / count : null,
    after: count > 0 ? sums.after / count : null,
    mean,
    std,
    min,
    max,
    percentiles,
    histogram,
    cog: await asCog(difference, grid, options.signal),
  }
}

async function asCog(difference: Float32Array, grid: TargetGrid, signal: AbortSignal | undefined): Promise<Uint8Array> {
  const { width, height } = grid
  const sink = memorySink()
  await writeCog(
    sink,
    {
      width,
      height,
      dataType: 'float32',
      bandCount: 1,
      crs: grid.crs,
      transform: grid.transform,
      nodata: Number.NaN,
      bands: [{ name: 'change' }],
    },
    async (y, rows) => {
      const data = difference.subarray(y * width, (y + rows) * width)
      return { width, height: rows, bands: [0], data: [data], starts: [0], stride: 1, mask: null, byteLength: data.byteLength }
    },
    { signal },
  )
  return sink.bytes()
}

const SEMI_MAJOR_M = 6_378_137
const ECCENTRICITY_SQUARED = 0.006_694_379_990_14
const RADIANS = Math.PI / 180

/** The area of a pixel at the centre of a grid, in square metres on the ellipsoid. */
function pixelAreaM2({ crs, transform, width, height }: TargetGrid): number {
  const toLonLat = projectorToLonLat(crs)
  const at = (column: number, row: number): Point => {
    const place: Point = [0, 0]
    toLonLat(...applyAffine(transform as Affine, column, row), place)
    return place
  }
  const [x, y] = [width / 2, height / 2]
  const [here, right, down] = [at(x, y), at(x + 1, y), at(x, y + 1)]
  const sine = Math.sin(here[1] * RADIANS)
  const bend = 1 - ECCENTRICITY_SQUARED * sine * sine
  const east = (SEMI_MAJOR_M / Math.sqrt(bend)) * Math.cos(here[1] * RADIANS) * RADIANS
  const north = ((SEMI_MAJOR_M * (1 - ECCENTRICITY_SQUARED)) / bend ** 1.5) * RADIANS
  const [ax, ay, bx, by] = [
    (right[0] - here[0]) * east,
    (right[1] - here[1]) * north,
    (down[0] - here[0]) * east,
    (down[1] - here[1]) * north,
  ]
  return Math.abs(ax * by - ay * bx)
}
