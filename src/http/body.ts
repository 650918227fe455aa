import { invalidField, problem } from '#core/problem.ts'

export const MAX_DEPTH = 32
/** Of one object: no field of ours has so many, and each costs more than its bytes. */
export const MAX_MEMBERS = 5_000

/** Names that reach an object's prototype in careless code; no field of ours has one of them. */
const FORBIDDEN_NAMES = new Set(['__proto__', 'constructor', 'prototype'])

const decoder = new TextDecoder('utf-8', { fatal: true })

/** The input of an operation: one JSON object. No body at all counts as an empty one. */
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

/** What can be said of a body before it is read. */
export function requireKind(contentType: string | undefined, contentEncoding: string | undefined): void {
  if (contentEncoding !== undefined && contentEncoding !== 'identity')
    throw problem('unsupported-media-type', `Content-Encoding '${contentEncoding}' is not taken; send the body as it is`)
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
    const reason = error instanceof SyntaxError ? `: ${error.message.slice(0, 200)}` : ': it is not UTF-8'
    throw problem('invalid-json', `The body is not valid JSON${reason}`)
  }
}

/** Walks without recursion, so that depth costs us nothing before it is refused. */
function requireHarmless(root: object): void {
  let level: object[] = [root]
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) throw problem('invalid-json', `The body nests deeper than ${MAX_DEPTH} levels`)
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
  if (FORBIDDEN_NAMES.has(name)) throw problem('invalid-json', `'${name}' cannot be the name of a member`)
  requireKeepable(name, 'body')
}

/** What PostgreSQL, a hash or another parser would not give back as it came (RFC 7493) is refused at the door. */
function requireKeepable(value: unknown, field: string): void {
  if (typeof value === 'string' && (value.includes('\0') || !value.isWellFormed()))
    throw invalidField(field, 'holds U+0000 or half of a surrogate pair')
  if (typeof value === 'number' && !Number.isFinite(value)) throw invalidField(field, 'is beyond the range of a 64-bit float')
}
