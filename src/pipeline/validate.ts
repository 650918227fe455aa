import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { Settings } from 'typebox/system'
import { invalidInput, type FieldError } from '#core/problem.ts'

/** As many as a person would mend at once; the library's own 8 are used up by the fields of one careless copy. */
const MAX_ERRORS = 100
Settings.Set({ maxErrors: MAX_ERRORS })

interface Validator {
  Check(value: unknown): boolean
  Errors(value: unknown): { keyword: string; instancePath: string; params: object; message: string }[]
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
  throw invalidInput(fieldErrors(validator.Errors(input)))
}

/** Stage 7: an output that breaks its own schema is our bug, so the caller gets a 500 and the transaction ends. */
export function validateOutput(schema: TSchema, output: unknown, operationId: string): void {
  const validator = validatorOf(schema)
  if (validator.Check(output)) return
  const problems = validator.Errors(output).map((error) => `${error.instancePath} ${error.message}`)
  throw new Error(`the output of ${operationId} breaks its schema: ${problems.slice(0, 3).join('; ')}`)
}

type SchemaError = ReturnType<Validator['Errors']>[number]

function fieldErrors(errors: readonly SchemaError[]): FieldError[] {
  const seen = new Set<string>()
  return errors.flatMap(explain).filter(({ field, message }) => {
    const isNew = !seen.has(`${field} ${message}`)
    seen.add(`${field} ${message}`)
    return isNew
  })
}

function explain(error: SchemaError): FieldError[] {
  const at = fieldOf(error.instancePath)
  const params = error.params as { requiredProperties?: string[]; allowedValues?: unknown[] }
  switch (error.keyword) {
    case 'boolean': // One for each member that `additionalProperties: false` refuses; their sum adds nothing.
      return [{ field: at, message: 'is not a field of this operation' }]
    case 'additionalProperties':
      return []
    case 'required':
      return (params.requiredProperties ?? []).map((name) => ({ field: join(at, name), message: 'is required' }))
    case 'enum':
      return [{ field: at, message: `must be one of ${(params.allowedValues ?? []).join(', ')}` }]
    case 'anyOf':
      return [] // Its branches are reported one by one.
    default:
      return [{ field: at, message: error.message }]
  }
}

function fieldOf(pointer: string): string {
  if (pointer === '') return 'body'
  return pointer
    .slice(1)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .join('.')
}

function join(at: string, name: string): string {
  return at === 'body' ? name : `${at}.${name}`
}
