/** Operations as tools of the Model Context Protocol: which of them an agent is shown, and how each is described. */
import { DOMAINS } from '#contract/domains.ts'
import { TABLE } from '#contract/table.ts'
import { invalidField } from '#core/problem.ts'
import type { AnyOperation } from '#operation.ts'
import { isPublished } from '#http/openapi.ts'

/** What an agent asked to be handed. */
export interface Choice {
  /** Domains; a model is not handed two hundred tools at once. */
  readonly sets: readonly string[] | 'all'
  readonly mayWrite: boolean
  readonly maySpend: boolean
}

type Json = Record<string, unknown>

interface Tool {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly inputSchema: Json & { type: 'object' }
  readonly annotations: { readOnlyHint: boolean; destructiveHint: boolean; idempotentHint: boolean; openWorldHint: boolean }
}

const DEFAULT_SETS = ['projects', 'items', 'catalog'] as const

/** Fields of spending tools that the operation itself does not have. */
export const CONFIRM = 'confirm_credits'
export const KEY = 'idempotency_key'

export const toolName = (id: string) => id.replaceAll('.', '_')

/** `?tools=catalog,items&write=1&spend=1`, as the person who set the agent up wrote it. */
export function choiceOf(query: Readonly<Record<string, unknown>>): Choice {
  const given = typeof query['tools'] === 'string' && query['tools'] !== '' ? query['tools'].split(',').map((name) => name.trim()) : null
  const unknown = given?.find((name) => name !== 'all' && !(name in DOMAINS))
  if (unknown !== undefined)
    throw invalidField('tools', `'${unknown}' is no set of tools; there are all, ${Object.keys(DOMAINS).join(', ')}`)
  const isOn = (name: string) => query[name] === '1' || query[name] === 'true'
  const maySpend = isOn('spend')
  return { sets: given?.includes('all') ? 'all' : (given ?? DEFAULT_SETS), mayWrite: isOn('write') || maySpend, maySpend }
}

/** Reading tools; writing and spending ones only where they were asked for. */
export function chosen(operations: ReadonlyMap<string, AnyOperation>, { sets, mayWrite, maySpend }: Choice): AnyOperation[] {
  return [...operations.values()].filter((op) => {
    if (!isPublished(op) || (sets !== 'all' && !sets.includes(op.id.split('.')[0]!))) return false
    if (op.tier === 'external_spend') return maySpend
    return op.tier === 'read' || mayWrite
  })
}

export function toolOf(op: AnyOperation): Tool {
  const isSpend = op.tier === 'external_spend'
  const { summary } = TABLE.get(op.id)!
  const price = isSpend ? ` It spends credits: call it without ${CONFIRM} to be told the price, and agree on it with the person first.` : ''
  const schema = schemaOf(op.input)
  return {
    name: toolName(op.id),
    title: op.id,
    description: `${summary}${price}`,
    inputSchema: { ...schema, properties: { ...(schema['properties'] as Json), ...fieldsFor(op) } },
    annotations: {
      readOnlyHint: op.tier === 'read',
      destructiveHint: op.tier === 'destructive',
      idempotentHint: op.tier === 'read' || op.idempotent === true,
      openWorldHint: op.id.startsWith('catalog.') || op.id.startsWith('orders.'),
    },
  }
}

const WRITE_FIELDS: Json = {
  [KEY]: {
    type: 'string',
    maxLength: 255,
    description: 'A string of your own; calls with the same one and the same input take effect once',
  },
}
const SPEND_FIELDS: Json = {
  [CONFIRM]: { type: 'integer', description: 'The price that you were told, once the person has agreed to it' },
  ...WRITE_FIELDS,
}

function fieldsFor({ tier }: AnyOperation): Json {
  if (tier === 'read') return {}
  return tier === 'external_spend' ? SPEND_FIELDS : WRITE_FIELDS
}

/** A schema that stands alone: definitions at its top, and no names of ours. */
function schemaOf(schema: unknown): Json & { type: 'object' } {
  const definitions: Json = {}
  const walk = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(walk)
    if (node === null || typeof node !== 'object') return node
    const { $id: _, $defs, $ref, ...rest } = node as Json
    for (const [name, definition] of Object.entries(($defs as Json | undefined) ?? {})) {
      if (name in definitions) continue
      definitions[name] = {} // Itself may be named within.
      definitions[name] = walk(definition)
    }
    if (typeof $ref === 'string') return { $ref: `#/$defs/${$ref}` }
    return Object.fromEntries(Object.entries(rest).flatMap(([key, value]) => (key.startsWith('x-') ? [] : [[key, walk(value)]])))
  }
  const made = walk(JSON.parse(JSON.stringify(schema))) as Json
  return { ...made, type: 'object', ...(Object.keys(definitions).length > 0 ? { $defs: definitions } : {}) }
}
