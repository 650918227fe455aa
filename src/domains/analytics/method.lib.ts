/** An analytics method as data: its name, its parameters and how it runs. */
import type { Static, TSchema } from 'typebox'
import { invalidField, invalidInput, Problem, problem, withMembers } from '#core/problem.ts'
import { examine } from '#core/validate.ts'
import type { Context } from '#operation.ts'
import { RasterError } from '#raster/types.ts'
import type { RasterReference } from './wire.ts'

/** The result of `check`: everything that can be rejected has been. */
export interface Prepared {
  organizationId: string
  /** Items that the report is derived from. */
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
  /** Schema of the result, for the generated client types. */
  readonly result: TSchema
  /** The process that does the same as a job, for requests that are too large. */
  readonly process: string
  readonly example: Static<P>
  check(context: Context, params: Static<P>): Promise<Prepared>
}

export const method = <P extends TSchema>(definition: Method<P>): Method => definition as Method

/** Runs one half of a method. Errors in the parameters include their schema; a request that is too large names the process to run. */
export async function explainErrors<T>({ name, params, process }: Method, work: () => Promise<T>): Promise<T> {
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
    `${error.message}. Run the process '${process}' as a job with processing.create_and_dispatch, or analyse a smaller area`,
    { members: { process_id: process } },
  )

/** Parameters with their defaults, or 422 with each field as `params.…`. */
export function requireParams<P extends TSchema>({ name, params }: Method<P>, given: unknown): Static<P> {
  const { value, errors } = examine(params, given, name)
  if (errors.length > 0)
    throw invalidInput(errors.map(({ field, message }) => ({ field: field === '' ? 'params' : `params.${field}`, message })))
  return value as Static<P>
}
