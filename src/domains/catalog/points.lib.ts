/** Reads the points of a granule line by line, so that only the returned points and one line are in memory. */
import type { AreaGeometry, Position } from '#core/geometry.ts'
import { polygonsOf } from '#core/area.ts'
import { VendorError } from '#ports/vendors/call.ts'

interface Selection {
  readonly bbox: readonly number[]
  readonly polygon: AreaGeometry | null
  readonly maxPoints: number
}

const MAX_LINE_BYTES = 64 * 1024
const MAX_GRANULE_BYTES = 512 * 1024 * 1024

type Point = [longitude: number, latitude: number, value: number]

export async function readPoints(bytes: AsyncIterable<Uint8Array>, hostName: string, { bbox, polygon, maxPoints }: Selection) {
  let kept: Point[] = []
  let every = 1
  let count = 0
  let low = Infinity
  let high = -Infinity
  for await (const line of linesOf(bytes, hostName)) {
    const point = pointOf(line, hostName)
    if (!isIn(point, bbox) || (polygon && !isInside(polygon, point))) continue
    if (count++ % every === 0) kept.push(point)
    low = Math.min(low, point[2])
    high = Math.max(high, point[2])
    if (kept.length <= maxPoints) continue
    // Drops every second point and from here on keeps every second new one, so that the subsample stays even.
    kept = kept.filter((_, index) => index % 2 === 0)
    every *= 2
  }
  return {
    points: kept,
    value_label: 'Height (m)',
    value_range: count === 0 ? [] : [low, high],
    count,
    returned: kept.length,
    subsampled: kept.length < count,
  }
}

async function* linesOf(bytes: AsyncIterable<Uint8Array>, hostName: string): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  let size = 0
  for await (const chunk of bytes) {
    size += chunk.byteLength
    if (size > MAX_GRANULE_BYTES)
      throw new VendorError('invalid-response', hostName, `${hostName} sent a granule above the limit of ${MAX_GRANULE_BYTES} bytes`)
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop()!
    if (rest.length > MAX_LINE_BYTES)
      throw new VendorError('invalid-response', hostName, `${hostName} sent a line above the limit of ${MAX_LINE_BYTES} bytes`)
    for (const line of lines) if (line.trim() !== '') yield line
  }
  if (rest.trim() !== '') yield rest
}

function pointOf(line: string, hostName: string): Point {
  try {
    const { geometry, properties } = JSON.parse(line) as { geometry: { coordinates: number[] }; properties?: { height?: number } }
    const [x, y, z] = geometry.coordinates
    const point = [x, y, properties?.height ?? z]
    if (point.every((part) => typeof part === 'number' && Number.isFinite(part))) return point as Point
  } catch {
    // Reported below, like a line that is valid JSON but not a point.
  }
  throw new VendorError('invalid-response', hostName, `${hostName} sent a line that is not a point`)
}

const isIn = ([x, y]: Point, [west, south, east, north]: readonly number[]): boolean =>
  y >= south! && y <= north! && (west! <= east! ? x >= west! && x <= east! : x >= west! || x <= east!)

function isInside(area: AreaGeometry, [x, y]: Point): boolean {
  return polygonsOf(area).some((rings) => rings.reduce((inside, ring) => (isInRing(ring, x, y) ? !inside : inside), false))
}

function isInRing(ring: readonly Position[], x: number, y: number): boolean {
  let inside = false
  for (let i = 0, j = ring.length - 1; i < ring.length; j = i++) {
    const [ax, ay] = ring[i]!
    const [bx, by] = ring[j]!
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) inside = !inside
  }
  return inside
}
