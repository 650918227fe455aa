import type { Polygon, Position, Ring } from './polygon.ts'

interface Extent {
  width: number
  height: number
}

/**
 * The pixels inside, as runs: those of row `y` are the pairs `edges[2k]` (first) and `edges[2k + 1]` (after the last) for k
 * from `starts[y]` to `starts[y + 1]`.
 */
export interface RowSpans {
  readonly starts: Uint32Array
  readonly edges: Int32Array
}

/** Finds the pixels whose centre lies inside, by the even-odd rule; polygons are in pixel coordinates. */
export function rasterizeSpans(polygons: readonly Polygon[], { width, height }: Extent): RowSpans {
  const starts = new Uint32Array(height + 1)
  let edges = new Int32Array(Math.max(64, height * 4))
  let count = 0
  const sides = polygons
    .flat()
    .flatMap((ring) => ringEdges(ring))
    .sort((a, b) => a.top - b.top)
  let active: Edge[] = []
  let next = 0
  for (let row = 0; row < height; row++) {
    const y = row + 0.5
    for (; next < sides.length && sides[next]!.top <= y; next++) active.push(sides[next]!)
    active = active.filter((edge) => edge.bottom > y)
    const crossings = active.map(({ x, top, slope }) => x + (y - top) * slope).sort((a, b) => a - b)
    if (edges.length < 2 * count + crossings.length) edges = grown(edges, 2 * count + crossings.length)
    for (let i = 0; i + 1 < crossings.length; i += 2) {
      const from = Math.max(0, Math.ceil(crossings[i]! - 0.5))
      const to = Math.min(width, Math.ceil(crossings[i + 1]! - 0.5))
      if (from >= to) continue
      edges[2 * count] = from
      edges[2 * count + 1] = to
      count += 1
    }
    starts[row + 1] = count
  }
  return { starts, edges: edges.subarray(0, 2 * count) }
}

function grown(edges: Int32Array, least: number): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(Math.max(least, edges.length * 2))
  larger.set(edges)
  return larger
}

/** Marks (255) the pixels whose centre lies inside. */
export function rasterizeMask(polygons: readonly Polygon[], { width, height }: Extent): Uint8Array<ArrayBuffer> {
  const mask = new Uint8Array(width * height)
  const { starts, edges } = rasterizeSpans(polygons, { width, height })
  for (let row = 0; row < height; row++) {
    for (let k = starts[row]!; k < starts[row + 1]!; k++) mask.fill(255, row * width + edges[2 * k]!, row * width + edges[2 * k + 1]!)
  }
  return mask
}

interface Edge {
  /** The upper end of the edge, and its horizontal step per row. */
  x: number
  top: number
  bottom: number
  slope: number
}

function ringEdges(ring: Ring): Edge[] {
  const edges: Edge[] = []
  for (let i = 0; i + 1 < ring.length; i++) {
    const a = ring[i] as Position
    const b = ring[i + 1] as Position
    if (a[1] === b[1]) continue
    const [upper, lower] = a[1] < b[1] ? [a, b] : [b, a]
    edges.push({ x: upper[0], top: upper[1], bottom: lower[1], slope: (lower[0] - upper[0]) / (lower[1] - upper[1]) })
  }
  return edges
}

/**
 * The exact share of every pixel inside: each edge adds the area to its right, signed by its direction, and a running sum along
 * the row gives the coverage. Polygons must not overlap each other.
 */
export function rasterizeCoverage(polygons: readonly Polygon[], { width, height }: Extent): Float64Array<ArrayBuffer> {
  const coverage = new Float64Array(width * height)
  // Two cells more than a row: an edge in the last pixel writes to the cell after it.
  const stride = width + 2
  const sums = new Float64Array(stride * height)
  addCoverage(sums, { width, height, stride }, polygons)
  for (let row = 0; row < height; row++) {
    let sum = 0
    for (let column = 0; column < width; column++) {
      sum += sums[row * stride + column]!
      coverage[row * width + column] = Math.min(1, Math.max(0, sum))
    }
  }
  return coverage
}

interface Accumulator extends Extent {
  /** Row stride in cells: at least two more than the width. */
  stride: number
}

/** Adds polygons to the differences of coverage; their running sum along each row is the share of every pixel inside. */
export function addCoverage(sums: Float64Array, size: Accumulator, polygons: readonly Polygon[]): void {
  for (const polygon of polygons) polygon.forEach((ring, index) => addRing(sums, size, oriented(ring, index === 0)))
}

/** Orients outer rings one way and holes the other, whatever the input. */
function oriented(ring: Ring, isOuter: boolean): Ring {
  let area = 0
  for (let i = 0; i + 1 < ring.length; i++) {
    const [x0, y0] = ring[i] as Position
    const [x1, y1] = ring[i + 1] as Position
    area += x0 * y1 - x1 * y0
  }
  return area > 0 === isOuter ? ring : ring.toReversed()
}

function addRing(sums: Float64Array, size: Accumulator, ring: Ring): void {
  for (let i = 0; i + 1 < ring.length; i++) addClipped(sums, size, ring[i] as Position, ring[i + 1] as Position)
}

/** Edges left of the window still cover its rows from the first pixel on; edges right of it cover nothing. */
function addClipped(sums: Float64Array, size: Accumulator, a: Position, b: Position): void {
  if (a[1] === b[1]) return
  const cuts = [0, size.width]
    .map((x) => (x - a[0]) / (b[0] - a[0]))
    .filter((share) => share > 0 && share < 1)
    .sort((p, q) => p - q)
  const shares = [0, ...cuts, 1]
  const clamp = (x: number): number => Math.max(0, Math.min(size.width, x))
  for (let i = 0; i + 1 < shares.length; i++) {
    const at = (share: number): Position => [clamp(a[0] + (b[0] - a[0]) * share), a[1] + (b[1] - a[1]) * share]
    addEdge(sums, size, at(shares[i]!), at(shares[i + 1]!))
  }
}

function addEdge(sums: Float64Array, { height, stride }: Accumulator, a: Position, b: Position): void {
  const isDown = a[1] < b[1]
  const [upper, lower] = isDown ? [a, b] : [b, a]
  const slope = (lower[0] - upper[0]) / (lower[1] - upper[1])
  const [least, most] = [Math.min(upper[0], lower[0]), Math.max(upper[0], lower[0])]
  // Rounding must not move a point beyond its edge: just left of the window, there is no pixel to write to.
  const across = (y: number): number => Math.min(most, Math.max(least, upper[0] + (y - upper[1]) * slope))
  const lastRow = Math.min(height, Math.ceil(lower[1]))
  for (let row = Math.max(0, Math.floor(upper[1])); row < lastRow; row++) {
    const from = Math.max(row, upper[1])
    const to = Math.min(row + 1, lower[1])
    if (to <= from) continue
    const x0 = across(from)
    const x1 = across(to)
    addSpan(sums, row * stride, { left: Math.min(x0, x1), right: Math.max(x0, x1), area: isDown ? -(to - from) : to - from })
  }
}

/** Distributes an edge's part in one row over the pixels it crosses: the area to its right in each, as differences. */
function addSpan(sums: Float64Array, start: number, { left, right, area }: { left: number; right: number; area: number }): void {
  const first = Math.floor(left)
  const last = Math.max(first, Math.ceil(right) - 1)
  if (first === last) {
    const covered = first + 1 - (left + right) / 2
    sums[start + first] = sums[start + first]! + area * covered
    sums[start + first + 1] = sums[start + first + 1]! + area * (1 - covered)
    return
  }
  const perPixel = 1 / (right - left)
  let before = 0
  for (let column = first; column <= last; column++) {
    // The share of the edge left of the pixel's right side, and the area right of the edge inside the pixel.
    const enter = Math.max(left, column)
    const leave = Math.min(right, column + 1)
    const shareIn = (leave - enter) * perPixel
    const shareBefore = (enter - left) * perPixel
    const covered = shareBefore + shareIn * (column + 1 - (enter + leave) / 2)
    sums[start + column] = sums[start + column]! + area * (covered - before)
    before = covered
  }
  sums[start + last + 1] = sums[start + last + 1]! + area * (1 - before)
}
