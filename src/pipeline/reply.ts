import { Problem, problem } from '#core/problem.ts'
import type { StoredResponse } from '#model/platform/idempotency.ts'
import type { AnyOperation, Context } from '#operation.ts'
import { asProblem } from './outside-problems.ts'
import { validateOutput } from './validate.ts'

/** A response, ready to be sent. */
export interface Reply {
  status: number
  headers: Record<string, string>
  body: Uint8Array | AsyncIterable<Uint8Array>
}

const JSON_TYPE = 'application/json; charset=utf-8'

interface ProblemDocument {
  type: string
  title: string
  status: number
  detail: string
  instance: string
  code: string
  [member: string]: unknown
}

/** RFC 9457. Any error that is not a problem is an internal error, of which the caller learns only the invocation ID. */
function describe(error: unknown, invocationId: string, baseUrl: string): { known: Problem; document: ProblemDocument } {
  const known = error instanceof Problem ? error : problem('internal-error', 'An internal error occurred. The request was rolled back.')
  const document = {
    type: `${baseUrl}/problems/${known.slug}`,
    title: known.title,
    status: known.status,
    detail: known.message,
    instance: `urn:uuid:${invocationId}`,
    code: known.slug,
    ...known.members,
  }
  return { known, document }
}

export function problemReply(error: unknown, invocationId: string, baseUrl: string): Reply {
  const { known, document } = describe(error, invocationId, baseUrl)
  return {
    status: known.status,
    headers: { 'Content-Type': 'application/problem+json; charset=utf-8', 'Cache-Control': 'no-store', ...known.headers },
    body: Buffer.from(JSON.stringify(document)),
  }
}

/** Responses are built in memory, so they have a limit. Pages are never truncated: callers request a smaller page instead. */
const MAX_JSON_BYTES = 32 * 1024 * 1024

export const jsonReply = (output: unknown, mediaType?: string): Reply => bytesReply(Buffer.from(JSON.stringify(output)), mediaType)

/** Of an output that has been written as JSON. */
export function bytesReply(body: Buffer, mediaType = JSON_TYPE): Reply {
  if (body.length > MAX_JSON_BYTES)
    throw problem(
      'bad-request',
      `The response has ${body.length} bytes, more than ${MAX_JSON_BYTES}; request fewer results with a smaller limit`,
    )
  return { status: 200, headers: { 'Content-Type': mediaType, 'Cache-Control': 'no-store' }, body }
}

/** One JSON value per line. The status is sent before the last line is known, so a later failure is sent as a line. */
export function lineReply(
  op: AnyOperation,
  lines: AsyncIterable<unknown>,
  context: Context,
  onFault: (error: unknown, invocationId: string, operation: string) => void,
): Reply {
  async function* encode(): AsyncIterable<Uint8Array> {
    try {
      for await (const line of lines) {
        validateOutput(op.output, line, op.id)
        yield Buffer.from(`${JSON.stringify(line)}\n`)
      }
    } catch (error) {
      if (context.signal.aborted) return // The caller has left.
      const shown = asProblem(error)
      if (!shown) onFault(error, context.invocationId, op.id)
      const { type: about, ...document } = describe(shown ?? error, context.invocationId, context.baseUrl).document
      yield Buffer.from(`${JSON.stringify({ type: 'Error', about, ...document })}\n`)
    }
  }
  return { status: 200, headers: { 'Content-Type': 'application/x-ndjson', 'Cache-Control': 'no-store' }, body: encode() }
}

export function replayOf(response: StoredResponse): Reply {
  return {
    status: response.status,
    headers: { 'Content-Type': response.contentType, 'Cache-Control': 'no-store', 'Idempotent-Replayed': 'true' },
    body: response.body,
  }
}
