/** The operations as generated files tell them: names at once, schemas of a domain when one is needed. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { PACKAGE } from './place.ts'

export interface Field {
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly default?: unknown
  readonly items?: Field
  readonly anyOf?: readonly Field[]
  readonly properties?: Readonly<Record<string, Field>>
  readonly required?: readonly string[]
}

export interface Command {
  readonly id: string
  readonly summary: string
  readonly description: string
  readonly tier: 'read' | 'compute' | 'external_spend' | 'share_export' | 'destructive'
  readonly raw: 'json' | 'bytes' | 'xml' | 'ndjson'
  readonly isIdempotent: boolean
  readonly paging: readonly [string | null, 'offset' | 'page' | 'token', 'limit' | 'size', number] | null
  readonly input: Field
  readonly example: Readonly<Record<string, unknown>>
}

const folder = path.join(PACKAGE, 'src/generated')
const read = <T>(file: string) => JSON.parse(readFileSync(path.join(folder, file), 'utf8')) as T

/** Ids with what each does. */
export const summaries = () => read<Record<string, string>>('summaries.json')

export function command(id: string): Command {
  return read<Record<string, Command>>(`${id.split('.')[0]!.replaceAll('_', '-')}.json`)[id]!
}

/** What a command takes besides the fields of its operation. */
export const besides = ({ paging, raw, isIdempotent }: Command): (readonly [flag: string, about: string])[] => [
  ...(paging ? [['--all', 'Read the list to its end'] as const] : []),
  ...(raw === 'bytes' || raw === 'xml' ? [['--output FILE', 'Write the answer there'] as const] : []),
  ...(isIdempotent ? [['--idempotency-key KEY', 'The same key and input take effect once'] as const] : []),
  ['--body JSON', 'The whole input: JSON, @file, or - for stdin'],
]

/** As it is typed: `api_keys.create` is `api-keys create`. */
export const spoken = (id: string) => id.replaceAll('.', ' ').replaceAll('_', '-')

/** `projectId` and `project_id` are both `--project-id`. */
export const flagOf = (field: string) =>
  field
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replaceAll('_', '-')
    .toLowerCase()

/** The operation that the first words name, and how many of them it took. */
export function findCommand(words: readonly string[], ids: ReadonlySet<string>): { id: string; count: number } | null {
  for (let count = Math.min(5, words.length); count > 0; count--) {
    const id = words.slice(0, count).join('.').replaceAll('-', '_')
    if (ids.has(id)) return { id, count }
  }
  return null
}
