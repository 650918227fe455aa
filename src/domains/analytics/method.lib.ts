/** An analytics method as data: what it is called, what it takes and how it runs. */
import type { Static, TSchema } from 'typebox'
import { invalidField, invalidInput, Problem, problem, withMembers } from '#core/problem.ts'
import { examine } from '#core/validate.ts'
import type { Context } from '#operation.ts'
import { RasterError } from '#raster/types.ts'
import type { RasterReference } from './wire.ts'

/** What stage 4 found out: everything that can be refused was. */
export interface Prepared {
  organizationId: string
  /** What the report is derived from. */
  itemIds: readonly string[]
  itemSeqs: readonly number[]
  run(context: Context, reportId: string): Promise<{ result: Record<string, unknown>; raster: RasterReference | null }>
}

export interface Method<P extends TSchema = TSchema> {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly dataTypes: readonly string[]
  readonly params: P
  /** What it finds, for the types of clients. */
  readonly result: TSchema
  /** The process that does the same for what is too large to answer at once. */
  readonly process: string
  readonly example: Static<P>
  check(context: Context, params: Static<P>): Promise<Prepared>
}

export const method = <P extends TSchema>(given: Method<P>): Method => given as Method

/** Runs one half of a method. What is wrong with parameters carries their schema; what is too large says what to do instead. */
export async function explaining<T>({ name, params, process }: Method, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof RasterError && (error.code === 'limit_exceeded' || error.code === 'deadline_exceeded'))
      throw tooLarge(error, process)
    const rejected = error instanceof RasterError && error.code === 'invalid_argument' ? invalidField('params', error.message) : error
    if (!(rejected instanceof Problem) || rejected.slug !== 'invalid-input') throw rejected
    throw withMembers(rejected, { operation: name, expected_schema: params })
  }
}

export const tooLarge = (error: RasterError, process: string): Problem =>
  problem(
    'raster-too-demanding',
    `${error.message}. That is too much to answer at once: run the process '${process}' with processing.create_and_dispatch, ` +
      'or ask for less',
    { members: { process_id: process } },
  )

/** Parameters with their defaults, or 422 naming each as `params.…`. */
export function requireParams<P extends TSchema>({ name, params }: Method<P>, given: unknown): Static<P> {
  const { value, errors } = examine(params, given, name)
  if (errors.length > 0)
    throw invalidInput(errors.map(({ field, message }) => ({ field: field === '' ? 'params' : `params.${field}`, message })))
  return value as Static<P>
}
