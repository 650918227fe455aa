/** How a JSON Schema becomes a form: its labels, the order of its fields, and what a typed text stands for. */
export interface Schema {
  type?: string
  title?: string
  description?: string
  default?: unknown
  enum?: readonly (string | number)[]
  format?: string
  minimum?: number
  maximum?: number
  exclusiveMinimum?: number
  items?: Schema
  properties?: Readonly<Record<string, Schema>>
  required?: readonly string[]
}

export type Values = Readonly<Record<string, unknown>>

export interface FieldError {
  field: string
  message: string
}

/** `max_cloud_cover` becomes 'Max cloud cover', `source_item_id` 'Source item'. */
export function labelOf(name: string): string {
  const text = name
    .replace(/_ids?$/, (end) => (end === '_ids' ? 's' : ''))
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .toLowerCase()
  return text.charAt(0).toUpperCase() + text.slice(1)
}

export const isItem = (name: string) => name === 'item_id' || name.endsWith('_item_id')
export const isArea = (name: string, { type }: Schema) => name === 'geometry' && type === 'object'

/** Required fields, items and areas come first; the rest is folded. */
export function orderedFields({ properties = {}, required = [] }: Schema): { first: string[]; rest: string[] } {
  const names = Object.keys(properties)
  const isFirst = (name: string) => required.includes(name) || isItem(name) || name === 'item_ids' || isArea(name, properties[name]!)
  return { first: names.filter(isFirst), rest: names.filter((name) => !isFirst(name)) }
}

/** The error of a field or of a part of it, wherever the form is within the input: `inputs.bands.0` is an error of `bands`. */
export const errorOf = (errors: readonly FieldError[], name: string) => errors.find(({ field }) => field.split('.').includes(name))?.message

const isNumeric = (type: string | undefined) => type === 'integer' || type === 'number'

/** The value of a chosen option. The empty option stands for no value. */
export const optionValue = ({ type }: Schema, text: string): string | number | undefined =>
  text === '' ? undefined : isNumeric(type) ? Number(text) : text

/** Words or numbers, separated by commas. What is not a number stays as typed, so that the service can say so. */
export function listValue({ items }: Schema, text: string): (string | number)[] | undefined {
  const parts = text.split(',').flatMap((part) => part.trim() || [])
  if (parts.length === 0) return undefined
  return isNumeric(items?.type) ? parts.map((part) => (Number.isNaN(Number(part)) ? part : Number(part))) : parts
}
