/**
 * Validates and writes outputs with long lists in parts, so that other calls run in between: a page of a thousand items at once blocks
 * the event loop for 11 ms, and a call that makes ten round trips meanwhile can wait for it ten times.
 */
import type { TSchema } from 'typebox'
import { inParts, isLong } from '#core/in-parts.ts'
import { validatorOf } from '#core/validate.ts'
import { validateOutput } from './validate.ts'

export type Page = Readonly<Record<string, unknown>>

/** The names of the members that are long lists. */
export function longListsIn(output: unknown): string[] {
  if (output === null || typeof output !== 'object' || Array.isArray(output) || 'toJSON' in output) return []
  return Object.keys(output).filter((name) => {
    const member = (output as Page)[name]
    return Array.isArray(member) && isLong(member)
  })
}

/** The same as `validateOutput`, with the same error. */
export async function validatePage(schema: TSchema, page: Page, lists: readonly string[], operationId: string): Promise<void> {
  const divided = lists.flatMap((name) => {
    const list = listSchemaOf(schema, name)
    return list ? [{ name, validator: validatorOf(list) }] : []
  })
  const rest = { ...page, ...Object.fromEntries(divided.map(({ name }) => [name, []])) }
  let isValid = validatorOf(schema).Check(rest)
  for (const { name, validator } of divided)
    await inParts(page[name] as unknown[], (part) => {
      isValid &&= validator.Check(part)
    })
  if (!isValid) validateOutput(schema, page, operationId) // Describes what is wrong.
}

/** With one of these, an object says more about a list than the schema of that member does. */
const OF_OBJECTS = [
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'if',
  'patternProperties',
  'dependentSchemas',
  'unevaluatedProperties',
  '$defs',
  '~refine',
]
/** With one of these, a list is more than its entries. */
const OF_LISTS = ['minItems', 'maxItems', 'uniqueItems', 'contains', 'prefixItems', 'unevaluatedItems', '$defs', '~refine']

/** The schema of a list whose parts can be checked one by one; null if it has to be checked as a whole. */
function listSchemaOf(schema: TSchema, name: string): TSchema | null {
  const { type, properties } = schema as { type?: unknown; properties?: Readonly<Record<string, TSchema>> }
  if (type !== 'object' || !properties || !Object.hasOwn(properties, name) || OF_OBJECTS.some((keyword) => keyword in schema)) return null
  const list = properties[name] as TSchema & { type?: unknown; items?: unknown }
  const isDivisible = list.type === 'array' && !Array.isArray(list.items) && !OF_LISTS.some((keyword) => keyword in list)
  return isDivisible ? list : null
}

/** The bytes that `JSON.stringify` gives. */
export async function pageBytes(page: Page, lists: readonly string[]): Promise<Buffer> {
  const written: Buffer[] = []
  let text = '{'
  let comma = ''
  for (const [name, value] of Object.entries(page)) {
    const start = `${comma}${JSON.stringify(name)}:`
    if (lists.includes(name)) {
      text += start
      comma = ','
      let border = '['
      await inParts(value as unknown[], (part) => {
        written.push(Buffer.from(text + border + JSON.stringify(part).slice(1, -1)))
        text = ''
        border = ','
      })
      text = ']'
    } else {
      const json = JSON.stringify(value) as string | undefined
      if (json === undefined) continue // What has no JSON, such as undefined, is not written.
      text += start + json
      comma = ','
    }
  }
  written.push(Buffer.from(`${text}}`))
  return Buffer.concat(written)
}
