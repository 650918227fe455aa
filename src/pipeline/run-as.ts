import { PriceError, priceOf } from '#contract/prices.ts'
import type { Principal } from '#core/principal.ts'
import { problem } from '#core/problem.ts'
import { satisfies } from '#core/scopes.ts'
import type { AnyOperation, Context, PreparedRun } from '#operation.ts'
import { validateInput } from '#core/validate.ts'
import { requireScope } from './authorize.ts'
import type { Platform } from './platform.ts'
import { validateOutput } from './validate.ts'

/** Stages 2 to 7 of one operation within the call of another, which handles credentials, lineage, events and audit. */
export async function runAs(op: AnyOperation, context: Context, principal: Principal, given: unknown): Promise<PreparedRun | null> {
  if (!satisfies(principal.scopes, op.scope)) return null
  const input = validateInput(op.input, given)
  const acting = { ...context, principal }
  const permitted = await op.permit?.(acting, input)
  const facts = await op.check?.(acting, input, permitted)
  const prepared = await op.prepare?.(acting, input, facts)
  return {
    async execute(writing) {
      const output: unknown = await op.execute({ ...writing, principal }, input, facts, prepared)
      validateOutput(op.output, output, op.id)
      return output
    },
  }
}

/** The price of a call by the caller, from the read operation that estimates it. */
export async function priceFor(platform: Platform, context: Context, operationId: string, input: object): Promise<number | null> {
  const read = async (id: string, given: object): Promise<unknown> => {
    const op = platform.operations.get(id)
    if (op?.tier !== 'read') throw new Error(`${id} is not a read operation, so it cannot estimate ${operationId}`)
    requireScope(context.principal, op)
    const fields = validateInput(op.input, given)
    const permitted = await op.permit?.(context, fields)
    const facts = await op.check?.(context, fields, permitted)
    return await op.execute(context, fields, facts, await op.prepare?.(context, fields, facts))
  }
  try {
    return (await priceOf(read, operationId, input)).credits
  } catch (error) {
    throw error instanceof PriceError ? problem('bad-request', error.message) : error
  }
}
