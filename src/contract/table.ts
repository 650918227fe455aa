/** The operation table of the contract, read from `operations.tsv` beside this file. */
import { readFileSync } from 'node:fs'
import type { Tier } from '#operation.ts'

export interface TableRow {
  id: string
  domain: string
  scope: string
  tier: Tier
  public: boolean
  raw: 'json' | 'bytes' | 'xml' | 'ndjson'
  idempotent: boolean
  /** `specified`, `name_only` and `known` are the 205 of the contract; `ours` are additions; `operator` is unpublished. */
  status: 'specified' | 'name_only' | 'known' | 'ours' | 'operator'
  produces: readonly string[]
  events: readonly string[]
  summary: string
}

export const COUNTED_STATUSES: readonly TableRow['status'][] = ['specified', 'name_only', 'known']

export const TABLE: ReadonlyMap<string, TableRow> = new Map(
  readFileSync(new URL('./operations.tsv', import.meta.url), 'utf8')
    .trimEnd()
    .split('\n')
    .slice(1)
    .map(parseRow)
    .map((row) => [row.id, row]),
)

const countOf = (statuses: readonly TableRow['status'][]) => [...TABLE.values()].filter(({ status }) => statuses.includes(status)).length

/** The number of published operations, as every page states it. */
export const PUBLISHED_COUNT = `${countOf(COUNTED_STATUSES)} operations of the contract and ${countOf(['ours'])} additions`

function parseRow(line: string): TableRow {
  const [id, domain, scope, tier, isPublic, raw, idempotent, status, provenance, events, summary] = line.split('\t') as string[]
  return {
    id: id!,
    domain: domain!,
    scope: scope!,
    tier: tier as Tier,
    public: isPublic === 'yes',
    raw: raw as TableRow['raw'],
    idempotent: idempotent === 'yes',
    status: status as TableRow['status'],
    produces: provenance === '-' ? [] : provenance!.split(','),
    events:
      events === '-'
        ? []
        : events!
            .split(';')[0]!
            .split(',')
            .filter((type) => !type.startsWith('later:')),
    summary: summary!,
  }
}
