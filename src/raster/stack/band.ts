/** A stack: bands of several files, which are used as the bands of one raster. */
import { RasterError, type RasterErrorCode } from '#raster/errors.ts'

/** One band of a stack, and what the catalogue states about it. */
export interface StackBand {
  readonly name: string
  /** The key of its asset, which failures name; default the name. */
  readonly asset?: string
  /** Other names: the asset key, the common name, the band's own name, `asset:band`. */
  readonly aliases?: readonly string[]
  /** 1-based band of its file; default the first. */
  readonly band?: number
  /** physical value = sample · scale + offset. */
  readonly scale?: number
  readonly offset?: number
  /** Used for a file that has neither nodata nor a mask. */
  readonly nodata?: number
  readonly unit?: string
  /** As stated, such as `uint16`; the file itself decides when it is open. */
  readonly dataType?: string
  /** As stated, in metres: the finest band can be chosen without opening the others. */
  readonly resolutionM?: number
}

export const assetOf = ({ name, asset = name }: StackBand): string => asset

/** Each used band is an open file. Sentinel-2 has 15 bands, Landsat 19. */
export const MAX_STACK_BANDS = 32

export function requireStackBands(bands: readonly StackBand[]): void {
  if (bands.length === 0 || bands.length > MAX_STACK_BANDS)
    throw new RasterError(
      'invalid_argument',
      `A stack has 1 to ${MAX_STACK_BANDS} bands, not ${bands.length}; choose one file by its asset key`,
    )
}

const REPLACE = 'Replace the file, or use other bands'
const RETRY = 'Try again later, or use other bands'

/** What a user can do about a file that cannot be read. */
const ADVICE: Partial<Record<RasterErrorCode, string>> = {
  not_a_tiff: REPLACE,
  unsupported: REPLACE,
  corrupt: REPLACE,
  too_large: REPLACE,
  unknown_crs: REPLACE,
  no_georeference: REPLACE,
  limit_exceeded: 'Add overviews to the file, or use other bands',
  source_unavailable: RETRY,
  source_changed: RETRY,
  // A link that is wrong, expired or on a host that is not allowed.
  invalid_argument: 'Correct or renew its link, or use other bands',
}

/** A failure of one file of a stack, which names its asset. */
export function assetProblem(name: string, { code, message }: { code: RasterErrorCode; message: string }): string {
  const advice = ADVICE[code]
  return `The asset '${name}' cannot be read: ${message}${advice ? `. ${advice}` : ''}`
}

/** Names the asset in a failure of one file; other errors are passed on. */
export async function namingAsset<T>(name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof RasterError) || !isOfFile(error.code)) throw error
    throw new RasterError(error.code, assetProblem(name, error), { cause: error })
  }
}

/** Failures of a file, as opposed to those of the machine or the caller. */
export const isOfFile = (code: RasterErrorCode): boolean => code in ADVICE
