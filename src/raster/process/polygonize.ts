/** Polygons of connected pixels with the same value. Rows come from the top, and a polygon is emitted when it cannot grow. */
import { RasterError } from '#raster/types.ts'
import { Chains } from './chains.ts'
import { FeatureWriter } from './features.ts'
import { onlyRaster, withFile, type MethodTask } from './method.ts'
import { partOf, RowReader } from './rows.ts'

interface Polygonize {
  /** From 1. */
  readonly band?: number
  readonly geometry?: unknown
}

const ROWS_AT_ONCE = 256
const MAX_LABELS = 20_000_000
/** The value of pixels without data or outside. */
const NOTHING = Number.NaN

export async function polygonize(task: MethodTask<Polygonize>): Promise<Record<string, unknown>> {
  const { band = 1, geometry } = task.options
  const raster = onlyRaster(task)
  const part = partOf(raster, geometry)
  const { width, height, crs, transform } = part.grid
  const reader = new RowReader(raster, part, [band - 1])
  return await withFile(task, 'polygons.geojson', async (sink) => {
    const writer = new FeatureWriter(sink, crs, transform)
    const tracer = new Tracer(width, writer)
    for (let y = 0; y < height; y += ROWS_AT_ONCE) {
      const count = Math.min(ROWS_AT_ONCE, height - y)
      const { planes, mask } = await reader.read(y, count, task.signal)
      for (let row = 0; row < count; row++) {
        const values = new Float64Array(width)
        for (let x = 0, i = row * width; x < width; x++, i++) values[x] = mask[i] === 0 ? NOTHING : planes[0]![i]!
        tracer.next(values, y + row)
        await writer.flush()
      }
      task.onProgress((y + count) / height)
    }
    tracer.next(new Float64Array(width).fill(NOTHING), height)
    await writer.flush(true)
    return { featureCount: writer.count }
  })
}

/** Component labels, some of which turn out to be equal. */
class Labels {
  readonly #parents: number[] = []
  readonly #values: number[] = []

  /** A component of pixels of this value. */
  make(value: number): number {
    if (this.#parents.length >= MAX_LABELS)
      throw new RasterError('limit_exceeded', 'The raster has too many separate areas; smooth or classify it first')
    this.#values.push(value)
    return this.#parents.push(this.#parents.length) - 1
  }

  valueOf = (label: number): number => this.#values[label]!

  rootOf(label: number): number {
    let root = label
    while (this.#parents[root] !== root) root = this.#parents[root]!
    while (this.#parents[label] !== root) [label, this.#parents[label]] = [this.#parents[label]!, root]
    return root
  }

  unite(a: number, b: number): void {
    const [first, other] = [this.rootOf(a), this.rootOf(b)]
    if (first !== other) this.#parents[Math.max(first, other)] = Math.min(first, other)
  }
}

interface Row {
  readonly values: Float64Array
  readonly labels: Int32Array
}

/** A straight boundary has no vertex to store. */
const NO_POINT: readonly number[] = []

class Tracer {
  readonly #width: number
  readonly #writer: FeatureWriter
  readonly #labels = new Labels()
  readonly #chains: Chains<number>
  /** Closed rings of components that may still grow, by their first label. */
  readonly #rings = new Map<number, number[][]>()
  readonly #point = [0, 0]
  /** The four pixels around the current corner. */
  readonly #values = new Float64Array(4)
  #above: Row

  constructor(width: number, writer: FeatureWriter) {
    this.#width = width
    this.#writer = writer
    this.#above = { values: new Float64Array(width).fill(NOTHING), labels: new Int32Array(width).fill(-1) }
    this.#chains = new Chains<number>(({ owner, points }) => {
      const root = this.#labels.rootOf(owner)
      const known = this.#rings.get(root)
      if (known) known.push(points)
      else this.#rings.set(root, [points])
    })
  }

  next(values: Float64Array, y: number): void {
    const labels = this.#label(values)
    const below = { values, labels }
    for (let x = 0; x <= this.#width; x++) this.#corner(this.#above, below, x, y)
    this.#above = below
    this.#emit(labels)
  }

  #label(values: Float64Array): Int32Array {
    const labels = new Int32Array(values.length).fill(-1)
    const { values: over, labels: known } = this.#above
    for (let x = 0; x < values.length; x++) {
      const value = values[x]!
      if (value !== value) continue
      const left = x > 0 && values[x - 1] === value ? labels[x - 1]! : -1
      const up = over[x] === value ? known[x]! : -1
      labels[x] = left >= 0 ? left : up >= 0 ? up : this.#labels.make(value)
      if (left >= 0 && up >= 0) this.#labels.unite(left, up)
    }
    return labels
  }

  /**
   * The boundaries that meet at a corner. Of the four pixels around it, each run of equal ones is bounded by two edges, and its
   * outline connects them. Two equal pixels that touch only at the corner are two runs: areas connect along sides.
   */
  #corner(above: Row, below: Row, x: number, y: number): void {
    // Clockwise from left above. Edge k lies between pixel k and the one before it: left, up, right, down.
    const hasLeft = x > 0
    const hasRight = x < this.#width
    const a = hasLeft ? above.values[x - 1]! : NOTHING
    const b = hasRight ? above.values[x]! : NOTHING
    const c = hasRight ? below.values[x]! : NOTHING
    const d = hasLeft ? below.values[x - 1]! : NOTHING
    if (a === b && b === c && c === d) return
    const values = this.#values
    values[0] = a
    values[1] = b
    values[2] = c
    values[3] = d
    for (let k = 0; k < 4; k++) {
      const value = values[k]!
      if (value !== value || value === values[(k + 3) & 3]) continue
      let end = k + 1
      while (values[end & 3] === value) end++
      const row = k < 2 ? above : below
      const label = row.labels[k === 0 || k === 3 ? x - 1 : x]!
      this.#point[0] = x
      this.#point[1] = y
      const point = end - k === 2 ? NO_POINT : this.#point
      this.#chains.add(label, this.#key(k, x, y, 1), this.#key(end & 3, x, y, 0), point)
    }
  }

  /** An edge and one of its sides: 1 for the pixel that follows it clockwise around this corner, 0 for the one before. */
  #key(edge: number, x: number, y: number, follows: 0 | 1): number {
    // Left edge (0): pixel 0 above follows, pixel 3 below is before.
    // Up (1): right follows. Right (2): below follows. Down (3): left follows.
    const isHorizontal = edge % 2 === 0
    const column = edge === 0 ? x - 1 : x
    const row = edge === 1 ? y - 1 : y
    const isUpperOrRight = edge === 0 || edge === 1 ? follows === 1 : follows === 0
    return ((column * 2 + (row & 1)) * 2 + (isHorizontal ? 1 : 0)) * 2 + (isUpperOrRight ? 1 : 0)
  }

  /** Components that this row does not touch are complete. */
  #emit(labels: Int32Array): void {
    if (this.#rings.size === 0) return
    const alive = new Set<number>()
    let before = -1
    for (const label of labels) {
      if (label < 0 || label === before) continue
      before = label
      alive.add(this.#labels.rootOf(label))
    }
    for (const [known, rings] of this.#rings) {
      const root = this.#labels.rootOf(known)
      if (root !== known) {
        const other = this.#rings.get(root)
        if (other) for (const ring of rings) other.push(ring)
        else this.#rings.set(root, rings)
        this.#rings.delete(known)
      } else if (!alive.has(root)) {
        this.#rings.delete(known)
        this.#write(this.#labels.valueOf(root), rings)
      }
    }
  }

  #write(value: number, rings: readonly number[][]): void {
    const simple = rings.flatMap((points) => simpleRings(points, this.#width + 1))
    const sorted = simple.map((points) => ({ points, area: areaOf(points) })).toSorted((a, b) => Math.abs(b.area) - Math.abs(a.area))
    const coordinates = sorted.map(({ points, area }, index) => {
      // Rows run downwards, so an area that is positive there runs clockwise on the ground: outlines go the other way, holes do not.
      const isRight = index === 0 ? area < 0 : area > 0
      const ring = this.#writer.positions(this.#writer.isBent ? withBetween(points) : points)
      if (!isRight) ring.reverse()
      return [...ring, ring[0]]
    })
    this.#writer.add({ type: 'Polygon', coordinates }, { value })
  }
}

/**
 * Where an outline revisits a corner, because two of its pixels touch there, the part in between is a separate ring: a
 * hole, because the area continues around it.
 */
function simpleRings(points: readonly number[], columns: number): number[][] {
  const rings: number[][] = []
  const path: number[] = []
  const places = new Map<number, number>()
  for (let i = 0; i < points.length; i += 2) {
    const [x, y] = [points[i]!, points[i + 1]!]
    const corner = y * columns + x
    const been = places.get(corner)
    if (been === undefined) places.set(corner, path.length)
    else {
      const loop = path.splice(been + 2)
      for (let at = 0; at < loop.length; at += 2) places.delete(loop[at + 1]! * columns + loop[at]!)
      rings.push([x, y, ...loop])
      continue
    }
    path.push(x, y)
  }
  rings.push(path)
  return rings
}

/** Lines of pixels are curved in degrees: intermediate points keep them away from their neighbours. */
const MAX_STRAIGHT_PX = 32

function withBetween(points: readonly number[]): number[] {
  const dense: number[] = []
  for (let i = 0; i < points.length; i += 2) {
    const [x1, y1] = [points[i]!, points[i + 1]!]
    const j = (i + 2) % points.length
    const [dx, dy] = [points[j]! - x1, points[j + 1]! - y1]
    const steps = Math.ceil((Math.abs(dx) + Math.abs(dy)) / MAX_STRAIGHT_PX)
    for (let step = 0; step < steps; step++) dense.push(x1 + Math.trunc((dx * step) / steps), y1 + Math.trunc((dy * step) / steps))
  }
  return dense
}

function areaOf(points: readonly number[]): number {
  let sum = 0
  for (let i = 0; i < points.length; i += 2) {
    const j = (i + 2) % points.length
    sum += points[i]! * points[j + 1]! - points[j]! * points[i + 1]!
  }
  return sum / 2
}
