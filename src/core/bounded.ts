import { invalidField } from './problem.ts'

/** Free-form members that callers store with us: deep enough for any STAC extension, too shallow to hurt. */
const MAX_FREE_FORM_DEPTH = 8

const FORBIDDEN_NAMES = new Set(['__proto__', 'constructor', 'prototype'])

/** Depth, names and texts of a value that will be stored as it is. Walks level by level, so depth costs nothing. */
export function requireBounded<T>(root: T, field: string, maxDepth = MAX_FREE_FORM_DEPTH): T {
  let level: unknown[] = [root]
  for (let depth = 0; level.length > 0; depth++) {
    const next: unknown[] = []
    for (const value of level) {
      if (typeof value === 'string' && !isStorable(value)) throw invalidField(field, 'holds U+0000 or half of a surrogate pair')
      if (value === null || typeof value !== 'object') continue
      if (depth >= maxDepth) throw invalidField(field, `nests deeper than ${maxDepth} levels`)
      if (!Array.isArray(value)) {
        const bad = Object.keys(value).find((name) => FORBIDDEN_NAMES.has(name) || !isStorable(name))
        if (bad !== undefined) throw invalidField(field, `'${bad.slice(0, 60)}' cannot be the name of a member`)
      }
      for (const member of Object.values(value)) next.push(member)
    }
    level = next
  }
  return root
}

/** PostgreSQL keeps neither of these in a text. */
function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}
