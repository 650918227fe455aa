import { giveBack } from '#raster/buffers.ts'
import { RasterError } from '#raster/errors.ts'
import { LIMITS } from '#raster/limits.ts'
import { bytesPerSample, EXACT_ARRAY, isBigArray } from '#raster/tiff/sample.ts'
import type { Block, ExactSampleArray, Level, PixelWindow, RasterInfo, ReadBlockOptions } from '#raster/types.ts'

/** The blocks that a window is assembled from, with samples as stored. */
interface ExactBlocks {
  readonly info: RasterInfo
  readExactBlock(level: number, blockX: number, blockY: number, options: ReadBlockOptions): Promise<Block<ExactSampleArray>>
}

interface WindowRequest {
  readonly level: number
  readonly window: PixelWindow
  readonly bands: readonly number[]
  /** One pixel-interleaved array instead of one array per band. */
  readonly interleaved: boolean
  readonly signal: AbortSignal | undefined
}

/** The pixels of a window, assembled from the blocks that it touches. */
export async function assembleWindow(raster: ExactBlocks, request: WindowRequest): Promise<Block<ExactSampleArray>> {
  const { window, bands } = request
  const level = raster.info.levels[request.level]
  if (!level) throw new RasterError('invalid_argument', `The raster has no level ${request.level}`)
  requireInside(level, window)
  const bytes = window.width * window.height * bands.length * bytesPerSample(raster.info.dataType)
  if (bytes > LIMITS.windowBytes) throw new RasterError('limit_exceeded', `A window of ${bytes} bytes is too large`)
  const target = emptyTarget(raster, request)
  let mask: Uint8Array | null = null
  const blocks = blocksIn(level, window)
  const together = Math.max(1, Math.floor(LIMITS.blockBytesInFlight / blockBytes(raster, level)))
  for (let i = 0; i < blocks.length; i += together) {
    const batch = await Promise.all(
      blocks.slice(i, i + together).map(async ({ bx, by }) => {
        const rows = Math.min(level.blockHeight, window.y + window.height - by * level.blockHeight)
        const block = await raster.readExactBlock(request.level, bx, by, { bands, rows, signal: request.signal })
        return { block, x: bx * level.blockWidth, y: by * level.blockHeight }
      }),
    )
    for (const placed of batch) {
      copySamples(placed, target, window)
      for (const samples of placed.block.data) giveBack(samples)
      if (placed.block.mask) {
        mask ??= new Uint8Array(window.width * window.height).fill(255)
        copyMask(placed, placed.block.mask, { mask, window })
      }
    }
  }
  const distinct = request.interleaved ? target.data.slice(0, 1) : target.data
  const byteLength = distinct.reduce((sum, samples) => sum + samples.byteLength, mask?.byteLength ?? 0)
  return { width: window.width, height: window.height, bands, ...target, mask, byteLength }
}

function requireInside(level: Level, { x, y, width, height }: PixelWindow): void {
  const isInside = [x, y, width, height].every(Number.isInteger) && x >= 0 && y >= 0 && width > 0 && height > 0
  if (!isInside || x + width > level.width || y + height > level.height)
    throw new RasterError('invalid_argument', 'The window lies outside the level')
}

type Target = Pick<Block<ExactSampleArray>, 'data' | 'starts' | 'stride'>

function emptyTarget(raster: ExactBlocks, { window, bands, interleaved }: WindowRequest): Target {
  const ArrayType = EXACT_ARRAY[raster.info.dataType]
  const count = window.width * window.height
  if (!interleaved) return { data: bands.map(() => new ArrayType(count)), starts: bands.map(() => 0), stride: 1 }
  const shared = new ArrayType(count * bands.length)
  return { data: bands.map(() => shared), starts: bands.map((_, index) => index), stride: bands.length }
}

/** The blocks that a window touches, row by row, which is the order in which files keep them. */
function blocksIn(level: Level, window: PixelWindow): { bx: number; by: number }[] {
  const across = range(Math.floor(window.x / level.blockWidth), Math.floor((window.x + window.width - 1) / level.blockWidth))
  const down = range(Math.floor(window.y / level.blockHeight), Math.floor((window.y + window.height - 1) / level.blockHeight))
  return down.flatMap((by) => across.map((bx) => ({ bx, by })))
}

function blockBytes(raster: ExactBlocks, level: Level): number {
  return level.blockWidth * level.blockHeight * raster.info.bandCount * bytesPerSample(raster.info.dataType)
}

interface Placed {
  readonly block: Block<ExactSampleArray>
  readonly x: number
  readonly y: number
}

function copySamples(placed: Placed, target: Target, window: PixelWindow): void {
  const { block } = placed
  const part = overlap(placed, window)
  const isAlike = isSameLayout(block, target)
  for (let y = part.y0; y < part.y1; y++) {
    const from = (y - placed.y) * block.width + part.x0 - placed.x
    const to = (y - window.y) * window.width + part.x0 - window.x
    const count = part.x1 - part.x0
    if (isAlike)
      copyRun(
        { source: block.data[0], from: from * block.stride, stride: 1 },
        { target: target.data[0], to: to * target.stride, stride: 1 },
        count * block.stride,
      )
    else copyBands(block, target, { from, to, count })
  }
}

/** Whether a run of whole pixels can be copied at once. */
function isSameLayout(block: Target, target: Target): boolean {
  if (block.stride !== target.stride || block.data.length !== target.stride) return false
  const inOrder = ({ data, starts }: Target): boolean => data.every((samples, i) => samples === data[0] && starts[i] === i)
  return inOrder(block) && inOrder(target)
}

function copyBands(block: Target, target: Target, run: { from: number; to: number; count: number }): void {
  target.data.forEach((samples, index) => {
    copyRun(
      { source: block.data[index], from: run.from * block.stride + (block.starts[index] ?? 0), stride: block.stride },
      { target: samples, to: run.to * target.stride + (target.starts[index] ?? 0), stride: target.stride },
      run.count,
    )
  })
}

interface SourceRun {
  readonly source: ExactSampleArray | undefined
  readonly from: number
  readonly stride: number
}

interface TargetRun {
  readonly target: ExactSampleArray | undefined
  readonly to: number
  readonly stride: number
}

function copyRun({ source, from, stride }: SourceRun, { target, to, stride: step }: TargetRun, count: number): void {
  if (!source || !target) return
  if (isBigArray(source) && isBigArray(target)) {
    for (let i = 0; i < count; i++) target[to + i * step] = source[from + i * stride] ?? 0n
  } else if (!isBigArray(source) && !isBigArray(target)) {
    if (stride === 1 && step === 1) target.set(source.subarray(from, from + count), to)
    else for (let i = 0; i < count; i++) target[to + i * step] = source[from + i * stride] ?? 0
  }
}

function copyMask(placed: Placed, source: Uint8Array, out: { mask: Uint8Array; window: PixelWindow }): void {
  const { mask, window } = out
  const part = overlap(placed, window)
  for (let y = part.y0; y < part.y1; y++) {
    const from = (y - placed.y) * placed.block.width + part.x0 - placed.x
    mask.set(source.subarray(from, from + part.x1 - part.x0), (y - window.y) * window.width + part.x0 - window.x)
  }
}

function overlap(placed: Placed, window: PixelWindow): { x0: number; x1: number; y0: number; y1: number } {
  return {
    x0: Math.max(placed.x, window.x),
    x1: Math.min(placed.x + placed.block.width, window.x + window.width),
    y0: Math.max(placed.y, window.y),
    y1: Math.min(placed.y + placed.block.height, window.y + window.height),
  }
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, i) => from + i)
}
