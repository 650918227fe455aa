/** Polygons, points and lines of well-known binary, in its ISO and EWKB forms. */
import { FileProblem, type Budget, type Mark, type Polygon, type Position } from './limits.ts'

const POLYGON = 3
const MULTI_POLYGON = 6
const COLLECTION = 7
const MAX_DEPTH = 8

const broken = () => new FileProblem('A geometry in the file is damaged. Export the layer again.')

/** Points and lines, which enclose nothing, are added to `marks`, or skipped without it. */
export function polygonsOfWkb(bytes: Uint8Array, budget: Budget, marks: Mark[] | null): Polygon[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let at = 0
  const need = (count: number) => {
    if (!(count >= 0) || at + count > view.byteLength) throw broken()
  }
  const uint = (isLittle: boolean) => {
    need(4)
    at += 4
    return view.getUint32(at - 4, isLittle)
  }
  const geometry = (depth: number): Polygon[] => {
    if (depth > MAX_DEPTH) throw broken()
    need(1)
    const isLittle = view.getUint8(at++) === 1
    const code = uint(isLittle)
    if (code & 0x20000000) uint(isLittle) // EWKB: the reference system.
    const iso = Math.floor((code & 0x0fffffff) / 1000)
    const hasZ = (code & 0x80000000) !== 0 || iso === 1 || iso === 3
    const hasM = (code & 0x40000000) !== 0 || iso === 2 || iso === 3
    const stride = 16 + (hasZ ? 8 : 0) + (hasM ? 8 : 0)
    const type = (code & 0x0fffffff) % 1000
    if (type === POLYGON) {
      const rings = Array.from({ length: counted(uint(isLittle), 4) }, () => positions(counted(uint(isLittle), stride), isLittle, stride))
      return rings.length > 0 && rings[0]!.length > 0 ? [rings] : []
    }
    if (type === MULTI_POLYGON || type === COLLECTION)
      return Array.from({ length: counted(uint(isLittle), 5) }, () => geometry(depth + 1)).flat()
    return others(type, isLittle, stride, depth)
  }
  /** As many as there can be bytes for. */
  const counted = (count: number, bytesEach: number) => {
    need(count * bytesEach)
    return count
  }
  const positions = (count: number, isLittle: boolean, stride: number): Position[] => {
    budget.positions(count)
    return Array.from({ length: count }, (): Position => {
      at += stride
      return [view.getFloat64(at - stride, isLittle), view.getFloat64(at - stride + 8, isLittle)]
    })
  }
  const others = (type: number, isLittle: boolean, stride: number, depth: number): Polygon[] => {
    if (type === 1 || type === 2) {
      const count = counted(type === 1 ? 1 : uint(isLittle), stride)
      const mark = marks ? positions(count, isLittle, stride) : []
      if (!marks) at += count * stride
      // An empty point has no numbers.
      if (mark.length > 0 && !Number.isNaN(mark[0]![0])) marks?.push(mark)
    } else if (type === 4 || type === 5) for (let left = counted(uint(isLittle), 5); left > 0; left--) geometry(depth + 1)
    else throw new FileProblem('The file has geometries that are not supported, such as curves. Convert them to polygons.')
    return []
  }
  return geometry(0)
}
