/** Values held against schemas: the input of an operation, the parameters of a process, the data of a task. */
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { Settings } from 'typebox/system'
import { defaultsOf } from './defaults.ts'
import { explainErrors, type SchemaError } from './input-errors.ts'
import { invalidInput, type FieldError } from './problem.ts'

/** As many as a person would mend at once; the library's own 8 are used up by the fields of one careless copy. */
const MAX_ERRORS = 100
Settings.Set({ maxErrors: MAX_ERRORS })

interface Validator {
  Check(value: unknown): boolean
  Errors(value: unknown): SchemaError[]
  /** Null where the schema has no defaults. */
  readonly fill: ((value: unknown) => unknown) | null
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
    fill: defaultsOf(schema),
  }
  compiled.set(schema, validator)
  return validator
}

/** The value with its defaults, and every field that is wrong with it; `of` names what it is the parameters of, if anything. */
export function examine(schema: TSchema, value: unknown, of?: string): { value: unknown; errors: FieldError[] } {
  const validator = validatorOf(schema)
  const filled = validator.fill ? validator.fill(value) : value
  return { value: filled, errors: validator.Check(filled) ? [] : explainErrors(schema, validator.Errors(filled), filled, of) }
}

/** Stage 3: the input with its defaults, or 422 naming every field that is wrong. */
export function validateInput(schema: TSchema, body: unknown): unknown {
  const { value, errors } = examine(schema, body)
  if (errors.length > 0) throw invalidInput(errors)
  return value
}
