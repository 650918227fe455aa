import { sql, type Compilable, type InferResult, type RawBuilder, type SelectExpression, type Selection } from 'kysely'
import type { Tables } from './tables.ts'

/**
 * What a list of columns selects. The list is the only place where a record's fields are named: it gives the query its
 * columns (`org_id as organizationId`) and the code its type.
 */
export type Row<T extends keyof Tables, C extends readonly SelectExpression<Tables, T>[]> = Selection<Tables, T, C[number]>

/** What a query over several tables answers with, row by row. */
export type Joined<Q extends (...given: never[]) => Compilable<unknown>> = InferResult<ReturnType<Q>>[number]

/** The same list for a statement that is written by hand: `i.seq, i.org_id as "organizationId", …`. */
export function listed(columns: readonly string[], table: string): RawBuilder<unknown> {
  return sql.raw(columns.map((column) => `${table}.${column.replace(/ as (\w+)$/, ' as "$1"')}`).join(', '))
}
