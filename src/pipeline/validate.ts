import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { Settings } from 'typebox/system'
import { invalidInput } from '#core/problem.ts'
import { explainErrors, type SchemaError } from './input-errors.ts'

/** As many as a person would mend at once; the library's own 8 are used up by the fields of one careless copy. */
const MAX_ERRORS = 100
Settings.Set({ maxErrors: MAX_ERRORS })

interface Validator {
  Check(value: unknown): boolean
  Errors(value: unknown): SchemaError[]
  Default(value: unknown): unknown
  readonly hasDefaults: boolean
}

/** Compiled once per schema; schemas live as long as the process, and what is made of one depends on nothing else. */
const compiled = new WeakMap<TSchema, Validator>()

export function validatorOf(schema: TSchema): Validator {
  const known = compiled.get(schema)
  if (known) return known
  const made = Compile(schema)
  const validator: Validator = {
    Check: (value) => made.Check(value),
    Errors: (value) => made.Errors(value),
    Default: (value) => made.Default(value),
    hasDefaults: JSON.stringify(schema).includes('"default":'),
  }
  compiled.set(schema, validator)
  return validator
}

/** Stage 3: the input with its defaults, or 422 naming every field that is wrong. */
export function validateInput(schema: TSchema, body: unknown): unknown {
  const validator = validatorOf(schema)
  const input = validator.hasDefaults ? validator.Default(body) : body
  if (validator.Check(input)) return input
  throw invalidInput(explainErrors(schema, validator.Errors(input)))
}

/** Stage 7: an output that breaks its own schema is our bug, so the caller gets a 500 and the transaction ends. */
export function validateOutput(schema: TSchema, output: unknown, operationId: string): void {
  const validator = validatorOf(schema)
  if (validator.Check(output)) return
  const problems = validator.Errors(output).map((error) => `${error.instancePath} ${error.message}`)
  throw new Error(`the output of ${operationId} breaks its schema: ${problems.slice(0, 3).join('; ')}`)
}
