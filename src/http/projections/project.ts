/** Addresses of operations, for clients that know addresses only. Each is the operation itself, with all its stages. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { invoke, type Invoked } from '#pipeline/invoke.ts'
import { callerAddress } from '#http/caller.ts'
import { credentialOf } from '#http/credential.ts'
import type { RouteParts } from '#http/parts.ts'
import { abortedWith, idempotencyKeyOf, send } from '#http/operations.ts'
import { problem } from '#core/problem.ts'
import { nearest } from '#core/nearest.ts'

/** `input` is asked for in the stage that reads bodies: who may not call learns nothing about it. */
export async function project(
  { platform, observe }: RouteParts,
  id: string,
  request: FastifyRequest,
  reply: FastifyReply,
  input: () => object | Promise<object>,
): Promise<Invoked> {
  const op = platform.operations.get(id)!
  let signal: AbortSignal | null = null
  const invoked = await invoke(platform, op, {
    credential: credentialOf(request),
    body: input,
    idempotencyKey: idempotencyKeyOf(request),
    ifNoneMatch: request.headers['if-none-match'] ?? null,
    clientAddress: callerAddress(request),
    get signal() {
      return (signal ??= abortedWith(reply))
    },
  })
  observe(request, op, invoked)
  invoked.headers['Vary'] = 'Authorization, X-API-Key' // Caches keep what one caller may see from the next.
  return invoked
}

type Query = Readonly<Record<string, unknown>>
export const queryOf = (request: FastifyRequest): Query => (request.query ?? {}) as Query

/** The named parameters that came, as they came; whatever else a client adds to its addresses is not ours. */
export function pick(query: Query, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.flatMap((name) => (Object.hasOwn(query, name) && query[name] !== '' ? [[name, query[name]]] : [])))
}

/** The query itself; 400 for a parameter that the address does not take, with the one that was probably meant. */
export function known(query: Query, names: readonly string[]): Query {
  const unknown = Object.keys(query).find((name) => !names.includes(name))
  if (unknown === undefined) return query
  const meant = intended(unknown, names)
  const hint = meant ? `did you mean '${meant}'?` : `this address takes ${names.filter((name) => name !== '_').join(', ')}`
  throw problem('bad-request', `Unknown parameter '${unknown.slice(0, 60)}'; ${hint}`)
}

/** The name that was probably meant: `colormap_name`, as other tile servers call it, is `colormap` here. */
export const intended = (given: string, names: readonly string[]): string | null =>
  nearest(given, names) ?? names.find((name) => name.length > 2 && given.startsWith(name)) ?? null

/** Digits are a number; anything else stays what it is, for the schema to refuse. */
export const numeric = (value: unknown): unknown => (typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value)

/** The row, `@2x` for twice as many pixels, and the format. */
const TILE_ROW = /^(\d{1,8})(@2x)?\.(webp|png|jpg|jpeg)$/

export interface TileParams {
  z: string
  x: string
  /** For example `1654@2x.webp`. */
  row: string
}

export function tilePlace({ z, x, row }: TileParams): object {
  const [, y, twice, format] = TILE_ROW.exec(row) ?? []
  if (y === undefined)
    throw problem('not-found', 'The address of a tile ends with {y}.webp, {y}.png, {y}.jpg or {y}.jpeg; {y}@2x.webp has 512 pixels a side')
  return { z: numeric(z), x: numeric(x), y: Number(y), format, ...(twice ? { tile_size: 512 } : {}) }
}

/** Leads to the address that a download operation has signed; what it refused is shown as it is. */
export function redirect(reply: FastifyReply, invoked: Invoked, cacheControl: string): FastifyReply {
  if (invoked.status !== 200) return send(reply, invoked)
  const { url } = JSON.parse(Buffer.from(invoked.body as Uint8Array).toString()) as { url: string }
  const { 'Content-Type': _json, ...headers } = invoked.headers
  return reply
    .code(302)
    .headers({ ...headers, Location: new URL(url).href, 'Cache-Control': cacheControl })
    .send()
}
