import { RasterError } from '#raster/errors.ts'
import { LIMITS } from '#raster/limits.ts'
import type { Fields } from '#raster/tiff/fields.ts'
import { blockTable, type BlockPlace, type BlockTable } from '#raster/tiff/offsets.ts'
import { TAG } from '#raster/tiff/tags.ts'
import type { Source } from '#raster/types.ts'

interface GridShape {
  readonly width: number
  readonly height: number
  /** Planes of blocks: the band count of a planar file, else 1. */
  readonly planes: number
  readonly bitsPerPixel: number
  readonly uncompressed: boolean
  readonly littleEndian: boolean
}

interface GridParts {
  readonly tiled: boolean
  readonly blockWidth: number
  /** Rows of a stored block. */
  readonly storedRows: number
  readonly offsets: BlockTable
  readonly lengths: BlockTable | null
}

/**
 * How an image is divided into blocks, and where each is stored.
 *
 * Tiles and strips have the same interface. An uncompressed strip of many rows, often the whole image,
 * is divided into smaller blocks, because any row of it can be read separately.
 */
export class BlockGrid {
  readonly blockWidth: number
  readonly blockHeight: number
  readonly blocksX: number
  readonly blocksY: number
  readonly rowBytes: number
  readonly #shape: GridShape
  readonly #parts: GridParts

  private constructor(shape: GridShape, parts: GridParts) {
    this.#shape = shape
    this.#parts = parts
    this.blockWidth = parts.blockWidth
    this.rowBytes = Math.ceil((parts.blockWidth * shape.bitsPerPixel) / 8)
    this.blockHeight = parts.storedRows
    if (!parts.tiled && shape.uncompressed) {
      this.blockHeight = splitRows(parts.storedRows, shape.height, Math.max(1, Math.floor(LIMITS.rawStripBytes / this.rowBytes)))
    }
    this.blocksX = Math.ceil(shape.width / this.blockWidth)
    this.blocksY = Math.ceil(shape.height / this.blockHeight)
    if (this.rowBytes * this.blockHeight > LIMITS.blockBytes) {
      throw new RasterError('too_large', `One block of the raster holds ${this.rowBytes * this.blockHeight} bytes`)
    }
    const stored = this.blocksX * Math.ceil(shape.height / parts.storedRows) * shape.planes
    if (parts.offsets.count < stored || (parts.lengths && parts.lengths.count < stored)) {
      throw new RasterError('corrupt', 'The TIFF has fewer blocks than its size requires')
    }
  }

  static async read(source: Source, fields: Fields, shape: GridShape): Promise<BlockGrid> {
    const tiled = fields.entry(TAG.tileOffsets) !== null || fields.entry(TAG.tileWidth) !== null
    const blockWidth = tiled ? await fields.number(TAG.tileWidth, 0) : shape.width
    const storedRows = tiled ? await fields.number(TAG.tileLength, 0) : await readRowsPerStrip(fields, shape.height)
    if (!Number.isInteger(blockWidth) || !Number.isInteger(storedRows) || blockWidth < 1 || storedRows < 1) {
      throw new RasterError('corrupt', 'The TIFF has an invalid block size')
    }
    if (tiled && blockWidth * storedRows > LIMITS.tilePx) throw new RasterError('too_large', 'The tiles of the raster are too large')
    const offsetsTag = tiled && fields.entry(TAG.tileOffsets) ? TAG.tileOffsets : TAG.stripOffsets
    const lengthsTag = tiled && fields.entry(TAG.tileByteCounts) ? TAG.tileByteCounts : TAG.stripByteCounts
    const offsets = blockTable(source, fields, offsetsTag, shape.littleEndian)
    const lengths = blockTable(source, fields, lengthsTag, shape.littleEndian)
    // An uncompressed block without a length can still be located; a compressed one has no end.
    if (!offsets || (!lengths && !shape.uncompressed)) throw new RasterError('corrupt', 'The TIFF has no block offsets or lengths')
    return new BlockGrid(shape, { tiled, blockWidth, storedRows, offsets, lengths })
  }

  /** Rows of a block: only the last strip has fewer than the others, tiles are padded. */
  rowsOf(blockY: number): number {
    if (this.#parts.tiled) return this.blockHeight
    return Math.min(this.blockHeight, this.#shape.height - blockY * this.blockHeight)
  }

  async place(plane: number, blockX: number, blockY: number): Promise<BlockPlace> {
    const { offsets, lengths, storedRows } = this.#parts
    const storedY = Math.ceil(this.#shape.height / storedRows)
    const perStored = this.#blocksPerStored()
    const index = (plane * storedY + Math.floor(blockY / perStored)) * this.blocksX + blockX
    const offset = await offsets.get(index)
    const length = lengths ? await lengths.get(index) : this.rowBytes * storedRows
    if (offset === 0 || length === 0) return { offset: 0, length: 0 }
    if (!this.#shape.uncompressed) return { offset, length }
    const needed = this.rowBytes * this.rowsOf(blockY)
    const skipped = (blockY % perStored) * this.blockHeight * this.rowBytes
    if (skipped + needed > length) throw new RasterError('corrupt', 'A block of the TIFF is shorter than its pixels')
    return { offset: offset + skipped, length: needed }
  }

  #blocksPerStored(): number {
    return Math.ceil(this.#parts.storedRows / this.blockHeight)
  }
}

/** Rows of the blocks that an uncompressed strip is read as: all strips must be divided equally to form one grid. */
function splitRows(storedRows: number, height: number, maxRows: number): number {
  if (storedRows <= maxRows) return storedRows
  if (storedRows >= height) return maxRows
  let rows = maxRows
  while (storedRows % rows !== 0) rows--
  return rows
}

async function readRowsPerStrip(fields: Fields, height: number): Promise<number> {
  const rows = await fields.number(TAG.rowsPerStrip, height)
  return Math.min(rows, height)
}
