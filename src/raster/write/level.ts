import { throwIfAborted } from '#raster/errors.ts'
import { EXACT_ARRAY } from '#raster/tiff/sample.ts'
import type { ExactSampleArray } from '#raster/types.ts'
import { rowReducer } from '#raster/write/reduce.ts'
import type { RowReducer, RowView } from '#raster/write/row-reducer.ts'
import type { CogPlan, LevelShape } from '#raster/write/spec.ts'
import type { Spill } from '#raster/write/spill.ts'
import { BLOCK_LEADER_BYTES, BLOCK_TRAILER_BYTES, encodeMaskTile, type RowBand, type TileEncoder } from '#raster/write/tiles.ts'

/** Stored sizes of a level's blocks in the order of the file: each tile, and its mask's after it. */
export interface LevelSizes {
  readonly tiles: number[]
  readonly masks: number[]
}

const FRAME_BYTES = BLOCK_LEADER_BYTES + BLOCK_TRAILER_BYTES

/** Enough to keep the zlib threads busy, few enough to not hold a row of blocks twice. */
const TILES_AT_ONCE = 16

/** With fewer tiles per row, testing the best compression does not pay off. */
const PROBED_TILES = 6

interface LevelParts {
  readonly spill: Spill
  /** Shared by all levels of a file. */
  readonly encoder: TileEncoder
  /** The next coarser one. */
  readonly next: LevelBuilder | null
  /** The rows to encode, from a row of blocks to another or to the last row; all by default. */
  readonly rows?: { readonly from: number; readonly to: number }
  /** Whether its blocks exist already, so that its rows are only passed on. */
  readonly isStored?: boolean
}

/** One level under construction: collects rows until a row of blocks is full, encodes it, and passes the rows to the next level. */
export class LevelBuilder {
  readonly sizes: LevelSizes = { tiles: [], masks: [] }
  /** The first row that it needs: before its own rows, if the next coarser level has a row that begins there. */
  readonly startRow: number
  readonly #plan: CogPlan
  readonly #shape: LevelShape
  readonly #spill: Spill
  readonly #encoder: TileEncoder
  readonly #next: { level: LevelBuilder; reducer: RowReducer } | null
  readonly #samples: ExactSampleArray | null
  readonly #mask: Uint8Array | null
  readonly #rows: { readonly from: number; readonly to: number }
  readonly #isStored: boolean
  #bufferedRows = 0
  #doneRows: number

  constructor(plan: CogPlan, index: number, { spill, encoder, next, rows, isStored = false }: LevelParts) {
    this.#plan = plan
    this.#encoder = encoder
    this.#shape = shapeAt(plan, index)
    this.#spill = spill
    this.#next = next && { level: next, reducer: rowReducer(plan, this.#shape, next.#shape) }
    this.#rows = rows ?? { from: 0, to: this.#shape.height }
    this.#isStored = isStored
    this.startRow = this.#next ? this.#next.reducer.startAt(this.#next.level.startRow) : this.#rows.from
    this.#doneRows = this.startRow
    // Level 0 receives complete rows of blocks and buffers none.
    const pixels = index === 0 ? 0 : this.#shape.width * Math.min(plan.blockSize, this.#shape.height)
    this.#samples = index === 0 ? null : new EXACT_ARRAY[plan.spec.dataType](pixels * plan.bandCount)
    this.#mask = index === 0 || !plan.hasMask ? null : new Uint8Array(pixels)
  }

  /** Encodes a full row of blocks, or the last one, and passes its rows on. `onShare` receives the encoded fraction of the row. */
  async addBand(band: RowBand, signal: AbortSignal | undefined, onShare?: (share: number) => void): Promise<void> {
    throwIfAborted(signal)
    if (!this.#isStored && this.#doneRows >= this.#rows.from) await this.#encode(band, onShare)
    this.#doneRows += band.rows
    if (!this.#next) return
    const { level, reducer } = this.#next
    for (let y = 0; y < band.rows; y++) {
      const row: RowView = {
        samples: band.samples,
        sampleAt: y * band.width * this.#plan.bandCount,
        mask: band.mask,
        maskAt: y * band.width,
      }
      if (reducer.push(row, level.#nextRow())) await level.#rowAdded(signal)
    }
  }

  #nextRow(): RowView {
    const { width } = this.#shape
    const samples = this.#samples ?? new Uint8Array(0)
    return { samples, sampleAt: this.#bufferedRows * width * this.#plan.bandCount, mask: this.#mask, maskAt: this.#bufferedRows * width }
  }

  async #rowAdded(signal: AbortSignal | undefined): Promise<void> {
    this.#bufferedRows++
    const end = this.#doneRows + this.#bufferedRows
    if (this.#bufferedRows < this.#plan.blockSize && end !== this.#rows.from && end !== this.#rows.to) return
    const rows = this.#bufferedRows
    this.#bufferedRows = 0
    await this.addBand({ width: this.#shape.width, rows, samples: this.#samples ?? new Uint8Array(0), mask: this.#mask }, signal)
  }

  /** Some tiles are compressed concurrently; all are stored in order. */
  async #encode(band: RowBand, onShare?: (share: number) => void): Promise<void> {
    const { tilesX } = this.#shape
    const isNoise = tilesX >= PROBED_TILES && (await this.#encoder.isNoise(band, tilesX >> 1))
    for (let first = 0; first < tilesX; first += TILES_AT_ONCE) {
      const count = Math.min(TILES_AT_ONCE, tilesX - first)
      const tiles = await Promise.all(Array.from({ length: count }, (_, i) => this.#encodeTile(band, first + i, isNoise)))
      for (const tile of tiles) await this.#store(tile)
      onShare?.((first + count) / tilesX)
    }
  }

  async #encodeTile(band: RowBand, tileX: number, isNoise: boolean): Promise<{ image: Uint8Array; mask: Uint8Array | null }> {
    return {
      image: await this.#encoder.encode(band, tileX, isNoise),
      mask: this.#plan.hasMask ? await encodeMaskTile(band, tileX, this.#plan) : null,
    }
  }

  async #store({ image, mask }: { image: Uint8Array; mask: Uint8Array | null }): Promise<void> {
    this.sizes.tiles.push(image.byteLength - FRAME_BYTES)
    await this.#spill.append(image)
    if (!mask) return
    this.sizes.masks.push(mask.byteLength - FRAME_BYTES)
    await this.#spill.append(mask)
  }
}

function shapeAt(plan: CogPlan, index: number): LevelShape {
  const shape = plan.levels[index]
  if (!shape) throw new RangeError(`no level ${index}`)
  return shape
}
