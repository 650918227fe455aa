/** What went wrong, as values that a program can tell apart. */
import type { Problem, ProblemSlug } from './generated/problems.ts'

/** The service refused or failed: an RFC 9457 document with its kind as `slug`. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError'
  /** The kind of problem, for example `insufficient-credits`. A newer service may know kinds that this client does not. */
  readonly slug: ProblemSlug | (string & {})
  readonly status: number
  readonly title: string
  /** Identifies the call; quote it in a report. */
  readonly instance: string
  /** With `invalid-input`: each field and what it must be. */
  readonly errors: readonly { readonly field: string; readonly message: string }[]
  /** The whole document, with members that only some kinds have. */
  readonly problem: Problem
  /** The operation, or the path, that was called. */
  readonly operation: string
  /** The key of the call where it had one: repeating with it after a 3-D Secure step spends once. */
  readonly idempotencyKey: string | null
  /** Seconds that the service asks to wait. */
  readonly retryAfterSeconds: number | null

  constructor(problem: Problem, context: { operation: string; idempotencyKey?: string | null; retryAfterSeconds?: number | null }) {
    super(problem.detail || problem.title)
    this.slug = problem.code
    this.status = problem.status
    this.title = problem.title
    this.instance = problem.instance
    this.errors = problem.errors ?? []
    this.problem = problem
    this.operation = context.operation
    this.idempotencyKey = context.idempotencyKey ?? null
    this.retryAfterSeconds = context.retryAfterSeconds ?? null
  }
}

/** No answer came: the network failed, or the time was up. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
  readonly operation: string
  /** As above: the call may have been made, and repeating it with this key makes it once. */
  readonly idempotencyKey: string | null

  constructor(operation: string, idempotencyKey: string | null, cause: unknown) {
    const reason = cause instanceof Error ? causeOf(cause) : String(cause)
    super(`${operation}: no answer (${reason})`, { cause })
    this.operation = operation
    this.idempotencyKey = idempotencyKey
  }
}

/** The caller's signal ended it; `cause` is the signal's reason. What was under way at the service may have been done. */
export class AbortError extends Error {
  override readonly name = 'AbortError'

  constructor(what: string, reason: unknown) {
    super(`${what} was aborted${reason instanceof Error && reason.name !== 'AbortError' ? `: ${reason.message}` : ''}`, { cause: reason })
  }
}

/** There is no file to upload under this path. */
export class MissingFileError extends Error {
  override readonly name = 'MissingFileError'
  readonly path: string

  constructor(path: string, cause?: unknown) {
    super(`There is no file ${path}`, { cause })
    this.path = path
  }
}

/** `fetch failed` hides why in its cause. */
function causeOf(error: Error): string {
  const { cause } = error
  return cause instanceof Error && cause.message ? cause.message : error.message
}

/** Whether an error is a problem, of one of the kinds named if any are. */
export function isProblem(error: unknown, ...slugs: readonly ProblemSlug[]): error is ProblemError {
  return error instanceof ProblemError && (slugs.length === 0 || (slugs as readonly string[]).includes(error.slug))
}

/** The problem that a response carries; something between us and the service may answer in its own words. */
export async function problemOf(response: Response, operation: string, idempotencyKey: string | null): Promise<ProblemError> {
  const text = await response.text().catch(() => '')
  const context = { operation, idempotencyKey, retryAfterSeconds: retryAfter(response) }
  try {
    const body = JSON.parse(text) as Problem
    if (typeof body === 'object' && body !== null && typeof body.code === 'string') return new ProblemError(body, context)
  } catch {
    // No document: what follows says what is known.
  }
  const title = response.statusText || 'Unexpected answer'
  const detail = `${operation}: HTTP ${response.status} ${title}`
  return new ProblemError({ type: 'about:blank', title, status: response.status, detail, instance: '', code: 'unknown' }, context)
}

function retryAfter(response: Response): number | null {
  const header = response.headers.get('retry-after')
  if (header === null) return null
  const seconds = Number(header)
  if (Number.isFinite(seconds)) return Math.max(0, seconds)
  const at = Date.parse(header)
  return Number.isNaN(at) ? null : Math.max(0, (at - Date.now()) / 1000)
}
