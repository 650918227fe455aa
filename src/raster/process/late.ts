/** Rasters that are opened when they are first read: a part of a mosaic reads few of its scenes. */
import { deserialize, serialize } from 'node:v8'
import type { RawGeoKeys } from '#raster/crs/geokeys.ts'
import { RasterError } from '#raster/errors.ts'
import { StackRaster } from '#raster/stack/raster.ts'
import type { ExactRaster, ReadExactOptions } from '#raster/tiff/raster.ts'
import type { Block, ExactSampleArray, PixelWindow, RasterInfo, ReadBlockOptions, ReadOptions } from '#raster/types.ts'

interface Header {
  readonly info: RasterInfo
  readonly key: string
  readonly geoKeys: RawGeoKeys
}

/** The headers of rasters, for `openLate`; those of stacks are read again. */
export const packHeaders = (rasters: readonly ExactRaster[]): string =>
  serialize(
    rasters.map((raster) =>
      raster instanceof StackRaster ? null : ({ info: raster.info, key: raster.key, geoKeys: raster.geoKeys } satisfies Header),
    ),
  ).toString('base64')

export const unpackHeaders = (packed: string): readonly (Header | null)[] => deserialize(Buffer.from(packed, 'base64')) as (Header | null)[]

export class LateRaster implements ExactRaster {
  readonly info: RasterInfo
  readonly key: string
  readonly geoKeys: RawGeoKeys
  readonly #open: () => Promise<ExactRaster>
  #opening: Promise<ExactRaster> | null = null

  constructor({ info, key, geoKeys }: Header, open: () => Promise<ExactRaster>) {
    this.info = info
    this.key = key
    this.geoKeys = geoKeys
    this.#open = open
  }

  async readBlock(level: number, blockX: number, blockY: number, options?: ReadBlockOptions): Promise<Block> {
    return await (await this.#raster()).readBlock(level, blockX, blockY, options)
  }

  async readExactBlock(level: number, blockX: number, blockY: number, options?: ReadBlockOptions): Promise<Block<ExactSampleArray>> {
    return await (await this.#raster()).readExactBlock(level, blockX, blockY, options)
  }

  async readWindow(level: number, window: PixelWindow, options?: ReadOptions): Promise<Block> {
    return await (await this.#raster()).readWindow(level, window, options)
  }

  async readExactWindow(level: number, window: PixelWindow, options?: ReadExactOptions): Promise<Block<ExactSampleArray>> {
    return await (await this.#raster()).readExactWindow(level, window, options)
  }

  async close(): Promise<void> {
    await (await this.#opening?.catch(() => null))?.close()
  }

  #raster(): Promise<ExactRaster> {
    return (this.#opening ??= this.#opened())
  }

  /** A file that was replaced since its header was read must not be mixed with what others have read. */
  async #opened(): Promise<ExactRaster> {
    const raster = await this.#open()
    const isSame = (['width', 'height', 'bandCount', 'dataType'] as const).every((name) => raster.info[name] === this.info[name])
    if (isSame) return raster
    await raster.close()
    throw new RasterError('source_changed', 'The file changed while it was being read; try again')
  }
}
