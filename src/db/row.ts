import type { SelectExpression, Selection } from 'kysely'
import type { Tables } from './tables.ts'

/**
 * What a list of columns selects. The list is the only place where a record's fields are named: it gives the query its
 * columns (`org_id as organizationId`) and the code its type.
 */
export type Row<T extends keyof Tables, C extends readonly SelectExpression<Tables, T>[]> = Selection<Tables, T, C[number]>
