/**
 * Loops over samples of one data type. This module is loaded once for each type (see `instances.ts`), so that the engine
 * compiles each copy for a single kind of array; one copy for all types would run ten times slower.
 */
import type { Band, Block, SampleArray } from '#raster/types.ts'

/** How many bands must hold data for a pixel to be data: all of them for arithmetic, any of them for a picture. */
export type ValidRule = 'all' | 'any'

export interface Run {
  count: number
  out: number
}

/** Where gathered samples go: planes of the source's own type, and what is data. Only pixels that are data are written. */
export interface PlanarTarget {
  /** Zero-based bands of the file, one a plane. */
  bands: readonly number[]
  planes: readonly SampleArray[]
  mask: Uint8Array
  nodata: readonly (number | null)[]
  rule: ValidRule
  isFloat: boolean
}

/** Grows to the longest run. */
let validBuffer = new Uint8Array(1024)

/** Works out which pixels of a run are data; null when all are, without a look at each. */
function validity(target: Omit<PlanarTarget, 'planes' | 'mask'>, block: Block, offsets: Int32Array, count: number): Uint8Array | null {
  const { bands, nodata, rule, isFloat } = target
  const hasNodata = nodata.some((value) => value !== null)
  if (!hasNodata && !isFloat && !block.mask) return null
  if (validBuffer.length < count) validBuffer = new Uint8Array(count * 2)
  const valid = validBuffer
  if (hasNodata || isFloat) {
    valid.fill(rule === 'any' ? 0 : 255, 0, count)
    bands.forEach((band, k) => {
      const plane = block.bands.indexOf(band)
      const data = block.data[plane]!
      const start = block.starts[plane]!
      const empty = nodata[k] ?? null
      // NaN is never equal to anything, so a missing nodata value needs no test of its own.
      const marker = empty === null ? Number.NaN : empty
      for (let i = 0; i < count; i++) {
        const value = data[offsets[i]! * block.stride + start]!
        const isData = value !== marker && value - value === 0
        if (rule === 'any') valid[i] = isData ? 255 : valid[i]!
        else valid[i] = isData ? valid[i]! : 0
      }
    })
  } else {
    valid.fill(255, 0, count)
  }
  const { mask } = block
  if (mask) for (let i = 0; i < count; i++) if (valid[i] !== 0) valid[i] = mask[offsets[i]!]!
  return valid
}

/** Copies the samples of a run into planes. */
export function copyPixels(target: PlanarTarget, block: Block, offsets: Int32Array, { count, out }: Run): void {
  const valid = validity(target, block, offsets, count)
  target.bands.forEach((band, k) => {
    const plane = block.bands.indexOf(band)
    const data = block.data[plane]!
    const start = block.starts[plane]!
    const { stride } = block
    const samples = target.planes[k]!
    if (valid) {
      for (let i = 0; i < count; i++) if (valid[i] !== 0) samples[out + i] = data[offsets[i]! * stride + start]!
    } else {
      for (let i = 0; i < count; i++) samples[out + i] = data[offsets[i]! * stride + start]!
    }
  })
  writeMask(target.mask, valid, count, out)
}

function writeMask(mask: Uint8Array, valid: Uint8Array | null, count: number, out: number): void {
  if (!valid) mask.fill(255, out, out + count)
  else for (let i = 0; i < count; i++) if (valid[i] !== 0) mask[out + i] = valid[i]!
}

/** Turns samples into bytes: a table for 8- and 16-bit integers, indexed by sample minus `tableStart`. */
export interface ByteTable {
  table: Uint8Array
  tableStart: number
}

export interface PackedTarget extends Omit<PlanarTarget, 'planes' | 'mask'> {
  tables: readonly ByteTable[]
  /** RGBA pixels as little-endian words. */
  pixels: Uint32Array
}

/** Gathers three bands straight into RGBA pixels: no plane in between is written or read. */
export function packPixels(target: PackedTarget, block: Block, offsets: Int32Array, { count, out }: Run): void {
  const valid = validity(target, block, offsets, count)
  const { pixels, bands, tables } = target
  const { stride } = block
  const [p0, p1, p2] = [block.bands.indexOf(bands[0]!), block.bands.indexOf(bands[1]!), block.bands.indexOf(bands[2]!)]
  const [d0, d1, d2] = [block.data[p0]!, block.data[p1]!, block.data[p2]!]
  const { table: t0, tableStart } = tables[0]!
  const { table: t1 } = tables[1]!
  const { table: t2 } = tables[2]!
  const s0 = block.starts[p0]!
  const s1 = block.starts[p1]!
  const s2 = block.starts[p2]!
  for (let i = 0; i < count; i++) {
    const alpha = valid ? valid[i]! : 255
    if (alpha === 0) continue
    const at = offsets[i]! * stride
    const red = t0[d0[at + s0]! - tableStart]!
    const green = t1[d1[at + s1]! - tableStart]!
    const blue = t2[d2[at + s2]! - tableStart]!
    pixels[out + i] = (alpha << 24) | (blue << 16) | (green << 8) | red
  }
}

export interface LookedUpTarget extends Omit<PlanarTarget, 'planes'> {
  table: ByteTable
  values: Uint8Array
}

/** Gathers one band through a table into bytes, for grey pictures and colormaps. */
export function lookUpPixels(target: LookedUpTarget, block: Block, offsets: Int32Array, { count, out }: Run): void {
  const valid = validity(target, block, offsets, count)
  const { values, table: byteTable } = target
  const { table, tableStart } = byteTable
  const plane = block.bands.indexOf(target.bands[0]!)
  const data = block.data[plane]!
  const start = block.starts[plane]!
  const { stride } = block
  for (let i = 0; i < count; i++) {
    if (valid && valid[i] === 0) continue
    values[out + i] = table[data[offsets[i]! * stride + start]! - tableStart]!
  }
  writeMask(target.mask, valid, count, out)
}

/** A linear map of [low, high] to [first, last], cut off at both ends and rounded down. */
export interface ByteScale {
  low: number
  high: number
  first: number
  last: number
}

/** Turns a plane of samples into bytes by arithmetic, for types that are too wide for a table. */
export function scalePlane(samples: SampleArray, mask: Uint8Array, scale: ByteScale, bytes: Uint8Array): void {
  const { low, first, last } = scale
  const factor = factorOf(scale)
  for (let i = 0; i < bytes.length; i++) {
    if (mask[i] === 0) continue
    const value = first + (samples[i]! - low) * factor
    // NaN (one band of a pixel that is data in another) becomes `first`.
    bytes[i] = value >= last ? last : value > first ? value : first
  }
}

/** A range of one value shows what is above it in full. A range that descends (a negative scale) turns around. */
export const factorOf = ({ low, high, first, last }: ByteScale): number => (high === low ? Number.MAX_VALUE : (last - first) / (high - low))

/** The bands' nodata values, for a target. */
export const nodataOf = (all: readonly Band[], bands: readonly number[]): (number | null)[] => bands.map((band) => all[band]?.nodata ?? null)
