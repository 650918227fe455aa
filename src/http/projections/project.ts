/** GET routes of operations, for clients that can only follow URLs. Each calls the operation with all its stages. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { invoke, type Invoked } from '#pipeline/invoke.ts'
import { callerAddress } from '#http/caller.ts'
import type { Credential } from '#access/authenticate.ts'
import { credentialOf } from '#http/credential.ts'
import type { RouteParts } from '#http/parts.ts'
import { abortedWith, idempotencyKeyOf, send } from '#http/operations.ts'
import { problem } from '#core/problem.ts'
import { nearest } from '#core/nearest.ts'

/** `input` is evaluated in the stage that reads bodies, so that an unauthorized caller learns nothing about it. */
export async function project(
  parts: RouteParts,
  id: string,
  request: FastifyRequest,
  reply: FastifyReply,
  input: () => object | Promise<object>,
): Promise<Invoked> {
  return await projectAs(parts, id, { request, reply, credential: credentialOf(request) }, input)
}

/** The same with a credential that only some routes accept. */
export async function projectAs(
  { platform, observe }: RouteParts,
  id: string,
  { request, reply, credential }: { request: FastifyRequest; reply: FastifyReply; credential: Credential },
  input: () => object | Promise<object>,
): Promise<Invoked> {
  const op = platform.operations.get(id)!
  let signal: AbortSignal | null = null
  const invoked = await invoke(platform, op, {
    credential,
    body: input,
    idempotencyKey: idempotencyKeyOf(request),
    ifNoneMatch: request.headers['if-none-match'] ?? null,
    clientAddress: callerAddress(request),
    get signal() {
      return (signal ??= abortedWith(reply))
    },
  })
  observe(request, op, invoked)
  invoked.headers['Vary'] = 'Authorization, X-API-Key' // Caches must not share a response between callers.
  return invoked
}

type Query = Readonly<Record<string, unknown>>
export const queryOf = (request: FastifyRequest): Query => (request.query ?? {}) as Query

/** The known parameters, unchanged; others, which clients may add, are ignored. */
export function pick(query: Query, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.flatMap((name) => (Object.hasOwn(query, name) && query[name] !== '' ? [[name, query[name]]] : [])))
}

/** The query; 400 for an unknown parameter, with a suggestion. */
export function known(query: Query, names: readonly string[]): Query {
  const unknown = Object.keys(query).find((name) => !names.includes(name))
  if (unknown === undefined) return query
  const meant = intended(unknown, names)
  const hint = meant ? `did you mean '${meant}'?` : `use ${names.filter((name) => name !== '_').join(', ')}`
  throw problem('bad-request', `Unknown parameter '${unknown.slice(0, 60)}'; ${hint}`)
}

/** The most similar name: `colormap_name`, as other tile servers call it, is `colormap` here. */
export const intended = (given: string, names: readonly string[]): string | null =>
  nearest(given, names) ?? names.find((name) => name.length > 2 && given.startsWith(name)) ?? null

/** Digits become a number; other text is left for the schema to reject. */
export const numeric = (value: unknown): unknown => (typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value)

/** The known parameters as numbers. */
export const numbers = (query: Query, names: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(Object.entries(pick(query, names)).map(([name, value]) => [name, numeric(value)]))

/** The row, `@2x` for twice as many pixels, and the format. */
const TILE_ROW = /^(\d{1,8})(@2x)?\.(webp|png|jpg|jpeg|bin)$/

export interface TileParams {
  z: string
  x: string
  /** For example `1654@2x.webp`. */
  row: string
}

/** Whether the row asks for samples, which only some routes return. */
export const isData = ({ row }: TileParams): boolean => row.endsWith('.bin')

export function tilePlace(params: TileParams, { hasData = false } = {}): object {
  const { z, x, row } = params
  const [, y, twice, format] = TILE_ROW.exec(row) ?? []
  if (y === undefined || (isData(params) && !hasData))
    throw problem('not-found', 'A tile URL must end with {y}.webp, {y}.png, {y}.jpg or {y}.jpeg; {y}@2x.webp is 512 × 512 pixels')
  return { z: numeric(z), x: numeric(x), y: Number(y), format, ...(twice ? { tile_size: 512 } : {}) }
}

/** Redirects to the URL that a download operation has signed; its problems are returned unchanged. */
export function redirect(reply: FastifyReply, invoked: Invoked, cacheControl: string): FastifyReply {
  if (invoked.status !== 200) return send(reply, invoked)
  const { url } = JSON.parse(Buffer.from(invoked.body as Uint8Array).toString()) as { url: string }
  const { 'Content-Type': _json, ...headers } = invoked.headers
  return reply
    .code(302)
    .headers({ ...headers, Location: new URL(url).href, 'Cache-Control': cacheControl })
    .send()
}
