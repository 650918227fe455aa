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

/** Where gathered samples go: planes of the source's own type, and what is data. Samples that are not data are copied too. */
export interface PlanarTarget {
  /** Zero-based bands of the file, one a plane. */
  bands: readonly number[]
  planes: readonly SampleArray[]
  mask: Uint8Array
  nodata: readonly (number | null)[]
  rule: ValidRule
  isFloat: boolean
}

/** NaN is never equal to anything, so a missing nodata value needs no test of its own. */
const markerOf = (nodata: number | null | undefined): number => nodata ?? Number.NaN

/** Copies the samples of a run into planes, and says which pixels are data. */
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
  for (let i = 0; i < count; i++) samples[out + i] = data[offsets[i]! * stride + start]!
}

function copyAndMark({ data, offsets, stride, start }: From, { samples, mask, out, count }: To, marker: number): void {
  for (let i = 0; i < count; i++) {
    const value = data[offsets[i]! * stride + start]!
    samples[out + i] = value
    if (value !== marker && value - value === 0) mask[out + i] = 255
  }
}

function copyAndClear({ data, offsets, stride, start }: From, { samples, mask, out, count }: To, marker: number): void {
  for (let i = 0; i < count; i++) {
    const value = data[offsets[i]! * stride + start]!
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
}

/**
 * Gathers three bands of small integers straight into RGBA pixels: no plane in between is written or read. A pixel is
 * missing where all its bands are: one band of a dark pixel may well equal the nodata value.
 */
export function packPixels(target: PackedTarget, block: Block, offsets: Int32Array, { count, out }: Run): void {
  const { pixels, bands, tables } = target
  const { stride, mask } = block
  const [p0, p1, p2] = [block.bands.indexOf(bands[0]), block.bands.indexOf(bands[1]), block.bands.indexOf(bands[2])]
  const [d0, d1, d2] = [block.data[p0]!, block.data[p1]!, block.data[p2]!]
  const [s0, s1, s2] = [block.starts[p0]!, block.starts[p1]!, block.starts[p2]!]
  const [n0, n1, n2] = [markerOf(target.nodata[0]), markerOf(target.nodata[1]), markerOf(target.nodata[2])]
  const { table: t0, tableStart } = tables[0]
  const { table: t1 } = tables[1]
  const { table: t2 } = tables[2]
  for (let i = 0; i < count; i++) {
    const pixel = offsets[i]!
    const at = pixel * stride
    const red = d0[at + s0]!
    const green = d1[at + s1]!
    const blue = d2[at + s2]!
    if (red === n0 && green === n1 && blue === n2) continue
    const alpha = mask ? mask[pixel]! : 255
    if (alpha === 0) continue
    pixels[out + i] = (alpha << 24) | (t2[blue - tableStart]! << 16) | (t1[green - tableStart]! << 8) | t0[red - tableStart]!
  }
}

export interface LookedUpTarget {
  band: number
  nodata: number | null
  table: ByteTable
  values: Uint8Array
  mask: Uint8Array
}

/** Gathers one band of small integers through a table into bytes, for grey pictures and colormaps. */
export function lookUpPixels(target: LookedUpTarget, block: Block, offsets: Int32Array, { count, out }: Run): void {
  const { values, mask: maskOut } = target
  const { table, tableStart } = target.table
  const plane = block.bands.indexOf(target.band)
  const data = block.data[plane]!
  const start = block.starts[plane]!
  const { stride, mask } = block
  const marker = markerOf(target.nodata)
  for (let i = 0; i < count; i++) {
    const pixel = offsets[i]!
    const value = data[pixel * stride + start]!
    const alpha = mask ? mask[pixel]! : 255
    if (value === marker || alpha === 0) continue
    values[out + i] = table[value - tableStart]!
    maskOut[out + i] = alpha
  }
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
