/**
 * Loops over samples of one data type. This module is loaded once per type (see `instances.ts`), so that the engine
 * compiles each copy for a single array type; one copy for all types would run ten times slower.
 */
import type { Band, Block, SampleArray } from '#raster/types.ts'

/** How many bands must have data for a pixel to be data: all of them for arithmetic, any of them for an image. */
export type ValidRule = 'all' | 'any'

export interface Run {
  count: number
  out: number
}

/** Target of gathered samples: planes of the source's type, and a mask. Samples without data are copied too. */
export interface PlanarTarget {
  /** Zero-based bands of the file, one per plane. */
  bands: readonly number[]
  planes: readonly SampleArray[]
  mask: Uint8Array
  nodata: readonly (number | null)[]
  rule: ValidRule
  isFloat: boolean
}

/** NaN equals nothing, so a missing nodata value needs no separate test. */
const markerOf = (nodata: number | null | undefined): number => nodata ?? Number.NaN

/** Copies the samples of a run into planes, and marks the pixels with data. */
export function copyPixels(target: PlanarTarget, block: Block, offsets: Int32Array, { count, out }: Run): void {
  const { bands, planes, mask, nodata, rule, isFloat } = target
  const mayMiss = isFloat || nodata.some((value) => value !== null)
  mask.fill(mayMiss && rule === 'any' ? 0 : 255, out, out + count)
  bands.forEach((band, k) => {
    const plane = block.bands.indexOf(band)
    const from = { data: block.data[plane]!, offsets, stride: block.stride, start: block.starts[plane]! }
    const to = { samples: planes[k]!, mask, out, count }
    if (!mayMiss) copySamples(from, to)
    else if (rule === 'any') copyAndMark(from, to, markerOf(nodata[k]))
    else copyAndClear(from, to, markerOf(nodata[k]))
  })
  if (block.mask) for (let i = 0; i < count; i++) if (mask[out + i] !== 0) mask[out + i] = block.mask[offsets[i]!]!
}

/** A rectangle of a block and its target position, as pixel indices in both. */
export interface Rectangle {
  from: number
  out: number
  width: number
  height: number
  outWidth: number
}

/** Like `copyPixels`, for pixels with the same layout in the target and in the block. */
export function copyRectangle(target: PlanarTarget, block: Block, { from, out, width, height, outWidth }: Rectangle): void {
  const { bands, planes, mask, nodata, rule, isFloat } = target
  const mayMiss = isFloat || nodata.some((value) => value !== null)
  const isQuick = mayMiss && rule === 'any' && !isFloat && isFourOfFour(block, bands)
  for (let row = 0; row < height; row++) {
    const [at, to] = [from + row * block.width, out + row * outWidth]
    if (isQuick) copyFour(block.data[0]!, at, { planes, mask, out: to, count: width }, nodata)
    else {
      mask.fill(mayMiss && rule === 'any' ? 0 : 255, to, to + width)
      for (let k = 0; k < bands.length; k++) {
        const plane = block.bands.indexOf(bands[k]!)
        const source = { data: block.data[plane]!, at: at * block.stride + block.starts[plane]!, stride: block.stride }
        const into = { samples: planes[k]!, mask, out: to, count: width }
        if (!mayMiss) moveRow(source, into)
        else if (rule === 'any') moveAndMark(source, into, markerOf(nodata[k]))
        else moveAndClear(source, into, markerOf(nodata[k]))
      }
    }
    if (block.mask) for (let i = 0; i < width; i++) if (mask[to + i] !== 0) mask[to + i] = block.mask[at + i]!
  }
}

/** Whether all four bands of a pixel are needed, in order, and interleaved in small integers: most imagery. */
const isFourOfFour = ({ bands, data, stride, starts }: Block, wanted: readonly number[]): boolean =>
  stride === 4 &&
  wanted.length === 4 &&
  wanted.every((band, k) => band === k && bands[k] === k && starts[k] === k && data[k] === data[0]) &&
  data[0]!.BYTES_PER_ELEMENT <= 2

interface FourTo {
  planes: readonly SampleArray[]
  mask: Uint8Array
  out: number
  count: number
}

function copyFour(data: SampleArray, pixel: number, { planes, mask, out, count }: FourTo, nodata: readonly (number | null)[]): void {
  const [p0, p1, p2, p3] = planes as [SampleArray, SampleArray, SampleArray, SampleArray]
  const [n0, n1] = [integerMarker(nodata[0]), integerMarker(nodata[1])]
  const [n2, n3] = [integerMarker(nodata[2]), integerMarker(nodata[3])]
  for (let i = out, at = pixel * 4, end = out + count; i < end; i++, at += 4) {
    const a = data[at]!
    const b = data[at + 1]!
    const c = data[at + 2]!
    const d = data[at + 3]!
    p0[i] = a
    p1[i] = b
    p2[i] = c
    p3[i] = d
    mask[i] = a !== n0 || b !== n1 || c !== n2 || d !== n3 ? 255 : 0
  }
}

interface RowFrom {
  data: SampleArray
  at: number
  stride: number
}

function moveRow({ data, at, stride }: RowFrom, { samples, out, count }: To): void {
  if (stride === 1) samples.set(data.subarray(at, at + count), out)
  else for (let i = out, from = at, end = out + count; i < end; i++, from += stride) samples[i] = data[from]!
}

function moveAndMark({ data, at, stride }: RowFrom, { samples, mask, out, count }: To, marker: number): void {
  for (let i = out, from = at, end = out + count; i < end; i++, from += stride) {
    const value = data[from]!
    samples[i] = value
    if (value !== marker && value - value === 0) mask[i] = 255
  }
}

function moveAndClear({ data, at, stride }: RowFrom, { samples, mask, out, count }: To, marker: number): void {
  for (let i = out, from = at, end = out + count; i < end; i++, from += stride) {
    const value = data[from]!
    samples[i] = value
    if (value === marker || value - value !== 0) mask[i] = 0
  }
}

interface From {
  data: SampleArray
  offsets: Int32Array
  stride: number
  start: number
}

interface To {
  samples: SampleArray
  mask: Uint8Array
  out: number
  count: number
}

function copySamples({ data, offsets, stride, start }: From, { samples, out, count }: To): void {
  for (let i = 0; i < count; i++) samples[out + i] = data[((offsets[i]! * stride) | 0) + start]!
}

function copyAndMark({ data, offsets, stride, start }: From, { samples, mask, out, count }: To, marker: number): void {
  for (let i = 0; i < count; i++) {
    const value = data[((offsets[i]! * stride) | 0) + start]!
    samples[out + i] = value
    if (value !== marker && value - value === 0) mask[out + i] = 255
  }
}

function copyAndClear({ data, offsets, stride, start }: From, { samples, mask, out, count }: To, marker: number): void {
  for (let i = 0; i < count; i++) {
    const value = data[((offsets[i]! * stride) | 0) + start]!
    samples[out + i] = value
    if (value === marker || value - value !== 0) mask[out + i] = 0
  }
}

/** Turns samples into bytes: a table for 8- and 16-bit integers, indexed by sample minus `tableStart`. */
export interface ByteTable {
  table: Uint8Array
  tableStart: number
}

export interface PackedTarget {
  /** Zero-based: red, green and blue. */
  bands: readonly [number, number, number]
  nodata: readonly (number | null)[]
  tables: readonly [ByteTable, ByteTable, ByteTable]
  /** RGBA pixels as little-endian words. */
  pixels: Uint32Array
  /** Precomputed values of each block, whose rows alternate with those of its neighbour. */
  packs: Map<Block, Pack>
}

/**
 * Gathers three bands of small integers directly into RGBA pixels, without intermediate planes. A pixel is
 * missing if all its bands are: one band of a dark pixel may equal the nodata value.
 */
export function packPixels(target: PackedTarget, block: Block, offsets: Int32Array, run: Run): void {
  let pack = target.packs.get(block)
  if (!pack) target.packs.set(block, (pack = packOf(target, block)))
  if (block.mask) packMasked(pack, block.mask, offsets, run)
  else packOpaque(pack, offsets, run)
}

function packOf({ bands, tables, nodata, pixels }: PackedTarget, block: Block): Pack {
  const planes = bands.map((band) => block.bands.indexOf(band))
  const channel = (k: number): Channel => ({
    samples: block.data[planes[k]!]!,
    start: block.starts[planes[k]!]!,
    marker: integerMarker(nodata[k]),
    table: tables[k]!.table,
  })
  return { red: channel(0), green: channel(1), blue: channel(2), stride: block.stride, tableStart: tables[0].tableStart, pixels }
}

interface Channel {
  samples: SampleArray
  start: number
  marker: number
  table: Uint8Array
}

interface Pack {
  red: Channel
  green: Channel
  blue: Channel
  stride: number
  tableStart: number
  pixels: Uint32Array
}

/** No 16-bit sample equals it. An integer, because comparing with an arbitrary number takes three times as long. */
const NO_MARKER = 0x3fffffff
const integerMarker = (nodata: number | null | undefined): number =>
  Number.isInteger(nodata) && Math.abs(nodata!) < NO_MARKER ? nodata! | 0 : NO_MARKER

function packOpaque({ red, green, blue, stride, tableStart, pixels }: Pack, offsets: Int32Array, { count, out }: Run): void {
  const { samples: d0, start: s0, marker: n0, table: t0 } = red
  const { samples: d1, start: s1, marker: n1, table: t1 } = green
  const { samples: d2, start: s2, marker: n2, table: t2 } = blue
  for (let i = 0; i < count; i++) {
    const at = (offsets[i]! * stride) | 0
    const r = d0[at + s0]!
    const g = d1[at + s1]!
    const b = d2[at + s2]!
    if (r === n0 && g === n1 && b === n2) continue
    pixels[out + i] = 0xff000000 | (t2[b - tableStart]! << 16) | (t1[g - tableStart]! << 8) | t0[r - tableStart]!
  }
}

function packMasked(
  { red, green, blue, stride, tableStart, pixels }: Pack,
  mask: Uint8Array,
  offsets: Int32Array,
  { count, out }: Run,
): void {
  const { samples: d0, start: s0, marker: n0, table: t0 } = red
  const { samples: d1, start: s1, marker: n1, table: t1 } = green
  const { samples: d2, start: s2, marker: n2, table: t2 } = blue
  for (let i = 0; i < count; i++) {
    const alpha = mask[offsets[i]!]!
    if (alpha === 0) continue
    const at = (offsets[i]! * stride) | 0
    const r = d0[at + s0]!
    const g = d1[at + s1]!
    const b = d2[at + s2]!
    if (r === n0 && g === n1 && b === n2) continue
    pixels[out + i] = (alpha << 24) | (t2[b - tableStart]! << 16) | (t1[g - tableStart]! << 8) | t0[r - tableStart]!
  }
}

export interface LookedUpTarget {
  band: number
  nodata: number | null
  table: ByteTable
  values: Uint8Array
  mask: Uint8Array
}

/** Gathers one band of small integers through a table into bytes, for grey images and colormaps. */
export function lookUpPixels(target: LookedUpTarget, block: Block, offsets: Int32Array, { count, out }: Run): void {
  const { values, mask: maskOut } = target
  const { table, tableStart } = target.table
  const plane = block.bands.indexOf(target.band)
  const data = block.data[plane]!
  const start = block.starts[plane]!
  const { stride, mask } = block
  const marker = integerMarker(target.nodata)
  for (let i = 0; i < count; i++) {
    const pixel = offsets[i]!
    const value = data[((pixel * stride) | 0) + start]!
    const alpha = mask ? mask[pixel]! : 255
    if (value === marker || alpha === 0) continue
    values[out + i] = table[value - tableStart]!
    maskOut[out + i] = alpha
  }
}

/** A linear map of [low, high] to [first, last], clamped at both ends and rounded down. */
export interface ByteScale {
  low: number
  high: number
  first: number
  last: number
  /** Above 1, mid-tones are brightened; default 1. */
  gamma?: number | undefined
}

/** Turns a plane of samples into bytes by arithmetic, for types that are too wide for a table. */
export function scalePlane(samples: SampleArray, mask: Uint8Array, scale: ByteScale, bytes: Uint8Array): void {
  const { low, first, last } = scale
  if (scale.gamma !== undefined && scale.gamma !== 1) return bendPlane(samples, mask, scale, bytes)
  const factor = factorOf(scale)
  for (let i = 0; i < bytes.length; i++) {
    if (mask[i] === 0) continue
    const value = first + (samples[i]! - low) * factor
    // NaN (one band of a pixel that is data in another) becomes `first`.
    bytes[i] = value >= last ? last : value > first ? value : first
  }
}

/** Fine enough that the dark end, where the curve is steep, shows no steps. */
const CURVE_STEPS = 4096

/** The same along a curve. */
function bendPlane(samples: SampleArray, mask: Uint8Array, scale: ByteScale, bytes: Uint8Array): void {
  const curve = Uint8Array.from({ length: CURVE_STEPS }, (_, step) => bent(step / (CURVE_STEPS - 1), scale))
  const { low, high } = scale
  const factor = high === low ? Number.MAX_VALUE : (CURVE_STEPS - 1) / (high - low)
  for (let i = 0; i < bytes.length; i++) {
    if (mask[i] === 0) continue
    const step = (samples[i]! - low) * factor
    bytes[i] = curve[step >= CURVE_STEPS - 1 ? CURVE_STEPS - 1 : step > 0 ? step | 0 : 0]!
  }
}

/** The byte for a position between the ends, from 0 to 1. */
export function bent(place: number, { first, last, gamma = 1 }: ByteScale): number {
  const within = place >= 1 ? 1 : place > 0 ? place : 0
  return first + (last - first) * within ** (1 / gamma)
}

/** A range of one value shows everything above it in full. A descending range (a negative scale) is inverted. */
export const factorOf = ({ low, high, first, last }: ByteScale): number => (high === low ? Number.MAX_VALUE : (last - first) / (high - low))

/** The bands' nodata values, for a target. */
export const nodataOf = (all: readonly Band[], bands: readonly number[]): (number | null)[] =>
  bands.map((band) => all[band]?.nodata ?? null)
