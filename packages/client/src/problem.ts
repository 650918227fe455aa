/** Errors that programs can distinguish. */
import type { Problem, ProblemSlug } from './generated/problems.ts'

/** The service rejected the request or failed: an RFC 9457 problem document, whose kind is `slug`. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError'
  /** The kind of problem, for example `insufficient-credits`. A newer service can return kinds that this client does not know. */
  readonly slug: ProblemSlug | (string & {})
  readonly status: number
  readonly title: string
  /** Identifies the call; quote it in bug reports. */
  readonly instance: string
  /** With `invalid-input`: each invalid field, and what it must be. */
  readonly errors: readonly { readonly field: string; readonly message: string }[]
  /** The whole problem document, with members that only some kinds have. */
  readonly problem: Problem
  /** The operation ID or path that was called. */
  readonly operation: string
  /** The idempotency key of the call, if any. Repeating the call with it after a 3-D Secure step charges once. */
  readonly idempotencyKey: string | null
  /** The `Retry-After` header, in seconds. */
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

/** No response: the network failed, or the request timed out. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
  readonly operation: string
  /** The call may have run; repeating it with this key runs it at most once. */
  readonly idempotencyKey: string | null

  constructor(operation: string, idempotencyKey: string | null, cause: unknown) {
    const reason = cause instanceof Error ? causeOf(cause) : String(cause)
    super(`${operation}: no response (${reason})`, { cause })
    this.operation = operation
    this.idempotencyKey = idempotencyKey
  }
}

/** The caller's signal aborted the call; `cause` is its reason. The service may have run it. */
export class AbortError extends Error {
  override readonly name = 'AbortError'

  constructor(action: string, reason: unknown) {
    super(`${action} was aborted${reason instanceof Error && reason.name !== 'AbortError' ? `: ${reason.message}` : ''}`, { cause: reason })
  }
}

/** The file to upload does not exist. */
export class MissingFileError extends Error {
  override readonly name = 'MissingFileError'
  readonly path: string

  constructor(path: string, cause?: unknown) {
    super(`No such file: ${path}`, { cause })
    this.path = path
  }
}

/** The message of `fetch failed` hides the reason, which is in its cause. */
function causeOf(error: Error): string {
  const { cause } = error
  return cause instanceof Error && cause.message ? cause.message : error.message
}

/** Whether an error is a problem, and of one of the given kinds, if any. */
export function isProblem(error: unknown, ...slugs: readonly ProblemSlug[]): error is ProblemError {
  return error instanceof ProblemError && (slugs.length === 0 || (slugs as readonly string[]).includes(error.slug))
}

/** The problem in a response. A proxy may respond with something else. */
export async function problemOf(response: Response, operation: string, idempotencyKey: string | null): Promise<ProblemError> {
  const text = await response.text().catch(() => '')
  const context = { operation, idempotencyKey, retryAfterSeconds: retryAfter(response) }
  try {
    const body = JSON.parse(text) as Problem
    if (typeof body === 'object' && body !== null && typeof body.code === 'string') return new ProblemError(body, context)
  } catch {
    // Not a problem document: the status says what is known.
  }
  const title = response.statusText || 'Unexpected response'
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
