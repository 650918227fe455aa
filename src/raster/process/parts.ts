/**
 * One raster that several machines write together. Each part is some rows of it at full resolution, as a file of its own whose blocks
 * are already those of the whole file. Another pass makes the first overviews of each part, and the last one copies all blocks into
 * one file, byte for byte the file that a single machine would have written.
 */
import { deserialize, serialize } from 'node:v8'
import { RasterError, throwIfAborted } from '#raster/errors.ts'
import { TiffRaster, type ExactRaster, type StoredBlocks } from '#raster/tiff/raster.ts'
import type { ExactSampleArray } from '#raster/types.ts'
import { closeSpills, copySpills, openSpills, partPlan, type RowRange, type WriteOptions } from '#raster/write/cog.ts'
import { buildHead } from '#raster/write/layout.ts'
import { LevelBuilder, type LevelSizes } from '#raster/write/level.ts'
import type { ByteSink } from '#raster/write/sink.ts'
import { planCog, type CogPlan, type CogSpec } from '#raster/write/spec.ts'
import type { Spill } from '#raster/write/spill.ts'
import { BLOCK_LEADER_BYTES, BLOCK_TRAILER_BYTES, TileEncoder } from '#raster/write/tiles.ts'
import { withFile, writeOptions, type Method, type MethodTask } from './method.ts'

/** Overviews that are made part by part. Those after them have a sixty-fourth of the pixels, and are made in the end. */
const PART_LEVELS = 2
const COPY_BYTES = 4 * 1024 * 1024
const FRAME_BYTES = BLOCK_LEADER_BYTES + BLOCK_TRAILER_BYTES

/** What must be known of a raster to divide it. */
export interface PlannedRaster {
  readonly height: number
  /** Parts begin at multiples of this many rows. */
  readonly unitRows: number
  /** Overviews to make of each part, from 1. */
  readonly levels: number
  /** For the passes that follow. */
  readonly spec: string
}

/** How a raster with this specification can be divided. */
export function plannedRaster(spec: CogSpec): PlannedRaster {
  const { blockSize, levels } = planCog(spec)
  return { height: spec.height, unitRows: blockSize << PART_LEVELS, levels: Math.min(PART_LEVELS, levels.length - 1), spec: packed(spec) }
}

const packed = (spec: CogSpec): string => serialize(spec).toString('base64')
export const unpackSpec = (spec: string): CogSpec => deserialize(Buffer.from(spec, 'base64')) as CogSpec
const planOf = (spec: string): CogPlan => planCog(unpackSpec(spec))

/** The rows of a level that belong to a part. */
const rowsAt = (plan: CogPlan, level: number, { from, to }: RowRange): RowRange => ({
  from: from >> level,
  to: to === plan.spec.height ? plan.levels[level]!.height : to >> level,
})

interface Overviews {
  readonly spec: string
  readonly rows: RowRange
  /** The rows of the first raster, if it is the part above: an overview row can begin in it. */
  readonly above: RowRange | null
}

export const levelFile = (level: number): string => `level-${level}.tif`

/** The first overviews of one part, each as a file of its own. */
export const overviews: Method<Overviews> = async (task) => {
  const { spec, rows, above } = task.options
  const plan = planOf(spec)
  const count = Math.min(PART_LEVELS, plan.levels.length - 1)
  const own = task.rasters.at(-1)!
  const options = writeOptions(task)
  const spills = openSpills(count + 1, options)
  const encoder = new TileEncoder(plan)
  try {
    const levels: LevelBuilder[] = []
    for (let level = count; level >= 0; level--) {
      const next = levels[0] ?? null
      levels.unshift(
        new LevelBuilder(plan, level, { spill: spills[level]!, encoder, next, rows: rowsAt(plan, level, rows), isStored: level === 0 }),
      )
    }
    const full = levels[0]!
    if (full.startRow < rows.from) {
      if (above === null) throw new RasterError('invalid_argument', 'The part above is missing')
      await pass(full, task.rasters[0]!, plan, { from: full.startRow - above.from, to: rows.from - above.from }, task)
    }
    await pass(full, own, plan, { from: 0, to: rows.to - rows.from }, task)
    for (let level = 1; level <= count; level++) {
      const { sizes } = levels[level]!
      await withFile(task, levelFile(level), async (sink) => {
        await sink.write(buildHead(partPlan(plan, level, rowsAt(plan, level, rows)), [sizes]))
        await copySpills(sink, [spills[level]!], { signal: task.signal })
      })
    }
    return {}
  } finally {
    encoder.close()
    await closeSpills(spills)
  }
}

/** Passes rows of a file on to the next coarser level, one row of blocks at a time. */
async function pass(
  level: LevelBuilder,
  raster: ExactRaster,
  plan: CogPlan,
  { from, to }: RowRange,
  { signal, onProgress }: Pick<MethodTask, 'signal' | 'onProgress'>,
): Promise<void> {
  const { width } = raster.info
  for (let y = from; y < to; y += plan.blockSize) {
    throwIfAborted(signal)
    const rows = Math.min(plan.blockSize, to - y)
    const { data, mask } = await raster.readExactWindow(0, { x: 0, y, width, height: rows }, { interleaved: true, signal })
    await level.addBand({ width, rows, samples: data[0] as ExactSampleArray, mask: plan.hasMask ? mask : null }, signal)
    onProgress((y + rows - from) / (to - from))
  }
}

interface Assemble {
  readonly spec: string
  readonly parts: number
  /** Overviews that the parts have. */
  readonly levels: number
}

/**
 * Joins parts to one file: the first rasters are the parts at full resolution, then those of each overview. Blocks are copied; only
 * the pixels of the coarsest overview are decoded, to make the overviews after it.
 */
export const assemble: Method<Assemble> = async (task) => {
  const { spec, parts, levels: partLevels } = task.options
  const plan = planOf(spec)
  const files = Array.from({ length: partLevels + 1 }, (_, level) => task.rasters.slice(level * parts, (level + 1) * parts))
  if (files.some((level) => level.length !== parts)) throw new RasterError('invalid_argument', 'Parts of the raster are missing')
  const options = writeOptions(task)
  const spills = openSpills(plan.levels.length, options)
  const encoder = new TileEncoder(plan)
  try {
    const coarse = coarseLevels(plan, partLevels, spills, encoder)
    if (coarse.length > 1)
      for (const file of files[partLevels]!) await pass(coarse[0]!, file, plan, { from: 0, to: file.info.height }, task)
    const stored = await Promise.all(files.map((level) => storedLevel(level)))
    const sizes = plan.levels.map((_, level) => stored[level]?.sizes ?? coarse[level - partLevels]!.sizes)
    await withFile(task, 'data.tif', async (sink) => {
      await sink.write(buildHead(plan, sizes))
      await copySpills(sink, spills, { signal: task.signal })
      for (const { blocks } of stored.toReversed()) for (const part of blocks) await copyBlocks(sink, part, options)
    })
    return {}
  } finally {
    encoder.close()
    await closeSpills(spills)
  }
}

/** The coarsest level of the parts, whose blocks exist, and those after it. */
function coarseLevels(plan: CogPlan, from: number, spills: readonly Spill[], encoder: TileEncoder): LevelBuilder[] {
  const levels: LevelBuilder[] = []
  for (let level = plan.levels.length - 1; level >= from; level--)
    levels.unshift(new LevelBuilder(plan, level, { spill: spills[level]!, encoder, next: levels[0] ?? null, isStored: level === from }))
  return levels
}

async function storedLevel(files: readonly ExactRaster[]): Promise<{ sizes: LevelSizes; blocks: StoredBlocks[] }> {
  const sizes: LevelSizes = { tiles: [], masks: [] }
  const blocks: StoredBlocks[] = []
  for (const file of files) {
    if (!(file instanceof TiffRaster)) throw new RasterError('invalid_argument', 'A part of a raster is one file')
    const stored = await file.storedBlocks(0)
    for (const { image, mask } of stored.blocks) {
      sizes.tiles.push(image.length)
      if (mask) sizes.masks.push(mask.length)
    }
    blocks.push(stored)
  }
  return { sizes, blocks }
}

/** Blocks lie one after another in the order of the file, so that they are copied in large pieces. */
async function copyBlocks(sink: ByteSink, { blocks, fetch }: StoredBlocks, { signal }: WriteOptions): Promise<void> {
  const start = blocks[0]!.image.offset - BLOCK_LEADER_BYTES
  const end = blocks.reduce((at, { image, mask }) => {
    if (image.offset !== at + BLOCK_LEADER_BYTES) throw new RasterError('corrupt', 'The blocks of a part are not in order')
    return at + image.length + FRAME_BYTES + (mask ? mask.length + FRAME_BYTES : 0)
  }, start)
  for (let at = start; at < end; at += COPY_BYTES) {
    throwIfAborted(signal)
    await sink.write(await fetch(at, Math.min(COPY_BYTES, end - at), signal))
  }
}
