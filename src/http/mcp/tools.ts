/** Operations as tools of the Model Context Protocol: which of them an agent sees, and how they are described. */
import { LRUCache } from 'lru-cache'
import { DOMAINS } from '#contract/domains.ts'
import { TABLE } from '#contract/table.ts'
import { invalidField } from '#core/problem.ts'
import { satisfies } from '#core/scopes.ts'
import type { AnyOperation, Tier } from '#operation.ts'
import { isPublished } from '#http/openapi.ts'

/** The selection of tools in the URL. */
export interface Choice {
  /** Domains. A model does not get two hundred tools at once. */
  readonly sets: readonly string[] | 'all'
  readonly mayWrite: boolean
  readonly mayDelete: boolean
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

/** Always included, because most tools require a project ID. */
const ALWAYS = 'projects.list'

/** Additional fields of tools that spend credits. */
export const CONFIRM = 'confirm_credits'
export const KEY = 'idempotency_key'

export const toolName = (id: string) => id.replaceAll('.', '_')

/** Parses `?tools=catalog,items&write=1&delete=1&spend=1`. Each parameter enables only its own tier. */
export function choiceOf(query: Readonly<Record<string, unknown>>): Choice {
  const given = typeof query['tools'] === 'string' && query['tools'] !== '' ? query['tools'].split(',').map((name) => name.trim()) : null
  const unknown = given?.find((name) => name !== 'all' && !(name in DOMAINS))
  if (unknown !== undefined)
    throw invalidField('tools', `unknown tool set '${unknown}'; choose from all, ${Object.keys(DOMAINS).join(', ')}`)
  const isOn = (name: string) => query[name] === '1' || query[name] === 'true'
  return {
    sets: given?.includes('all') ? 'all' : (given ?? DEFAULT_SETS),
    mayWrite: isOn('write'),
    mayDelete: isOn('delete'),
    maySpend: isOn('spend'),
  }
}

/** The parameter of /mcp that enables tools of a tier; read-only tools need none. */
export const PARAMETER_OF: Readonly<Record<Tier, 'write' | 'delete' | 'spend' | null>> = {
  read: null,
  compute: 'write',
  share_export: 'write',
  destructive: 'delete',
  external_spend: 'spend',
}

export interface Tools {
  /** The selected operations that the credential's scopes allow; others are not shown. */
  operations(choice: Choice, scopes: readonly string[]): readonly AnyOperation[]
  /** Their descriptions, built once per selection and set of scopes. */
  list(choice: Choice, scopes: readonly string[]): readonly Tool[]
}

/** The same for equal selections and equal sets of scopes. */
export const keyOf = (choice: Choice, scopes: readonly string[]): string =>
  JSON.stringify([choice.sets === 'all' ? 'all' : choice.sets.toSorted(), flagsOf(choice), scopes.toSorted()])

/** Selections are few; a client that invents new ones only slows down its own requests. */
export const MAX_LISTS = 100

export function createTools(operations: ReadonlyMap<string, AnyOperation>): Tools {
  const described = new Map<AnyOperation, Tool>()
  const lists = new LRUCache<string, { operations: readonly AnyOperation[]; tools: readonly Tool[] }>({ max: MAX_LISTS })
  const toolFor = (op: AnyOperation): Tool => {
    const known = described.get(op)
    if (known) return known
    const tool = toolOf(op)
    described.set(op, tool)
    return tool
  }
  const listFor = (choice: Choice, scopes: readonly string[]) => {
    const key = keyOf(choice, scopes)
    const known = lists.get(key)
    if (known) return known
    const chosen = [...operations.values()].filter((op) => isChosen(op, choice) && (op.public || satisfies(scopes, op.scope)))
    const list = { operations: chosen, tools: chosen.map(toolFor) }
    lists.set(key, list)
    return list
  }
  return {
    operations: (choice, scopes) => listFor(choice, scopes).operations,
    list: (choice, scopes) => listFor(choice, scopes).tools,
  }
}

const flagsOf = ({ mayWrite, mayDelete, maySpend }: Choice) => [mayWrite, mayDelete, maySpend]

function isChosen(op: AnyOperation, { sets, mayWrite, mayDelete, maySpend }: Choice): boolean {
  if (!isPublished(op)) return false
  if (op.id === ALWAYS) return true
  if (sets !== 'all' && !sets.includes(op.id.split('.')[0]!)) return false
  const parameter = PARAMETER_OF[op.tier]
  return parameter === null || { write: mayWrite, delete: mayDelete, spend: maySpend }[parameter]
}

function toolOf(op: AnyOperation): Tool {
  const isSpend = op.tier === 'external_spend'
  const { summary } = TABLE.get(op.id)!
  const price = isSpend ? ` It spends credits: call it without ${CONFIRM} to get the price, and ask the user to confirm it first.` : ''
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
    description: 'A unique string that you choose; repeated calls with the same key and input take effect once',
  },
}
const SPEND_FIELDS: Json = {
  [CONFIRM]: { type: 'integer', description: 'The quoted price, after the user has confirmed it' },
  ...WRITE_FIELDS,
}

function fieldsFor({ tier }: AnyOperation): Json {
  if (tier === 'read') return {}
  return tier === 'external_spend' ? SPEND_FIELDS : WRITE_FIELDS
}

/** A self-contained schema: definitions at its top, and no internal names. */
function schemaOf(schema: unknown): Json & { type: 'object' } {
  const definitions: Json = {}
  const walk = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(walk)
    if (node === null || typeof node !== 'object') return node
    const { $id: _, $defs, $ref, ...rest } = node as Json
    for (const [name, definition] of Object.entries(($defs as Json | undefined) ?? {})) {
      if (name in definitions) continue
      definitions[name] = {} // It can refer to itself.
      definitions[name] = walk(definition)
    }
    if (typeof $ref === 'string') return { $ref: `#/$defs/${$ref}` }
    return Object.fromEntries(Object.entries(rest).flatMap(([key, value]) => (key.startsWith('x-') ? [] : [[key, walk(value)]])))
  }
  const root = walk(JSON.parse(JSON.stringify(schema))) as Json
  return { ...root, type: 'object', ...(Object.keys(definitions).length > 0 ? { $defs: definitions } : {}) }
}
