import { RasterError } from '#raster/errors.ts'
import { openTiff } from '#raster/tiff/open.ts'
import type { Source } from '#raster/types.ts'

/** How many blocks of each level a hostile file may make a test decode. */
const BLOCKS_A_LEVEL = 12

/**
 * Reads what a file offers, as a tile server would: its description, and blocks of every level.
 * Returns the code of the typed error that ended it, or 'ok'; anything else that is thrown is a defect and passes through.
 */
export async function readEverything(source: Source, signal?: AbortSignal): Promise<string> {
  try {
    const raster = await openTiff(source, { signal })
    let outcome = 'ok'
    for (const [index, level] of raster.info.levels.entries()) {
      for (let i = 0; i < Math.min(BLOCKS_A_LEVEL, level.blocksX * level.blocksY); i++) {
        try {
          await raster.readBlock(index, i % level.blocksX, Math.floor(i / level.blocksX), { signal })
        } catch (error) {
          outcome = codeOf(error)
        }
      }
    }
    return outcome
  } catch (error) {
    return codeOf(error)
  }
}

function codeOf(error: unknown): string {
  if (error instanceof RasterError) return error.code
  throw error
}
