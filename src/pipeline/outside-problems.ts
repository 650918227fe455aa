import { DatabaseUnavailable, isDiskFull, isGivenUp } from '#db/failures.ts'
import { StorageError } from '#ports/storage.ts'
import { VendorError, type VendorErrorCode } from '#ports/vendors/call.ts'
import { invalidField, Problem, problem, type ProblemSlug } from '#core/problem.ts'
import { RasterError, type RasterErrorCode } from '#raster/errors.ts'

type Slug = Exclude<ProblemSlug, 'invalid-input'>

/** The raster library knows nothing of HTTP; this table maps its errors to problems. */
const SLUGS: Readonly<Record<Exclude<RasterErrorCode, 'invalid_argument'>, Slug>> = {
  not_a_tiff: 'unreadable-raster',
  unsupported: 'unreadable-raster',
  corrupt: 'unreadable-raster',
  too_large: 'unreadable-raster',
  unknown_crs: 'unreadable-raster',
  no_georeference: 'unreadable-raster',
  limit_exceeded: 'raster-too-demanding',
  deadline_exceeded: 'raster-too-demanding',
  worker_failed: 'raster-too-demanding',
  source_unavailable: 'bad-gateway',
  source_changed: 'bad-gateway',
  overloaded: 'unavailable',
  too_many: 'rate-limited',
  aborted: 'unavailable',
}

/** Errors of the object store that are not bugs; any other stays an internal error. */
const STORE_PROBLEMS: Partial<Record<StorageError['code'], () => Problem>> = {
  unavailable: () => problem('unavailable', 'The object store cannot be reached; try again shortly', { headers: { 'Retry-After': '5' } }),
  full: () => problem('insufficient-storage', 'The object store has no disk space left'),
}

/** Failures of a vendor; the problem names the vendor. */
const VENDOR_SLUGS: Readonly<Record<VendorErrorCode, Slug>> = {
  unavailable: 'bad-gateway',
  'invalid-response': 'bad-gateway',
  timeout: 'gateway-timeout',
  unauthorized: 'bad-gateway',
  forbidden: 'bad-request',
  refused: 'bad-request',
  'not-found': 'not-found',
}

/** The raster library does not know which field an argument came from. */
const INPUT = 'body'

/** Whether the operator must know about an error, although the caller gets a problem. */
export const concernsOperator = (error: unknown): boolean => error instanceof DatabaseUnavailable || isGivenUp(error) || isDiskFull(error)

const unreachable = ({ isCommitUnknown }: DatabaseUnavailable): string =>
  isCommitUnknown
    ? 'The connection to the database was lost while the change was saved. Repeat the identical request with the same ' +
      'Idempotency-Key, or read the result before you retry'
    : 'The database cannot be reached; try again shortly'

/** Whether work was aborted because the caller left. */
export const isAbandoned = (error: unknown, signal: AbortSignal): boolean =>
  signal.aborted && ((error instanceof RasterError && error.code === 'aborted') || (error as Error | null)?.name === 'AbortError')

/** The problem for an error, or null if it is an internal error. */
export function asProblem(error: unknown): Problem | null {
  if (error instanceof Problem) return error
  if (error instanceof DatabaseUnavailable) return problem('unavailable', unreachable(error), { headers: { 'Retry-After': '5' } })
  if (isGivenUp(error))
    return problem('unavailable', 'The database is busy and the request was rolled back; try again shortly', {
      headers: { 'Retry-After': '1' },
    })
  if (isDiskFull(error)) return problem('insufficient-storage', 'The database has no disk space left. The request was rolled back.')
  if (error instanceof StorageError) return STORE_PROBLEMS[error.code]?.() ?? null
  if (error instanceof VendorError) return problem(VENDOR_SLUGS[error.code], error.message, { members: { host_name: error.hostName } })
  if (!(error instanceof RasterError)) return null
  if (error.code === 'invalid_argument') return invalidField(INPUT, error.message)
  const slug = SLUGS[error.code]
  return problem(slug, error.message, slug === 'unavailable' || slug === 'rate-limited' ? { headers: { 'Retry-After': '1' } } : {})
}
