import { EXACT_ARRAY } from '#raster/tiff/sample.ts'
import type { TiffRaster } from '#raster/tiff/raster.ts'
import type { DataType, ExactSampleArray } from '#raster/types.ts'

/** What test/golden/dump.py says that GDAL sees. */
export interface Dump {
  readonly width: number
  readonly height: number
  readonly bandCount: number
  readonly dataType: DataType
  readonly nbits: number | null
  readonly levels: readonly (readonly [number, number])[]
  readonly transform: readonly number[] | null
  readonly gcpCount: number
  /** GDAL's own fit through the ground control points. */
  readonly gcpTransform: readonly number[] | null
  readonly nodata: number | string | null
  readonly epsg: number | null
  readonly scales: readonly number[]
  readonly offsets: readonly number[]
  readonly names: readonly (string | null)[]
  readonly units: readonly (string | null)[]
  readonly colors: readonly string[]
  readonly maskFlags: number
  readonly colorTable: readonly (readonly number[])[] | null
}

const MASK_NODATA = 8

/** Everything in which our reading differs from GDAL's, in words; empty when nothing does. */
export async function differences(raster: TiffRaster, dump: Dump, samples: Uint8Array): Promise<string[]> {
  return [...describeDifferences(raster, dump), ...(await sampleDifferences(raster, dump, samples))]
}

function describeDifferences({ info }: TiffRaster, dump: Dump): string[] {
  const ours: Record<string, unknown> = {
    width: info.width,
    height: info.height,
    bandCount: info.bandCount,
    // GDAL widens half floats to float32, as we do in memory.
    dataType: info.dataType === 'float16' ? 'float32' : info.dataType,
    levels: info.levels.map((level) => [level.width, level.height]),
    gcpCount: info.gcps.length,
    nodata: info.declaredNodata,
    scales: info.bands.map((band) => band.scale),
    offsets: info.bands.map((band) => band.offset),
    names: info.bands.map((band) => band.name),
    units: info.bands.map((band) => band.unit),
    colors: info.bands.map((band) => band.color),
    colorTable: info.colorTable && entriesOf(info.colorTable),
  }
  if (dump.gcpCount === 0) ours['transform'] = info.transform
  else if (!isNear(info.transform, dump.gcpTransform)) ours['gcpTransform'] = info.transform
  if (dump.epsg !== null) ours['epsg'] = info.crs?.epsg ?? null
  const theirs: Record<string, unknown> = {
    ...dump,
    nodata: typeof dump.nodata === 'string' ? Number(dump.nodata.replace('inf', 'Infinity')) : dump.nodata,
  }
  return Object.entries(ours)
    .filter(([name, value]) => !same(value, theirs[name]))
    .map(([name, value]) => `${name}: ${JSON.stringify(value)?.slice(0, 200)} instead of ${JSON.stringify(theirs[name])?.slice(0, 200)}`)
}

/** Two fits by different arithmetic: within a billionth of the coordinates. */
function isNear(a: readonly number[] | null, b: readonly number[] | null): boolean {
  if (!a || !b) return a === b
  return a.every((value, i) => Math.abs(value - (b[i] ?? NaN)) <= 1e-9 * Math.max(1, Math.abs(value)))
}

function entriesOf(table: Uint8Array): number[][] {
  return Array.from({ length: table.length / 4 }, (_, i) => Array.from(table.subarray(i * 4, i * 4 + 4)))
}

function same(a: unknown, b: unknown): boolean {
  if (typeof a === 'number' && typeof b === 'number') return Object.is(a, b) || a === b || Math.abs(a - b) <= 1e-12 * Math.abs(b)
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((value, i) => same(value, b[i]))
  return a === b
}

async function sampleDifferences(raster: TiffRaster, dump: Dump, expected: Uint8Array): Promise<string[]> {
  const { info } = raster
  const problems: string[] = []
  const ArrayType = EXACT_ARRAY[dump.dataType]
  let at = 0
  for (const [index, [width, height]] of dump.levels.entries()) {
    if (index >= info.levels.length) break
    const count = width * height
    const window = await raster.readExactWindow(index, { x: 0, y: 0, width, height })
    for (const [band, ours] of window.data.entries()) {
      const bytes = new Uint8Array(expected.subarray(at, at + count * ArrayType.BYTES_PER_ELEMENT))
      at += bytes.byteLength
      const bad = countDifferent(ours, new ArrayType(bytes.buffer, 0, count))
      if (bad > 0) problems.push(`level ${index} band ${band + 1}: ${bad} of ${count} samples differ`)
    }
    const theirs = expected.subarray(at, at + count)
    at += count
    const mask = window.mask ?? nodataMask(window.data[0], info.bands[0]?.nodata ?? null, dump, count)
    const bad = countDifferent(mask, theirs)
    if (bad > 0) problems.push(`level ${index} mask: ${bad} of ${count} pixels differ`)
  }
  return problems
}

/** The mask that a kernel derives from nodata. */
function nodataMask(samples: ExactSampleArray | undefined, nodata: number | null, dump: Dump, count: number): Uint8Array {
  const mask = new Uint8Array(count).fill(255)
  if (nodata === null || !samples || (dump.maskFlags & MASK_NODATA) === 0) return mask
  for (let i = 0; i < count; i++) {
    const value = Number(samples[i])
    if (value === nodata || (Number.isNaN(nodata) && Number.isNaN(value))) mask[i] = 0
  }
  return mask
}

function countDifferent(a: ExactSampleArray, b: ExactSampleArray): number {
  if (a.length !== b.length) return Math.max(a.length, b.length)
  if (Buffer.from(a.buffer, a.byteOffset, a.byteLength).equals(Buffer.from(b.buffer, b.byteOffset, b.byteLength))) return 0
  let count = 0
  for (let i = 0; i < a.length; i++) if (!Object.is(a[i], b[i]) && a[i] !== b[i]) count++
  return count
}
