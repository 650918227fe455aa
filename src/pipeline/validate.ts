import type { TSchema } from 'typebox'
import { validatorOf } from '#core/validate.ts'

/** Stage 7: an output that breaks its own schema is our bug, so the caller gets a 500 and the transaction ends. */
export function validateOutput(schema: TSchema, output: unknown, operationId: string): void {
  const validator = validatorOf(schema)
  if (validator.Check(output)) return
  const problems = validator.Errors(output).map((error) => `${error.instancePath} ${error.message}`)
  throw new Error(`the output of ${operationId} breaks its schema: ${problems.slice(0, 3).join('; ')}`)
}
