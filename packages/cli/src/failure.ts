/** Errors as a sentence for people and an exit code for scripts. */
import { flagOf } from './catalogue.ts'
import { ConnectionError, ProblemError } from '../../client/src/problem.ts'

/** The man page documents these. */
export const EXIT = { ok: 0, refused: 1, usage: 2, credential: 3, connection: 4, fault: 5, payment: 6, interrupted: 130 } as const

/** The command line is invalid; `hint` suggests what to try next. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  readonly hint: string | null

  constructor(message: string, hint: string | null = null) {
    super(message)
    this.hint = hint
  }
}

export function describe(error: unknown): { message: string; code: number } {
  if (error instanceof UsageError) return { message: error.hint ? `${error.message}\n${error.hint}` : error.message, code: EXIT.usage }
  if (error instanceof ConnectionError)
    return { message: `${error.message}\nIs the service running? Try: groundtrack doctor`, code: EXIT.connection }
  if (error instanceof ProblemError) return ofProblem(error)
  if (error instanceof Error && error.name === 'AbortError') return { message: 'Interrupted', code: EXIT.interrupted }
  const cause = error instanceof Error ? error.cause : null
  if (cause instanceof ProblemError) return { ...ofProblem(cause), message: error instanceof Error ? error.message : cause.message }
  return { message: error instanceof Error ? error.message : String(error), code: EXIT.refused }
}

function ofProblem(error: ProblemError): { message: string; code: number } {
  const isInput = error.slug === 'invalid-input' && error.errors.length > 0 // Other problems list files, not flags.
  const fields = error.errors.map(({ field, message }) => `  ${isInput ? `--${flagOf(field)}` : field}: ${message}`)
  const lines = [
    isInput ? `${error.operation}: invalid input` : `${error.operation}: ${error.message}`,
    ...(isInput || fields.length > 1 ? fields : []),
  ]
  if (error.status === 401) lines.push('Sign in with: groundtrack sign-in')
  if (error.instance) lines.push(`(${error.slug}, ${error.instance})`)
  return { message: lines.join('\n'), code: codeOf(error.status) }
}

function codeOf(status: number): number {
  if (status === 401) return EXIT.credential
  if (status === 402) return EXIT.payment
  return status >= 500 ? EXIT.fault : EXIT.refused
}
