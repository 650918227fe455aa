import { setImmediate as yieldToOthers } from 'node:timers/promises'
import { problem } from '#core/problem.ts'
import type { AnyOperation, Context, RawReply, WriteContext } from '#operation.ts'
import { auditEntry } from './audit.ts'
import { openEvents } from './events.ts'
import type { StoredResponse } from '#model/platform/idempotency.ts'
import type { HeldClaim } from './idempotency.ts'
import { isAbandoned } from './outside-problems.ts'
import { longListsIn, pageBytes, validatePage, type Page } from './page.ts'
import type { Platform } from './platform.ts'
import type { Provenance } from './provenance.ts'
import { bytesReply, jsonReply, lineReply, type Reply } from './reply.ts'
import { callersOf, type Trace } from './trace.ts'
import { validateOutput } from './validate.ts'

interface Work {
  op: AnyOperation
  context: Context
  input: unknown
  facts: unknown
  prepared: unknown
}

interface WriteStages {
  provenance: Provenance
  claim: HeldClaim | null
  trace: Trace
}

export async function executeRead(platform: Platform, { op, context, input, facts, prepared }: Work): Promise<Reply> {
  const output = await op.execute(context, input, facts, prepared)
  if (platform.scheduler.isLate()) await yieldToOthers()
  const lists = op.raw === undefined ? longListsIn(output) : []
  if (lists.length === 0) return toReply(platform, op, output, context)
  const page = output as Page
  await validatePage(op.output, page, lists, op.id)
  return bytesReply(await pageBytes(page, lists), op.mediaType)
}

/** One transaction: the change, its lineage, its events, its stored response and its audit entry; or none of them. */
export async function executeWrite(platform: Platform, work: Work, { provenance, claim, trace }: WriteStages): Promise<Reply> {
  const { op, context, input, facts, prepared } = work
  const { db: _outside, ...inside } = context
  const { events, write: writeEvents } = openEvents(op)
  let output: unknown
  const reply = await platform.db.transaction().execute(async (tx) => {
    const writeContext: WriteContext = { ...inside, tx, lineage: provenance.lineage, events, tasks: platform.tasks(tx) }
    output = await op.execute(writeContext, input, facts, prepared)
    const response = toReply(platform, op, output, context)
    const owner = { organizationId: trace.organizationId, invocationId: trace.invocationId, now: platform.services.clock.now() }
    if (response.status < 400) await provenance.seal(tx, owner)
    await writeEvents(tx, owner)
    if (!(response.body instanceof Uint8Array)) throw new Error(`${op.id} writes, so it cannot stream its response`)
    if (response.status < 300) await claim?.complete(tx, stored(response), op.afterwards === undefined)
    await platform.audit.commitWith(tx, auditEntry(platform.services.clock, op, trace, response.status, provenance.artifacts()))
    return response
  })
  trace.audited = true
  await platform.committed(...callersOf(trace))
  if (op.changesAccess) await settleAccess(platform)
  return op.afterwards ? await afterCommit(platform, work, { output, reply, claim }) : reply
}

/** A caller who is told that a key is revoked must be able to rely on it, so a failure here is reported although the change is saved. */
async function settleAccess(platform: Platform): Promise<void> {
  try {
    await platform.rightsChanged()
  } catch (cause) {
    throw problem('internal-error', 'The change was saved, but an internal error followed. Read its result before you retry.', {
      cause,
    })
  }
}

/** The change is saved by now: a failure is only logged, and the caller gets the response that was stored with the change. */
async function afterCommit(
  platform: Platform,
  { op, context, input }: Work,
  { output, reply, claim }: { output: unknown; reply: Reply; claim: HeldClaim | null },
): Promise<Reply> {
  try {
    const last = toReply(platform, op, await op.afterwards!(context, input, output), context)
    // A retry with the same idempotency key gets the same bytes.
    return !claim || (await claim.finish(stored(last))) ? last : reply
  } catch (error) {
    if (!isAbandoned(error, context.signal)) platform.onFault(error, context.invocationId, op.id)
    await claim?.finish(stored(reply)).catch(() => {}) // Its lease ends soon, which has the same effect.
    return reply
  }
}

/** A response as it is stored for retries. */
const stored = ({ status, headers, body }: Reply): StoredResponse => ({
  status,
  contentType: headers['Content-Type']!,
  body: Buffer.from(body as Uint8Array),
})

/** Stage 7. */
function toReply(platform: Platform, op: AnyOperation, output: unknown, context: Context): Reply {
  if (op.raw === 'ndjson') return lineReply(op, output as AsyncIterable<unknown>, context, platform.onFault)
  if (op.raw === 'bytes' || op.raw === 'xml') {
    const { status = 200, contentType, headers, body } = output as RawReply
    return { status, headers: { 'Content-Type': contentType, ...headers }, body }
  }
  validateOutput(op.output, output, op.id)
  return jsonReply(output, op.mediaType)
}
