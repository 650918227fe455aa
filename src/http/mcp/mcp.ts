/**
 * `POST /mcp`: operations as tools for agents, by the Model Context Protocol over streamable HTTP, without sessions. It accepts the
 * API's credentials, in the Authorization header only; requests from pages of other origins are rejected (docs/threats.md, row 40).
 */
import { LRUCache } from 'lru-cache'
import { VERSION } from '#core/version.ts'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { PriceError, priceOf, type Price } from '#contract/prices.ts'
import { Problem, problem } from '#core/problem.ts'
import type { Principal } from '#core/principal.ts'
import { tenantOfCaller } from '#core/tenant.ts'
import type { AnyOperation } from '#operation.ts'
import { invoke, type Invoked } from '#pipeline/invoke.ts'
import type { Platform } from '#pipeline/platform.ts'
import { parseBody } from '#http/body.ts'
import { callerAddress } from '#http/caller.ts'
import { credentialOf } from '#http/credential.ts'
import { abortedWith } from '#http/operations.ts'
import type { Observe, RouteParts } from '#http/parts.ts'
import { READS_BODY, readRequest } from '#http/read-body.ts'
import { refused, resultOf, type ToolResult } from './results.ts'
import { choiceOf, CONFIRM, createTools, KEY, keyOf, PARAMETER_OF, MAX_LISTS, toolName, type Choice, type Tools } from './tools.ts'

interface Caller {
  readonly platform: Platform
  readonly tools: Tools
  readonly observe: Observe
  readonly request: FastifyRequest
  readonly signal: AbortSignal
  readonly choice: Choice
  readonly principal: Principal
}

const INSTRUCTIONS =
  'Groundtrack manages satellite and aerial imagery. List projects with projects_list and their items with items_list or ' +
  'items_search. Search open and commercial catalogues with catalog_federated_search. View an item with items_tile_render (format ' +
  'png); items_tile_tilejson returns its bounds and zoom levels. Geometry is GeoJSON in WGS84, a bbox is [west, south, east, ' +
  'north], times are RFC 3339.'

export function registerMcp(app: FastifyInstance, { platform, observe }: RouteParts): void {
  const tools = createTools(platform.operations)
  const lists = new LRUCache<string, Answered>({ max: MAX_LISTS })
  app.post('/mcp', READS_BODY, async (request, reply) => {
    requireSameOrigin(request, platform.baseUrl())
    const principal = await authenticate(request, reply, platform)
    const signal = abortedWith(reply)
    const inTurn = <T>(work: () => Promise<T>) =>
      platform.scheduler.run(tenantOfCaller(principal, callerAddress(request)), { signal }, work)
    const message = await inTurn(() => readMessage(request))
    const choice = choiceOf((request.query ?? {}) as Record<string, unknown>)
    const caller = { platform, tools, observe, request, signal, choice, principal }
    // The tool's operation waits for its own slot, so the call must not occupy one meanwhile.
    const isCall = message['method'] === 'tools/call'
    const { status, headers, body } = isCall ? await answer(caller, message) : await inTurn(() => answerOrRepeat(caller, message, lists))
    reply.code(status)
    for (const [name, value] of headers) reply.header(name, value)
    return reply.send(body)
  })
}

async function readMessage(request: FastifyRequest): Promise<Record<string, unknown>> {
  const { 'content-type': type, 'content-encoding': encoding } = request.headers
  return parseBody(await readRequest(request), type, encoding)
}

/** Browsers send the origin of the calling page; agents send none. */
function requireSameOrigin({ headers }: FastifyRequest, baseUrl: string): void {
  const { origin } = headers
  if (origin !== undefined && origin !== new URL(baseUrl).origin) throw problem('forbidden', 'Web pages of other origins cannot use /mcp')
}

/** Authenticates before the body is read; each tool's operation authenticates and counts again. */
async function authenticate(request: FastifyRequest, reply: FastifyReply, platform: Platform): Promise<Principal> {
  const credential = credentialOf(request)
  if (credential?.via !== 'bearer')
    throw problem('unauthorized', 'Send `Authorization: Bearer …` with a session token or an API key', {
      headers: { 'WWW-Authenticate': 'Bearer realm="svc"' },
    })
  const { principal, allowance } = await platform.authenticator.authenticate(credential)
  if (allowance) reply.headers((await platform.rateLimiter.admit(allowance)).headers)
  return principal
}

interface Answered {
  readonly status: number
  readonly headers: Headers
  readonly body: Buffer
}

/** Placeholder for the request ID in a cached response. */
const ID = 'request id'

/** The tool list of each selection is validated and serialized once; later responses differ only in the request ID. */
async function answerOrRepeat(caller: Caller, message: Record<string, unknown>, lists: LRUCache<string, Answered>): Promise<Answered> {
  const { jsonrpc, id, method, params = {}, ...rest } = message
  const isPlain = (typeof id === 'string' || Number.isSafeInteger(id)) && JSON.stringify([jsonrpc, params, rest]) === '["2.0",{},{}]'
  if (method !== 'tools/list' || !isPlain) return await answer(caller, message)
  const { accept, 'content-type': type, 'mcp-protocol-version': version } = caller.request.headers
  const key = JSON.stringify([keyOf(caller.choice, caller.principal.scopes), accept, type, version])
  let kept = lists.get(key)
  if (!kept) {
    kept = await answer(caller, { ...message, id: ID })
    if (kept.status === 200) lists.set(key, kept)
  }
  return { ...kept, body: Buffer.from(kept.body.toString().replace(JSON.stringify(ID), () => JSON.stringify(id))) }
}

/** The protocol's library is loaded for the first agent, so that it does not slow down the start. */
async function answer(caller: Caller, message: Record<string, unknown>): Promise<Answered> {
  const { createMcpHandler, Server } = await import('@modelcontextprotocol/server')
  const handler = createMcpHandler(
    () => {
      const server = new Server({ name: 'groundtrack', version: VERSION }, { capabilities: { tools: {} }, instructions: INSTRUCTIONS })
      server.setRequestHandler('tools/list', () => ({ tools: [...caller.tools.list(caller.choice, caller.principal.scopes)] }))
      server.setRequestHandler('tools/call', ({ params }) => callTool(caller, params.name, params.arguments ?? {}))
      return server
    },
    { maxSubscriptions: 0 }, // No notifications: a connection is one request and its response.
  )
  const { method, url, headers } = caller.request
  const sent = new Headers(Object.entries(headers).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])))
  const request = new Request(new URL(url, caller.platform.baseUrl()), { method, headers: sent, body: JSON.stringify(message) })
  const response = await handler.fetch(request, { parsedBody: message })
  return { status: response.status, headers: response.headers, body: Buffer.from(await response.arrayBuffer()) }
}

async function callTool(caller: Caller, name: string, given: Readonly<Record<string, unknown>>): Promise<ToolResult> {
  const op = caller.tools.operations(caller.choice, caller.principal.scopes).find(({ id }) => toolName(id) === name)
  if (!op) return refused(unknownTool(caller, name))
  if (op.tier === 'read') return await resultOf(await run(caller, op, given, null))
  const { [KEY]: givenKey, ...writing } = given
  const key = typeof givenKey === 'string' ? givenKey : null
  if (op.tier !== 'external_spend') return await resultOf(await run(caller, op, writing, key))
  const { [CONFIRM]: agreed, ...input } = writing
  const { price, failure } = await priceFor(caller, op, input)
  if (!price) return failure
  if (agreed !== (price.credits ?? 0)) return refused(question(price, agreed))
  // The confirmed price is passed as a maximum if the operation has one.
  const hasCeiling = Object.hasOwn((op.input as { properties?: object }).properties ?? {}, 'maxCredits')
  const bounded = hasCeiling && price.credits !== null ? { maxCredits: price.credits, ...input } : input
  return await resultOf(await run(caller, op, bounded, key))
}

function unknownTool({ platform }: Caller, name: string): string {
  const hidden = [...platform.operations.values()].find(({ id }) => toolName(id) === name)
  if (!hidden) return `Unknown tool ${name}`
  const parameter = PARAMETER_OF[hidden.tier]
  const set = `tools=${hidden.id.split('.')[0]!}`
  return (
    `The tool ${name} is not enabled for this connection, so nothing was done. It needs ${parameter ? `${set} and ${parameter}=1` : set} ` +
    'in the URL of /mcp, and a credential with its scope'
  )
}

function question({ credits, aud, note }: Price, agreed: unknown): string {
  const cost = credits === null ? 'an amount that is only known afterwards' : `${credits} credits (A$${aud!.toFixed(2)})`
  const begin = agreed === undefined ? 'Nothing was done yet.' : `Nothing was done: ${String(agreed)} is not the current price.`
  return `${begin} This call costs ${cost}.${note ? ` ${note}.` : ''} Ask the user, then call again with ${CONFIRM}: ${credits ?? 0}.`
}

/** The price, or the problem that prevents it: the call itself would fail in the same way. */
async function priceFor(
  caller: Caller,
  op: AnyOperation,
  input: Readonly<Record<string, unknown>>,
): Promise<{ price: Price; failure?: never } | { price: null; failure: ToolResult }> {
  let failed: ToolResult | null = null
  const ask = async (id: string, fields: object): Promise<unknown> => {
    const other = caller.platform.operations.get(id)
    if (!other) throw problem('unknown-operation', `${id} is not available, so there is no price`)
    const invoked = await run(caller, other, fields, null)
    const result = await resultOf(invoked)
    if (invoked.status >= 400) {
      failed = result
      throw problem('bad-request', 'The price could not be determined')
    }
    return result.structuredContent
  }
  try {
    return { price: await priceOf(ask, op.id, input) }
  } catch (error) {
    if (failed) return { price: null, failure: failed }
    if (error instanceof Problem || error instanceof PriceError) return { price: null, failure: refused(error.message) }
    throw error
  }
}

async function run({ platform, observe, request, signal }: Caller, op: AnyOperation, input: object, key: string | null): Promise<Invoked> {
  const invoked = await invoke(platform, op, {
    credential: credentialOf(request),
    body: () => input,
    idempotencyKey: key,
    clientAddress: callerAddress(request),
    signal,
  })
  observe(request, op, invoked)
  return invoked
}
