/** Validates values against schemas: inputs of operations, parameters of processes, data of tasks. */
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { Settings } from 'typebox/system'
import { defaultsOf } from './defaults.ts'
import { explainErrors, type SchemaError } from './input-errors.ts'
import { invalidInput, type FieldError } from './problem.ts'

/** As many as a user would fix at once; the library's default of 8 is used up by one careless copy. */
const MAX_ERRORS = 100
Settings.Set({ maxErrors: MAX_ERRORS })

interface Validator {
  Check(value: unknown): boolean
  Errors(value: unknown): SchemaError[]
  /** Null if the schema has no defaults. */
  readonly fill: ((value: unknown) => unknown) | null
}

/** Compiled once per schema; schemas live as long as the process. */
const compiled = new WeakMap<TSchema, Validator>()

export function validatorOf(schema: TSchema): Validator {
  const cached = compiled.get(schema)
  if (cached) return cached
  const compiledSchema = Compile(schema)
  const validator: Validator = {
    Check: (value) => compiledSchema.Check(value),
    Errors: (value) => compiledSchema.Errors(value),
    fill: defaultsOf(schema),
  }
  compiled.set(schema, validator)
  return validator
}

/** The value with its defaults, and all field errors; `of` names the process whose parameters they are, if any. */
export function examine(schema: TSchema, value: unknown, of?: string): { value: unknown; errors: FieldError[] } {
  const validator = validatorOf(schema)
  const filled = validator.fill ? validator.fill(value) : value
  return { value: filled, errors: validator.Check(filled) ? [] : explainErrors(schema, validator.Errors(filled), filled, of) }
}

/** Stage 3: the input with its defaults, or 422 with all field errors. */
export function validateInput(schema: TSchema, body: unknown): unknown {
  const { value, errors } = examine(schema, body)
  if (errors.length > 0) throw invalidInput(errors)
  return value
}
