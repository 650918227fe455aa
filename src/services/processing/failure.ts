/** What a failed computation means for its job. */
import { Problem } from '#core/problem.ts'
import { VendorError } from '#ports/vendors/call.ts'
import { RasterError } from '#raster/errors.ts'
import { refusalOf } from '#raster/ingest/refusal.ts'

/** A part failed in all its attempts, through no fault of the data. */
export class PartFailure extends Error {}

/** The error of an invalid job; null for an internal error, which is retried. A crashed child process may have been killed. */
export function reasonOf(error: unknown): string | null {
  if (error instanceof RasterError && error.code === 'worker_failed') return null
  if (error instanceof VendorError && ['not-found', 'refused'].includes(error.code)) return error.message
  return error instanceof Problem || error instanceof PartFailure ? error.message : refusalOf(error)
}

export const lastReason = (error: unknown, attempts: number): string =>
  error instanceof VendorError ? `${error.message}, in ${attempts} attempts` : `Internal error in ${attempts} attempts`
