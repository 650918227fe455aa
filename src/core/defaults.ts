/**
 * What a schema's defaults fill in, worked out once per schema. The library's own walk looks at every field of every call, copies
 * each value that may be null and checks it against each choice: a third of what a small call costs to validate.
 */
import type { TSchema } from 'typebox'
import { Default } from 'typebox/value'

type Fill = (value: unknown) => unknown

/** Gives the value with its defaults, in place where it is an object. Null where there is nothing to fill in. */
export function defaultsOf(schema: TSchema): Fill | null {
  if (!JSON.stringify(schema).includes('"default":')) return null
  const inside = insideOf(schema)
  const own = (schema as { default?: unknown }).default
  if (own === undefined) return inside
  return (value) => {
    const filled = value === undefined ? structuredClone(own) : value
    return inside ? inside(filled) : filled
  }
}

function insideOf(schema: TSchema): Fill | null {
  const { default: _own, ...rest } = schema as Record<string, unknown>
  if (!JSON.stringify(rest).includes('"default":')) return null
  const { properties, additionalProperties, type } = rest as {
    properties?: Record<string, TSchema>
    additionalProperties?: unknown
    type?: string
  }
  // Choices, lists and maps with defaults inside are few: they are left to the library.
  if (type !== 'object' || !properties || typeof additionalProperties === 'object') return (value) => Default(schema, value)
  const fills = Object.entries(properties).flatMap(([key, property]) => {
    const fill = defaultsOf(property)
    return fill ? [{ key, fill }] : []
  })
  return (value) => {
    if (typeof value !== 'object' || value === null) return value
    const object = value as Record<string, unknown>
    for (const { key, fill } of fills) {
      const filled = fill(object[key])
      if (filled !== undefined) object[key] = filled
    }
    return object
  }
}
