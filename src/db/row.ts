import { sql, type Compilable, type InferResult, type RawBuilder, type SelectExpression, type Selection } from 'kysely'
import type { Tables } from './tables.ts'

/**
 * The row type of a list of columns. The list is the only place that names a record's fields: it defines the columns of the query
 * (`org_id as organizationId`) and the type in code.
 */
export type Row<T extends keyof Tables, C extends readonly SelectExpression<Tables, T>[]> = Selection<Tables, T, C[number]>

/** The row type of a query over several tables. */
export type Joined<Q extends (...args: never[]) => Compilable<unknown>> = InferResult<ReturnType<Q>>[number]

/** The same list for handwritten SQL: `i.seq, i.org_id as "organizationId", …`. */
export function listed(columns: readonly string[], table: string): RawBuilder<unknown> {
  return sql.raw(columns.map((column) => `${table}.${column.replace(/ as (\w+)$/, ' as "$1"')}`).join(', '))
}
