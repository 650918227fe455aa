import { invalidField, problem } from '#core/problem.ts'

export const MAX_DEPTH = 32
/** Per object. No schema has this many, and each member costs more than its bytes. */
export const MAX_MEMBERS = 5_000

/** Names that careless code would resolve to an object's prototype; no field has one of them. */
const FORBIDDEN_NAMES = new Set(['__proto__', 'constructor', 'prototype'])

const decoder = new TextDecoder('utf-8', { fatal: true })

/** The input of an operation: one JSON object. A missing body counts as an empty object. */
export function parseBody(
  body: Buffer | undefined,
  contentType: string | undefined,
  contentEncoding: string | undefined,
): Record<string, unknown> {
  const isEmpty = !body || body.length === 0
  if (isEmpty && contentType === undefined) return {}
  requireKind(contentType, contentEncoding)
  return isEmpty ? {} : parseJson(body)
}

/** Checks the headers of a body before it is read. */
export function requireKind(contentType: string | undefined, contentEncoding: string | undefined): void {
  if (contentEncoding !== undefined && contentEncoding !== 'identity')
    throw problem('unsupported-media-type', `Content-Encoding '${contentEncoding}' is not supported; send the body uncompressed`)
  requireJson(contentType)
}

export function parseJson(body: Buffer): Record<string, unknown> {
  const value = parse(body)
  if (value === null || typeof value !== 'object' || Array.isArray(value)) throw problem('invalid-json', 'The body must be a JSON object')
  requireHarmless(value)
  return value as Record<string, unknown>
}

function requireJson(contentType: string | undefined): void {
  const [type, ...parameters] = (contentType ?? '').split(';').map((part) => part.trim().toLowerCase())
  const charset = parameters
    .find((parameter) => parameter.startsWith('charset='))
    ?.slice('charset='.length)
    .replaceAll('"', '')
  if (type === 'application/json' && (charset === undefined || charset === 'utf-8')) return
  throw problem('unsupported-media-type', `Send Content-Type: application/json${contentType ? `, not '${contentType.slice(0, 100)}'` : ''}`)
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(decoder.decode(body))
  } catch (error) {
    const reason = error instanceof SyntaxError ? `: ${error.message.slice(0, 200)}` : ': it is not encoded in UTF-8'
    throw problem('invalid-json', `The body is not valid JSON${reason}`)
  }
}

/** Iterative, so that depth cannot exhaust the stack before it is rejected. */
function requireHarmless(root: object): void {
  let level: object[] = [root]
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) throw problem('invalid-json', `The body is nested deeper than ${MAX_DEPTH} levels`)
    const next: object[] = []
    for (const node of level) {
      const names = Object.keys(node)
      if (!Array.isArray(node) && names.length > MAX_MEMBERS)
        throw problem('invalid-json', `An object of the body has more than ${MAX_MEMBERS} members`)
      for (const name of names) {
        if (!Array.isArray(node)) requireName(name)
        const value = (node as Record<string, unknown>)[name]
        if (value !== null && typeof value === 'object') next.push(value)
        else requireKeepable(value, Array.isArray(node) ? 'body' : name)
      }
    }
    level = next
  }
}

function requireName(name: string): void {
  if (FORBIDDEN_NAMES.has(name)) throw problem('invalid-json', `'${name}' is not allowed as a member name`)
  requireKeepable(name, 'body')
}

/** Rejects values that PostgreSQL, a hash or another parser would change (RFC 7493). */
function requireKeepable(value: unknown, field: string): void {
  if (typeof value === 'string' && (value.includes('\0') || !value.isWellFormed()))
    throw invalidField(field, 'must not contain U+0000 or an unpaired surrogate')
  if (typeof value === 'number' && !Number.isFinite(value)) throw invalidField(field, 'must be within the range of a 64-bit float')
}
