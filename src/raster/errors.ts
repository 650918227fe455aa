/**
 * Every way in which reading or writing a raster can fail.
 * The library knows no HTTP: the platform maps these codes to statuses in one table.
 */
export const RASTER_ERROR_CODES = [
  'not_a_tiff',
  'unsupported',
  'corrupt',
  'too_large',
  'unknown_crs',
  'no_georeference',
  'source_unavailable',
  'source_changed',
  'limit_exceeded',
  'invalid_argument',
  'aborted',
  // Of the pool: its queue or one tenant's share of it is full, a task took too long, or the child that ran it died.
  'overloaded',
  'too_many',
  'deadline_exceeded',
  'worker_failed',
] as const

export type RasterErrorCode = (typeof RASTER_ERROR_CODES)[number]

export class RasterError extends Error {
  override readonly name = 'RasterError'
  readonly code: RasterErrorCode

  constructor(code: RasterErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** Throws the typed error if the caller has aborted. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new RasterError('aborted', 'The raster operation was cancelled', { cause: signal.reason })
}

/** Permanent failures: a mosaic skips such a layer, so that one bad file does not hide the others. */
export const UNREADABLE: readonly RasterErrorCode[] = [
  'not_a_tiff',
  'unsupported',
  'corrupt',
  'too_large',
  'unknown_crs',
  'no_georeference',
  'limit_exceeded',
  'invalid_argument',
]
