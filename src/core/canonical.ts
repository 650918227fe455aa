import { hash } from 'node:crypto'

/**
 * JSON in the canonical form of RFC 8785: members sorted by UTF-16 code units, no white space. ECMAScript's own number and string output
 * is what that RFC prescribes, so only the order of members needs work.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const members = Object.keys(value)
    .toSorted()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson((value as Record<string, unknown>)[key])}`)
  return `{${members.join(',')}}`
}

export function fingerprint(value: unknown): Buffer {
  return hash('sha256', canonicalJson(value), 'buffer')
}
