/**
 * Combines scenes into one raster: each pixel comes from one scene, in all bands, and a second raster holds the scene index.
 * A score selects the scene: its brightness, an index, or its position in the list.
 */
import { compileExpression, parseExpression, scalesOf, type CompiledExpression } from '#raster/expression/index.ts'
import type { ExactRaster } from '#raster/tiff/raster.ts'
import { EXACT_ARRAY } from '#raster/tiff/sample.ts'
import { RasterError, type SampleArray } from '#raster/types.ts'
import type { Resampling, SampledPlanes } from '#raster/warp/sample.ts'
import { interleavedBlock } from '#raster/write/rows.ts'
import { CommonGrid, type Cell, type GridOptions } from './grid.ts'
import { writeRaster, type MethodTask } from './method.ts'
import { blockOf, TurnedRows } from './rows.ts'
import { Strips } from './strips.ts'

interface Mosaic extends GridOptions {
  /** `first` also gives the most recent: rasters are in order of preference. */
  readonly choice: 'first' | 'brightest' | 'darkest' | 'median' | 'highest'
  /** The value that `highest` compares. */
  readonly expression?: string
  /** From 1; all by default. */
  readonly bands?: readonly number[]
  readonly resampling?: Resampling
  /** The second half of the rasters are cloud masks of the first half: every value but 0, or these, is cloudy. */
  readonly hasCloudMasks?: boolean
  readonly cloudValues?: readonly number[]
  readonly bandNames?: readonly (string | null)[]
}

/** The scores of all scenes of a cell are in memory for the median. */
const SCORE_BYTES = 48 * 1024 * 1024
const MAX_CELL_PX = 512
const MIN_CELL_PX = 16
const NO_SCENE = 0

export async function mosaic(task: MethodTask<Mosaic>): Promise<Record<string, unknown>> {
  const { options, rasters } = task
  const sceneCount = options.hasCloudMasks ? rasters.length / 2 : rasters.length
  const scenes = rasters.slice(0, sceneCount)
  const first = requireAlike(scenes)
  const common = new CommonGrid(rasters, options)
  const { width, height, crs, transform } = common.grid
  const bands = (options.bands ?? first.info.bands.map((_, band) => band + 1)).map((band) => band - 1)
  const dataType = first.info.dataType === 'float16' ? 'float32' : first.info.dataType
  const nodata = first.info.bands[bands[0]!]?.nodata ?? (dataType.startsWith('float') ? Number.NaN : 0)
  const chooser = new Chooser(common, scenes, { ...options, bands, resampling: options.resampling ?? 'nearest' })
  const strips = new Strips(task, 'scenes', width * 2)
  const counts = new Float64Array(sceneCount + 1)
  const spec = {
    width,
    height,
    dataType,
    bandCount: bands.length,
    crs,
    transform,
    nodata,
    bands: bands.map((band, index) => ({ ...first.info.bands[band]!, name: options.bandNames?.[index] ?? first.info.bands[band]!.name })),
  }
  try {
    const turned = new TurnedRows((length) => new EXACT_ARRAY[dataType](length) as SampleArray)
    await writeRaster(task, 'data.tif', spec, async (y, rows, signal) => {
      const samples = turned.take(width * rows * bands.length).fill(nodata)
      const chosen = new Uint16Array(width * rows)
      for (const cell of common.cells(y, rows, chooser.cellWidth(rows))) await chooser.choose(cell, { samples, chosen, width }, signal)
      countScenes(chosen, counts)
      await strips.write(y, chosen)
      return interleavedBlock({ height: rows, samples, mask: null }, width, bands.length)
    })
    const sourceSpec = {
      width,
      height,
      dataType: 'uint16' as const,
      bandCount: 1,
      crs,
      transform,
      nodata: NO_SCENE,
      overviews: 'mode' as const,
      bands: [{ name: 'source_index' }],
    }
    await writeRaster(task, 'source_index.tif', sourceSpec, async (y, rows) =>
      blockOf([new Uint16Array(await strips.read(y, rows))], width, rows),
    )
  } finally {
    await strips.remove()
  }
  return { pixelsOfScenes: [...counts.subarray(1)], pixelsWithoutData: counts[0], width, height }
}

function requireAlike(scenes: readonly ExactRaster[]): ExactRaster {
  const [first] = scenes
  if (!first || scenes.length > 65_535) throw new RasterError('invalid_argument', 'A mosaic takes 1 to 65,535 rasters')
  const other = scenes.find(({ info }) => info.bandCount !== first.info.bandCount || info.dataType !== first.info.dataType)
  if (other) throw new RasterError('invalid_argument', 'All rasters of a mosaic must have the same bands and data type')
  return first
}

function countScenes(chosen: Uint16Array, counts: Float64Array): void {
  for (let i = 0; i < chosen.length; i++) counts[chosen[i]!]! += 1
}

/** The output: rows over the full width, pixel-interleaved, and the scene index of each pixel. */
interface Rows {
  readonly samples: SampleArray
  readonly chosen: Uint16Array
  readonly width: number
}

/** Pixels of a cell that come from one scene, by their index in the cell and in the rows. */
class Picked {
  #from = new Uint32Array(0)
  #to = new Uint32Array(0)
  #count = 0

  /** Resets the selection for a new cell. */
  clear(size: number): void {
    this.#count = 0
    if (this.#from.length >= size) return
    this.#from = new Uint32Array(size)
    this.#to = new Uint32Array(size)
  }

  /** Selects pixels with data that no earlier scene has. */
  takeFirst(mask: Uint8Array, inside: Uint8Array | null, cell: Cell, { chosen, width }: Rows): void {
    const [from, to] = [this.#from, this.#to]
    let count = 0
    for (let row = 0, i = 0; row < cell.height; row++)
      for (let x = 0, at = row * width + cell.x; x < cell.width; x++, i++, at++) {
        if (mask[i] === 0 || chosen[at] !== NO_SCENE || inside?.[i] === 0) continue
        from[count] = i
        to[count++] = at
      }
    this.#count = count
  }

  /** Selects pixels with data whose score exceeds the best so far. */
  takeBetter({ mask, scores, best }: Scored, inside: Uint8Array | null, cell: Cell, { width }: Rows): void {
    const [from, to] = [this.#from, this.#to]
    let count = 0
    for (let row = 0, i = 0; row < cell.height; row++)
      for (let x = 0, at = row * width + cell.x; x < cell.width; x++, i++, at++) {
        if (mask[i] === 0 || !(scores[i]! > best[i]!) || inside?.[i] === 0) continue
        best[i] = scores[i]!
        from[count] = i
        to[count++] = at
      }
    this.#count = count
  }

  /** Selects pixels for which a scene was chosen already. */
  takeChosen(scene: number, cell: Cell, { chosen, width }: Rows): void {
    const [from, to] = [this.#from, this.#to]
    let count = 0
    for (let row = 0, i = 0; row < cell.height; row++)
      for (let x = 0, at = row * width + cell.x; x < cell.width; x++, i++, at++) {
        if (chosen[at] !== scene) continue
        from[count] = i
        to[count++] = at
      }
    this.#count = count
  }

  /** Writes the selected pixels of the scene. */
  put(planes: readonly SampleArray[], scene: number, { samples, chosen }: Rows): void {
    const [to, count] = [this.#to, this.#count]
    for (let k = 0; k < count; k++) chosen[to[k]!] = scene
    for (let band = 0; band < planes.length; band++) putBand(planes[band]!, samples, { from: this.#from, to, count }, band, planes.length)
  }
}

interface Scored {
  readonly mask: Uint8Array
  readonly scores: Float32Array
  readonly best: Float32Array
}

function putBand(
  plane: SampleArray,
  samples: SampleArray,
  { from, to, count }: { from: Uint32Array; to: Uint32Array; count: number },
  band: number,
  stride: number,
): void {
  for (let k = 0; k < count; k++) samples[to[k]! * stride + band] = plane[from[k]!]!
}

type Settled = Mosaic & { readonly bands: readonly number[]; readonly resampling: Resampling }

interface Choice {
  readonly cell: Cell
  readonly indices: readonly number[]
  readonly inside: Uint8Array | null
  readonly signal: AbortSignal | undefined
}

/** Chooses the scene of each pixel of a cell. */
class Chooser {
  readonly #common: CommonGrid
  readonly #scenes: readonly ExactRaster[]
  readonly #options: Settled
  readonly #index: { compiled: CompiledExpression; bands: readonly number[] } | null
  readonly #picked = new Picked()
  #sampled: SampledPlanes | undefined

  constructor(common: CommonGrid, scenes: readonly ExactRaster[], options: Settled) {
    this.#common = common
    this.#scenes = scenes
    this.#options = options
    const { expression } = options
    const [first] = scenes
    const compiled =
      expression === undefined
        ? null
        : compileExpression(parseExpression(expression), { dataType: first!.info.dataType, scales: scalesOf(first!.info.bands) })
    this.#index = compiled && { compiled, bands: compiled.bands.map((band) => band - 1) }
  }

  cellWidth(rows: number): number {
    if (this.#options.choice !== 'median') return MAX_CELL_PX
    return Math.max(MIN_CELL_PX, Math.min(MAX_CELL_PX, Math.floor(SCORE_BYTES / (4 * rows * this.#scenes.length))))
  }

  /** Fills a cell of the rows. */
  async choose(cell: Cell, rows: Rows, signal: AbortSignal | undefined): Promise<void> {
    const indices = this.#common.touching(cell).filter((index) => index < this.#scenes.length)
    const inside = this.#common.inside(cell)
    this.#picked.clear(cell.width * cell.height)
    if (this.#options.choice === 'median') await this.#nearMedian({ cell, indices, inside, signal }, rows)
    else await this.#best({ cell, indices, inside, signal }, rows)
  }

  /** Keeps the best score so far, scene by scene. */
  async #best({ cell, indices, inside, signal }: Choice, rows: Rows): Promise<void> {
    const isFirst = this.#options.choice === 'first'
    const best = new Float32Array(isFirst ? 0 : cell.width * cell.height).fill(-Infinity)
    for (const index of indices) {
      const sample = await this.#sample(index, cell, signal)
      if (isFirst) this.#picked.takeFirst(sample.mask, inside, cell, rows)
      else this.#picked.takeBetter({ mask: sample.mask, scores: this.#scores(sample), best }, inside, cell, rows)
      this.#picked.put(sample.planes, index + 1, rows)
    }
  }

  /** Two passes: the scores of all scenes, then the pixels of the chosen ones. */
  async #nearMedian({ cell, indices, inside, signal }: Choice, rows: Rows): Promise<void> {
    const scores: Float32Array[] = []
    for (const index of indices) {
      const sample = await this.#sample(index, cell, signal)
      const score = this.#scores(sample)
      for (let i = 0; i < score.length; i++) if (sample.mask[i] === 0) score[i] = Number.NaN
      scores.push(score)
    }
    const values = new Float64Array(indices.length)
    for (let row = 0, i = 0; row < cell.height; row++)
      for (let x = 0, at = row * rows.width + cell.x; x < cell.width; x++, i++, at++) {
        if (inside?.[i] === 0) continue
        const nearest = nearestToMedian(scores, i, values)
        if (nearest >= 0) rows.chosen[at] = indices[nearest]! + 1
      }
    for (const index of indices) {
      const sample = await this.#sample(index, cell, signal)
      this.#picked.takeChosen(index + 1, cell, rows)
      this.#picked.put(sample.planes, index + 1, rows)
    }
  }

  async #sample(index: number, cell: Cell, signal: AbortSignal | undefined): Promise<SampledPlanes & { extra: SampleArray[] }> {
    const { bands, resampling, hasCloudMasks, cloudValues } = this.#options
    const allBands = [...bands, ...(this.#index?.bands ?? [])]
    const sampled = await this.#common.sample(index, cell, { bands: allBands, resampling, rule: 'any', signal, into: this.#sampled })
    this.#sampled = sampled
    const split = { ...sampled, planes: sampled.planes.slice(0, bands.length), extra: sampled.planes.slice(bands.length) }
    if (!hasCloudMasks) return split
    const clouds = await this.#common.sample(index + this.#scenes.length, cell, { bands: [0], resampling: 'nearest', signal })
    const [cloudy] = clouds.planes
    for (let i = 0; i < split.mask.length; i++)
      if (clouds.mask[i] !== 0 && (cloudValues ? cloudValues.includes(cloudy![i]!) : cloudy![i] !== 0)) split.mask[i] = 0
    return split
  }

  #scores({ planes, mask, extra }: SampledPlanes & { extra: SampleArray[] }): Float32Array<ArrayBuffer> {
    const { choice } = this.#options
    if (choice === 'highest') return new Float32Array(this.#index!.compiled.run(extra, mask, mask.length).values[0]!)
    const scores = new Float32Array(mask.length)
    for (const plane of planes) addTo(scores, plane)
    if (choice === 'darkest') for (let i = 0; i < scores.length; i++) scores[i] = -scores[i]!
    return scores
  }
}

function addTo(scores: Float32Array, plane: SampleArray): void {
  for (let i = 0; i < scores.length; i++) scores[i]! += plane[i]!
}

/** The index of the score nearest to the median of a pixel; the first of two equally near ones. -1: none. */
function nearestToMedian(scores: readonly Float32Array[], i: number, values: Float64Array): number {
  let count = 0
  for (const score of scores) {
    const value = score[i]!
    if (value === value) values[count++] = value
  }
  if (count === 0) return -1
  const sorted = values.subarray(0, count).sort()
  const median = (sorted[(count - 1) >> 1]! + sorted[count >> 1]!) / 2
  let [nearest, least] = [-1, Infinity]
  for (let scene = 0; scene < scores.length; scene++) {
    const distance = Math.abs(scores[scene]![i]! - median)
    if (distance < least) [nearest, least] = [scene, distance]
  }
  return nearest
}
