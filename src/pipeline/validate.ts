import type { TSchema } from 'typebox'
import { validatorOf } from '#core/validate.ts'

/** Stage 7: an output that does not match its schema is a bug, so the caller gets a 500 and the transaction is rolled back. */
export function validateOutput(schema: TSchema, output: unknown, operationId: string): void {
  const validator = validatorOf(schema)
  if (validator.Check(output)) return
  const problems = validator.Errors(output).map((error) => `${error.instancePath} ${error.message}`)
  throw new Error(`the output of ${operationId} does not match its schema: ${problems.slice(0, 3).join('; ')}`)
}
