import type { Principal } from '#core/principal.ts'
import { satisfies } from '#core/scopes.ts'
import type { AnyOperation, Context, PreparedRun } from '#operation.ts'
import { validateInput } from '#core/validate.ts'
import { validateOutput } from './validate.ts'

/** Stages 2 to 7 of one operation inside the call of another, which answers for credentials, lineage, events and audit. */
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
