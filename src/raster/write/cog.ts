import { tmpdir } from 'node:os'
import { RasterError, throwIfAborted } from '#raster/errors.ts'
import { EXACT_ARRAY } from '#raster/tiff/sample.ts'
import type { Block, ExactSampleArray } from '#raster/types.ts'
import { buildHead } from '#raster/write/layout.ts'
import { LevelBuilder } from '#raster/write/level.ts'
import type { ByteSink } from '#raster/write/sink.ts'
import { planCog, type CogPlan, type CogSpec } from '#raster/write/spec.ts'
import { Spill } from '#raster/write/spill.ts'
import { TileEncoder, type RowBand } from '#raster/write/tiles.ts'

/**
 * Returns the pixels of rows `y` to `y + rows`, all bands, over the full width. It is called from top
 * to bottom, once per row of blocks, and already for the next rows while the last ones are being
 * written: a buffer can be reused two calls later, not in the next one.
 */
export type PullRows = (y: number, rows: number, signal: AbortSignal | undefined) => Promise<Block<ExactSampleArray>>

export interface WriteOptions {
  readonly signal?: AbortSignal | undefined
  /** From 0 to 1. */
  readonly onProgress?: (fraction: number) => void
  /** Folder for levels that do not fit into memory. */
  readonly temporaryDirectory?: string
  /** Encoded bytes of one level that can stay in memory. */
  readonly spillBytes?: number
  /** Instead of the whole file, only these rows at full resolution, or only its specification. */
  readonly part?: PartOfCog | undefined
}

/** Rows from one to another, both multiples of the block size, or up to the last row. */
export interface RowRange {
  readonly from: number
  readonly to: number
}

export type PartOfCog = RowRange | { readonly plan: (spec: CogSpec) => void }

const DEFAULT_SPILL_BYTES = 32 * 1024 * 1024
/** Fraction of the progress for reading and encoding; the rest is copying. */
const ENCODE_SHARE = 0.9

export interface WrittenCog {
  readonly byteLength: number
  readonly levelCount: number
}

/**
 * Writes a cloud-optimized GeoTIFF in GDAL's layout. Memory holds one row of blocks of each level;
 * the encoded blocks of large levels wait in temporary files, because coarse levels come first in the file.
 */
export async function writeCog(sink: ByteSink, spec: CogSpec, pull: PullRows, options: WriteOptions = {}): Promise<WrittenCog> {
  const { part } = options
  if (part === undefined) return await writePlanned(sink, planCog(spec), pull, options)
  if ('plan' in part) {
    part.plan(spec)
    return { byteLength: 0, levelCount: 0 }
  }
  return await writePlanned(sink, partPlan(planCog(spec), 0, part), (y, rows, signal) => pull(part.from + y, rows, signal), options)
}

async function writePlanned(sink: ByteSink, plan: CogPlan, pull: PullRows, options: WriteOptions): Promise<WrittenCog> {
  const spills = openSpills(plan.levels.length, options)
  const encoder = new TileEncoder(plan)
  try {
    const levels = buildLevels(plan, spills, encoder)
    await encodeAll(plan, levels, pull, options)
    const head = buildHead(
      plan,
      levels.map((level) => level.sizes),
    )
    await sink.write(head)
    const byteLength = await copySpills(sink, spills, options)
    options.onProgress?.(1)
    return { byteLength: head.byteLength + byteLength, levelCount: levels.length }
  } finally {
    encoder.close()
    await closeSpills(spills)
  }
}

/** Rows of one level as a file of its own, whose blocks are those that the whole file has. */
export function partPlan(plan: CogPlan, level: number, { from, to }: RowRange): CogPlan {
  const { width, tilesX } = plan.levels[level]!
  const height = to - from
  const shape = { width, height, tilesX, tilesY: Math.ceil(height / plan.blockSize) }
  return { ...plan, spec: { ...plan.spec, width, height }, levels: [shape] }
}

export function openSpills(count: number, { temporaryDirectory = tmpdir(), spillBytes = DEFAULT_SPILL_BYTES }: WriteOptions): Spill[] {
  return Array.from({ length: count }, () => new Spill(temporaryDirectory, spillBytes))
}

export const closeSpills = async (spills: readonly Spill[]): Promise<void> => void (await Promise.all(spills.map((spill) => spill.close())))

/** From coarse to fine, because each level passes its rows to the next coarser one. */
function buildLevels(plan: CogPlan, spills: readonly Spill[], encoder: TileEncoder): LevelBuilder[] {
  const levels: LevelBuilder[] = []
  for (let index = plan.levels.length - 1; index >= 0; index--) {
    const spill = spills[index]
    if (spill) levels.unshift(new LevelBuilder(plan, index, { spill, encoder, next: levels[0] ?? null }))
  }
  return levels
}

async function encodeAll(plan: CogPlan, levels: readonly LevelBuilder[], pull: PullRows, options: WriteOptions): Promise<void> {
  const { height } = plan.spec
  const rowsAt = (y: number): number => Math.min(plan.blockSize, height - y)
  let [pulled, encoded] = [0, 0]
  const report = (): void => options.onProgress?.((ENCODE_SHARE * (pulled + encoded)) / (2 * height))
  const pullNext = async (y: number): Promise<Block<ExactSampleArray>> => {
    const block = await pull(y, rowsAt(y), options.signal)
    pulled = y + rowsAt(y)
    report()
    return block
  }
  // Rows are read while the previous ones are compressed in other threads.
  let next = pullNext(0)
  for (let y = 0; y < height; y += plan.blockSize) {
    const rows = rowsAt(y)
    const block = await next
    throwIfAborted(options.signal)
    const end = y + rows
    if (end < height) next = pullNext(end)
    // An error in the next rows is thrown when they are needed, and no read is left running when this throws.
    const settled = next.then(
      () => undefined,
      () => undefined,
    )
    try {
      const onShare = (share: number): void => {
        encoded = y + rows * share
        report()
      }
      await levels[0]?.addBand(toRowBand(block, rows, plan), options.signal, onShare)
    } catch (error) {
      await settled
      throw error
    }
  }
}

/** The coarsest level first. */
export async function copySpills(sink: ByteSink, spills: readonly Spill[], options: WriteOptions): Promise<number> {
  let byteLength = 0
  const total = spills.reduce((sum, spill) => sum + spill.byteLength, 0)
  for (const spill of spills.toReversed()) {
    for await (const piece of spill.read()) {
      throwIfAborted(options.signal)
      await sink.write(piece)
      byteLength += piece.byteLength
      options.onProgress?.(ENCODE_SHARE + (1 - ENCODE_SHARE) * (byteLength / total))
    }
  }
  return byteLength
}

function toRowBand(block: Block<ExactSampleArray>, rows: number, plan: CogPlan): RowBand {
  const { width } = plan.spec
  if (block.width !== width || block.height < rows || block.data.length !== plan.bandCount) {
    throw new RasterError('invalid_argument', 'The rows to write do not match the size of the raster')
  }
  return { width, rows, samples: interleave(block, width * rows, plan), mask: plan.hasMask ? block.mask : null }
}

/** Pixels that are already interleaved are used in place. */
function interleave(block: Block<ExactSampleArray>, count: number, plan: CogPlan): ExactSampleArray {
  const { bandCount } = plan
  const first = block.data[0]
  const ArrayType = EXACT_ARRAY[plan.spec.dataType]
  if (!first || block.data.some((samples) => samples[Symbol.toStringTag] !== ArrayType.name)) {
    throw new RasterError('invalid_argument', `The rows to write are not ${plan.spec.dataType}`)
  }
  if (block.data.some((samples, band) => samples.length < (count - 1) * block.stride + (block.starts[band] ?? 0) + 1)) {
    throw new RasterError('invalid_argument', 'The rows to write are shorter than declared')
  }
  const isInterleaved = block.stride === bandCount && block.data.every((samples, band) => samples === first && block.starts[band] === band)
  // A plain view: slices of a Node buffer are not copies.
  if (isInterleaved) return new ArrayType(first.buffer, first.byteOffset, count * bandCount)
  const out = new ArrayType(count * bandCount)
  block.data.forEach((samples, band) => {
    // Both sides are of the same kind, which the type checker cannot see.
    spread(samples as Uint8Array, { start: block.starts[band] ?? 0, stride: block.stride }, out as Uint8Array, { band, bandCount, count })
  })
  return out
}

interface Strided {
  readonly start: number
  readonly stride: number
}

function spread(
  from: Uint8Array,
  { start, stride }: Strided,
  to: Uint8Array,
  place: { band: number; bandCount: number; count: number },
): void {
  const { band, bandCount, count } = place
  for (let i = 0, at = start, out = band; i < count; i++, at += stride, out += bandCount) to[out] = from[at]!
}
