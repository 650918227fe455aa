/** The operations, from generated files: names at once, the schemas of a domain when one is needed. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { PACKAGE_FOLDER } from './package-folder.ts'

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

const folder = path.join(PACKAGE_FOLDER, 'src/generated')
const read = <T>(file: string) => JSON.parse(readFileSync(path.join(folder, file), 'utf8')) as T

/** Summaries by operation ID. */
export const summaries = () => read<Record<string, string>>('summaries.json')

export function command(id: string): Command {
  return read<Record<string, Command>>(`${id.split('.')[0]!.replaceAll('_', '-')}.json`)[id]!
}

/** Flags of a command that are not fields of its operation. */
export const extraFlags = ({ paging, raw, isIdempotent }: Command): (readonly [flag: string, about: string])[] => [
  ...(paging ? [['--all', 'Fetch all pages'] as const] : []),
  ...(raw === 'bytes' || raw === 'xml' ? [['--output FILE', 'Write the response to this file'] as const] : []),
  ...(isIdempotent ? [['--idempotency-key KEY', 'Retries with the same key and input run once'] as const] : []),
  ['--body JSON', 'Whole input as JSON, @file, or - for stdin'],
]

/** The command as it is typed: `api_keys.create` is `api-keys create`. */
export const commandName = (id: string) => id.replaceAll('.', ' ').replaceAll('_', '-')

/** `projectId` and `project_id` are both `--project-id`. */
export const flagOf = (field: string) =>
  field
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replaceAll('_', '-')
    .toLowerCase()

/** The operation that the first words name, and how many words that took. */
export function findCommand(words: readonly string[], ids: ReadonlySet<string>): { id: string; count: number } | null {
  for (let count = Math.min(5, words.length); count > 0; count--) {
    const id = words.slice(0, count).join('.').replaceAll('-', '_')
    if (ids.has(id)) return { id, count }
  }
  return null
}
