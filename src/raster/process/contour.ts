/** Contour lines by marching squares between pixel centres. */
import { RasterError } from '#raster/types.ts'
import { Chains } from './chains.ts'
import { FeatureWriter } from './features.ts'
import { onlyRaster, withFile, type MethodTask } from './method.ts'
import { partOf, RowReader } from './rows.ts'

interface Contour {
  readonly interval: number
  readonly base?: number
  /** From 1. */
  readonly band?: number
}

const ROWS_AT_ONCE = 256
const MAX_LEVELS_PER_SQUARE = 10_000
const MAX_OPEN_LINES = 2_000_000
/** Edges are numbered per level by position: twice the pixel, plus one for vertical edges. */
const levelKey = (level: number, edge: number, edges: number): number => level * edges + edge

export async function contour(task: MethodTask<Contour>): Promise<Record<string, unknown>> {
  const { interval, base = 0, band = 1 } = task.options
  const raster = onlyRaster(task)
  const part = partOf(raster, undefined)
  const { width, height, crs, transform } = part.grid
  const reader = new RowReader(raster, part, [band - 1])
  return await withFile(task, 'contours.geojson', async (sink) => {
    const writer = new FeatureWriter(sink, crs, transform)
    const edges = 2 * width
    const chains = new Chains<number>(({ owner, points }) => {
      if (points.length >= 4) writer.add({ type: 'LineString', coordinates: writer.positions(points) }, { elev: owner })
    })
    const lines = new Marching(chains, { interval, base, width, edges })
    for (let y = 0; y < height; y += ROWS_AT_ONCE) {
      const count = Math.min(ROWS_AT_ONCE, height - y)
      const { planes, mask } = await reader.read(y, count, task.signal)
      for (let row = 0; row < count; row++) {
        const heights = new Float64Array(width)
        for (let x = 0, i = row * width; x < width; x++, i++) heights[x] = mask[i] === 0 ? Number.NaN : planes[0]![i]!
        lines.next(heights, y + row)
      }
      await writer.flush()
      task.onProgress((y + count) / height)
    }
    chains.settle(() => true)
    await writer.flush(true)
    return { featureCount: writer.count }
  })
}

interface Shape {
  interval: number
  base: number
  width: number
  edges: number
}

/** Takes rows of heights from top to bottom and traces the lines between each pair. */
class Marching {
  readonly #chains: Chains<number>
  readonly #shape: Shape
  #above: Float64Array | null = null

  constructor(chains: Chains<number>, shape: Shape) {
    this.#chains = chains
    this.#shape = shape
  }

  next(below: Float64Array, y: number): void {
    const above = this.#above
    this.#above = below
    if (!above) return
    for (let x = 0; x + 1 < below.length; x++) this.#square(above, below, x, y)
    // Keys of the lower edge of this row are even; in the next row they are its upper edge.
    const parity = y & 1
    this.#chains.settle((key) => (key & 3) !== parity << 1)
    if (this.#chains.size > MAX_OPEN_LINES) throw new RasterError('limit_exceeded', 'Too many contour lines; use a larger interval')
  }

  /** Between four centres: a is left and b right above, c left and d right below. */
  #square(above: Float64Array, below: Float64Array, x: number, y: number): void {
    const [a, b, c, d] = [above[x]!, above[x + 1]!, below[x]!, below[x + 1]!]
    const [low, high] = [Math.min(a, b, c, d), Math.max(a, b, c, d)]
    if (!(low < high)) return // All equal, or one is missing.
    const { interval, base } = this.#shape
    const [first, last] = [Math.ceil((low - base) / interval), Math.floor((high - base) / interval)]
    if (last - first > MAX_LEVELS_PER_SQUARE) throw new RasterError('limit_exceeded', 'Too many contour lines; use a larger interval')
    for (let step = first; step <= last; step++) this.#line(base + step * interval, step, [a, b, c, d], x, y)
  }

  #line(level: number, step: number, [a, b, c, d]: readonly [number, number, number, number], x: number, y: number): void {
    // A height equal to the level counts as above it.
    const code = (a >= level ? 8 : 0) | (b >= level ? 4 : 0) | (d >= level ? 2 : 0) | (c >= level ? 1 : 0)
    if (code === 0 || code === 15) return
    const share = (from: number, to: number): number => (level - from) / (to - from)
    const [left, top] = [x + 0.5, y - 0.5]
    const north = () => this.#end(step, x, y - 1, false, [left + share(a, b), top])
    const south = () => this.#end(step, x, y, false, [left + share(c, d), top + 1])
    const west = () => this.#end(step, x, y, true, [left, top + share(a, c)])
    const east = () => this.#end(step, x + 1, y, true, [left + 1, top + share(b, d)])
    for (const [from, to] of PIECES[code]!(() => (a + b + c + d) / 4 >= level)) {
      const sides = { n: north, s: south, w: west, e: east }
      const [start, other] = [sides[from](), sides[to]()]
      this.#chains.add(level, start.key, other.key, [...start.point, ...other.point])
    }
  }

  /** An edge is identified by its level, column, orientation and row parity: only two rows are open. */
  #end(step: number, x: number, row: number, isVertical: boolean, point: readonly [number, number]) {
    const place = x * 4 + ((row & 1) << 1) + (isVertical ? 1 : 0)
    return { key: levelKey(step, place, this.#shape.width * 4), point }
  }
}

type Side = 'n' | 's' | 'w' | 'e'
type Pieces = readonly (readonly [Side, Side])[]
const plain =
  (...pieces: Pieces) =>
  () =>
    pieces

/** By which corners are above: 8 left above, 4 right above, 2 right below, 1 left below. At a saddle the middle decides. */
const PIECES: Readonly<Record<number, (isMiddleAbove: () => boolean) => Pieces>> = {
  1: plain(['w', 's']),
  2: plain(['s', 'e']),
  3: plain(['w', 'e']),
  4: plain(['n', 'e']),
  5: (isAbove) =>
    isAbove()
      ? [
          ['w', 'n'],
          ['s', 'e'],
        ]
      : [
          ['n', 'e'],
          ['w', 's'],
        ],
  6: plain(['n', 's']),
  7: plain(['w', 'n']),
  8: plain(['w', 'n']),
  9: plain(['n', 's']),
  10: (isAbove) =>
    isAbove()
      ? [
          ['n', 'e'],
          ['w', 's'],
        ]
      : [
          ['w', 'n'],
          ['s', 'e'],
        ],
  11: plain(['n', 'e']),
  12: plain(['w', 'e']),
  13: plain(['s', 'e']),
  14: plain(['w', 's']),
}
