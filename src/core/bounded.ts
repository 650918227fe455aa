import { invalidField } from './problem.ts'

/** Maximum depth of free-form data: enough for any STAC extension, and safe to process. */
const MAX_FREE_FORM_DEPTH = 8

const FORBIDDEN_NAMES = new Set(['__proto__', 'constructor', 'prototype'])

/** Checks depth, names and strings of a value that is stored unchanged. Iterative, so that depth cannot exhaust the stack. */
export function requireBounded<T>(root: T, field: string, maxDepth = MAX_FREE_FORM_DEPTH): T {
  let level: unknown[] = [root]
  for (let depth = 0; level.length > 0; depth++) {
    const next: unknown[] = []
    for (const value of level) {
      if (typeof value === 'string' && !isStorable(value)) throw invalidField(field, 'must not contain U+0000 or an unpaired surrogate')
      if (value === null || typeof value !== 'object') continue
      if (depth >= maxDepth) throw invalidField(field, `must not be nested deeper than ${maxDepth} levels`)
      if (!Array.isArray(value)) {
        const bad = Object.keys(value).find((name) => FORBIDDEN_NAMES.has(name) || !isStorable(name))
        if (bad !== undefined) throw invalidField(field, `'${bad.slice(0, 60)}' is not allowed as a member name`)
      }
      for (const member of Object.values(value)) next.push(member)
    }
    level = next
  }
  return root
}

/** PostgreSQL cannot store either of these in a text. */
function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}
