/** The events that the service tells of, with the shape of each. */
import { useQuery } from '@tanstack/react-query'
import { route } from '../../api/client.ts'

interface Schema {
  type?: string
  format?: string
  anyOf?: readonly Schema[]
  items?: Schema
  properties?: Readonly<Record<string, Schema>>
}

export interface EventTypeRow {
  type: string
  domain: string
  entity_type: string
  description: string
  data_schema: Schema
}

export function useEventTypes() {
  return useQuery({
    queryKey: ['/v1/event-types'],
    queryFn: ({ signal }) => route<{ event_types: EventTypeRow[] }>('GET', '/v1/event-types', undefined, { signal }),
    staleTime: Infinity,
  })
}

const kindOf = (schema: Schema): Schema => schema.anyOf?.find(({ type }) => type !== 'null') ?? schema

/** What a filter may name. */
export const fieldsOf = (row: EventTypeRow | undefined): string[] => [
  'entity_id',
  ...Object.keys(row?.data_schema.properties ?? {}).map((name) => `data.${name}`),
]

/** A value of a filter as the event has it: numbers are numbers. */
export function filterValue(row: EventTypeRow | undefined, field: string, text: string): unknown {
  const schema = kindOf(row?.data_schema.properties?.[field.replace(/^data\./, '')] ?? {})
  const sampleOf = (part: string): unknown => {
    if (/^(number|integer)$/.test(schema.type ?? '') && Number.isFinite(Number(part))) return Number(part)
    return schema.type === 'boolean' ? part === 'true' : part
  }
  const parts = text
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean)
  return parts.length === 1 ? sampleOf(parts[0]!) : parts.map(sampleOf)
}

const EXAMPLES: Readonly<Record<string, unknown>> = { integer: 0, number: 0.5, boolean: true, array: [], object: {}, string: '…' }

/** What a delivery looks like, with an example in place of each value. */
export function exampleOf(row: EventTypeRow): object {
  const sample = (schema: Schema) => {
    const { type = 'string', format } = kindOf(schema)
    return format === 'date-time' ? '2026-11-15T08:35:13.902Z' : EXAMPLES[type]
  }
  return {
    event_id: '…',
    event_type: row.type,
    timestamp: '2026-11-15T08:35:13.902Z',
    organization_id: '…',
    entity_type: row.entity_type,
    entity_id: '…',
    data: Object.fromEntries(Object.entries(row.data_schema.properties ?? {}).map(([name, schema]) => [name, sample(schema)])),
  }
}
