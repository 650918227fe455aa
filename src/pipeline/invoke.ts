/** The specification's nine stages, in its order. No operation skips one. */
import { setTimeout as sleep } from 'node:timers/promises'
import { fingerprint } from '#core/canonical.ts'
import { newId } from '#core/ids.ts'
import type { Principal } from '#core/principal.ts'
import { during, renameTenant, tenantOfCaller, workFor } from '#core/tenant.ts'
import { traced, type Span } from '#core/tracing.ts'
import { callerLeft, FAULTS } from '#core/problem.ts'
import { DatabaseUnavailable } from '#db/failures.ts'
import type { Db } from '#db/tables.ts'
import type { StoredResponse } from '#model/platform/idempotency.ts'
import type { AnyOperation, Context } from '#operation.ts'
import { auditEntry } from './audit.ts'
import type { Authenticated, Credential } from '#access/authenticate.ts'
import { requireScope } from './authorize.ts'
import { executeRead, executeWrite } from './execute.ts'
import type { Begun, HeldClaim } from './idempotency.ts'
import type { Platform } from './platform.ts'
import { asProblem, concernsOperator, isAbandoned } from './outside-problems.ts'
import { openProvenance } from './provenance.ts'
import { problemReply, replayOf, type Reply } from './reply.ts'
import { priceFor, runAs } from './run-as.ts'
import { callersOf, type Trace } from './trace.ts'
import { validateInput } from '#core/validate.ts'

interface Call {
  credential: Credential
  /** Set instead of a credential by background work that acts as the platform itself. */
  principal?: Principal
  /** Reads and parses on demand, in stage 3, so that an unauthorized caller learns nothing about the body. */
  body: (principal: Principal) => unknown
  /** The fingerprint of that body, where it was taken with the parsing. */
  bodyHash?: () => Buffer | null
  /** As declared by its sender. */
  bodyBytes?: number
  idempotencyKey: string | null
  ifNoneMatch?: string | null
  clientAddress: string
  signal: AbortSignal
}

export interface Invoked extends Reply {
  trace: Trace
}

export const invoke = (platform: Platform, op: AnyOperation, call: Call): Promise<Invoked> =>
  traced(op.id, (span) => invokeWithin(span, platform, op, call))

/** Stages are spans of their own, named as the specification does. */
const stage = <T>(name: string, work: () => Promise<T>): Promise<T> => traced(`stage ${name}`, work)

async function invokeWithin(span: Span | null, platform: Platform, op: AnyOperation, call: Call): Promise<Invoked> {
  const trace: Trace = {
    invocationId: newId(),
    startedAtMs: performance.now(),
    principal: null,
    organizationId: null,
    inputHash: null,
    headers: {},
    subject: null,
    auditedAt: null,
    audited: false,
  }
  span?.set({ 'groundtrack.operation': op.id, 'groundtrack.tier': op.tier, 'groundtrack.invocation_id': trace.invocationId })
  const ended = platform.audit.begin()
  let reply: Reply
  try {
    reply = await runStages(platform, op, call, trace)
  } catch (error) {
    const shown = isAbandoned(error, call.signal) ? callerLeft() : asProblem(error)
    span?.fail(shown ?? error)
    if (!shown || shown.slug in FAULTS || concernsOperator(error)) platform.onFault(error, trace.invocationId, op.id)
    reply = problemReply(shown ?? error, trace.invocationId, platform.baseUrl())
  }
  if (trace.organizationId) platform.services.usage.record(trace.organizationId, 'api_calls')
  reply.headers = { ...trace.headers, ...reply.headers, 'X-Svc-Invocation-ID': trace.invocationId }
  const audit = async () => {
    try {
      if (trace.audited) return
      const entry = auditEntry(platform.services.clock, op, trace, reply.status)
      await stage('audit', async () => await (entry.subject === null ? platform.audit.record(entry) : platform.audit.recordRead(entry)))
    } finally {
      ended()
    }
  }
  if (reply.body instanceof Uint8Array) await audit() //                                 9 audit
  else reply.body = followedBy(reply.body, audit)
  return { ...reply, trace }
}

async function runStages(platform: Platform, op: AnyOperation, call: Call, trace: Trace): Promise<Reply> {
  const { principal, allowance } = await stage('authenticate', () => retriedOnce(trace, () => identify(platform, op, call))) // 1
  trace.principal = principal
  trace.organizationId = principal.organizationId
  if (principal.apiKeyId) platform.audit.countUse(principal.apiKeyId)
  if (allowance) trace.headers = (await stage('rate limit', () => retriedOnce(trace, () => platform.rateLimiter.admit(allowance)))).headers
  requireScope(principal, op) //                                                         2 scope
  const tenant = tenantOfCaller(principal, call.clientAddress)
  const work = workFor(tenant)
  const scheduled = {
    bodyBytes: call.bodyBytes ?? 0,
    get signal() {
      return call.signal // Made on demand.
    },
    isQuerying: () => work.connections > 0,
  }
  return await platform.scheduler.run(tenant, scheduled, () => during(work, () => runForTenant(platform, op, call, { trace, principal })))
}

/** What the call costs from here on is its organization's: others are served in turn with it. */
async function runForTenant(
  platform: Platform,
  op: AnyOperation,
  call: Call,
  { trace, principal }: { trace: Trace; principal: Principal },
): Promise<Reply> {
  const input = await stage('input', async () => {
    const body = await call.body(principal)
    trace.inputHash = call.bodyHash?.() ?? fingerprint(body)
    return validateInput(op.input, body) //                                              3 input
  })
  const runOn = async (db: Db): Promise<Reply> => {
    const context = contextOf(platform, call, { trace, principal, db })
    const permitted = await stage('permit', async () => await op.permit?.(context, input)) // 4 domain checks: who may,
    const begun = await stage('idempotency', () => beginIdempotent(platform, op, call, trace))
    if (begun?.outcome === 'replay') return await replayed(platform, trace, begun.response)

    return await settling(begun?.claim ?? null, async (claim) => {
      const facts = await stage('check', async () => await op.check?.(context, input, permitted)) // then what can be done
      trace.subject = op.auditSubject?.(input, facts) ?? null
      const provenance = openProvenance(op) //                                           5 open provenance
      const prepared = await stage('prepare', async () => await op.prepare?.(context, input, facts)) // 6 execute: outside,
      const work = { op, context, input, facts, prepared }
      if (op.tier === 'read') return await stage('execute', () => executeRead(platform, work)) //    then inside; 7 output
      //             or in one transaction with 7 and 8 seal provenance
      return await stage('execute', () => executeWrite(platform, work, { provenance, claim, trace }))
    })
  }
  if (op.tier !== 'read') return await runOn(platform.db)
  const replica = op.readsReplica && platform.replicas ? await platform.replicas.choose(callersOf(trace)) : null
  const fromReplica = replica && (await replica.attempt(runOn))
  return fromReplica ? fromReplica.value : await retriedOnce(trace, () => runOn(platform.db))
}

/** Whoever saved the change may not have been able to announce it. */
async function replayed(platform: Platform, trace: Trace, response: StoredResponse): Promise<Reply> {
  await platform.replicas?.announce(callersOf(trace))
  return replayOf(response)
}

/** A retry is pointless for a caller who has waited this long. */
const RETRY_WITHIN_MS = 5_000
const RETRY_AFTER_MS = 100

/** Repeats what changes nothing if its database connection was lost: after a failover or a restart, a new connection can succeed. */
async function retriedOnce<T>({ startedAtMs }: Trace, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const isRetryable = error instanceof DatabaseUnavailable && error.isRetryable && performance.now() - startedAtMs < RETRY_WITHIN_MS
    if (!isRetryable) throw error
    await sleep(RETRY_AFTER_MS)
    return await work()
  }
}

function contextOf(platform: Platform, call: Call, { trace, principal, db }: { trace: Trace; principal: Principal; db: Db }): Context {
  const context: Context = {
    ...platform.services,
    ...(db === platform.db ? {} : { layers: platform.layers.on(db) }),
    principal,
    db,
    baseUrl: platform.baseUrl(),
    invocationId: trace.invocationId,
    idempotencyKey: call.idempotencyKey ?? trace.invocationId,
    ifNoneMatch: call.ifNoneMatch ?? null,
    get signal() {
      return call.signal // Made on demand: most calls never look at it.
    },
    attributeTo: (organizationId) => {
      trace.organizationId = organizationId
      renameTenant(organizationId)
    },
    runAs: async (whom, id, input) => {
      const op = platform.operations.get(id)
      return op ? await runAs(op, context, whom, input) : null
    },
    priceOf: async (id, input) => await priceFor(platform, context, id, input),
    contractOf: (id) => {
      const op = platform.operations.get(id)
      return op ? { tier: op.tier, validate: (input) => validateInput(op.input, input) } : null
    },
  }
  return context
}

async function identify(platform: Platform, op: AnyOperation, call: Call): Promise<Authenticated> {
  if (call.principal) return { principal: call.principal, allowance: null }
  if (op.public) return platform.authenticator.anonymous(call.clientAddress)
  return await platform.authenticator.authenticate(call.credential)
}

/** Whose keys those of the platform's own calls are. */
const PLATFORM_ID = '00000000-0000-0000-0000-000000000000'

async function beginIdempotent(platform: Platform, op: AnyOperation, call: Call, trace: Trace): Promise<Begun | null> {
  if (op.tier === 'read' || call.idempotencyKey === null) return null
  const { organizationId, userId, kind, id } = trace.principal!
  const ownerId = organizationId ?? userId ?? (kind === 'service' ? PLATFORM_ID : null)
  if (!ownerId) return null // An anonymous caller: two of them cannot be told apart.
  const caller = op.idempotent ? null : `${kind} ${id}`
  const request = { ownerId, path: `/v1/op/${op.id}`, key: call.idempotencyKey, caller }
  return await platform.claims.begin(request, trace.inputHash!, trace.invocationId)
}

/** Whatever happens, the claim is settled: kept with its response, or freed for the next try. */
async function settling(claim: HeldClaim | null, work: (claim: HeldClaim | null) => Promise<Reply>): Promise<Reply> {
  if (!claim) return await work(null)
  let succeeded = false
  try {
    const reply = await work(claim)
    succeeded = reply.status < 300
    return reply
  } finally {
    await claim.settle(succeeded)
  }
}

/** `last` runs once the body has been read or dropped, even before its first byte, where a generator's `finally` would not run. */
function followedBy(body: AsyncIterable<Uint8Array>, last: () => Promise<void>): AsyncIterable<Uint8Array> {
  const source = body[Symbol.asyncIterator]()
  let ending: Promise<void> | null = null
  const end = () => (ending ??= last())
  const dropped = async (): Promise<IteratorResult<Uint8Array>> => {
    try {
      await source.return?.()
    } finally {
      await end()
    }
    return { done: true, value: undefined }
  }
  const iterator: AsyncIterator<Uint8Array> = {
    async next() {
      try {
        const result = await source.next()
        if (result.done) await end()
        return result
      } catch (error) {
        await end()
        throw error
      }
    },
    return: dropped,
    throw: dropped,
  }
  return { [Symbol.asyncIterator]: () => iterator }
}
