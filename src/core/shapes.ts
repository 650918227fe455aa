/** The basic schemas of all domains. */
import Type, {
  type Static,
  type TObject,
  type TObjectOptions,
  type TOptional,
  type TProperties,
  type TSchema,
  type TStringOptions,
} from 'typebox'

/** Closed by default: an unknown input field is rejected, and an extra column cannot leak. */
export const Closed = <P extends TProperties>(properties: P, options: TObjectOptions = {}) =>
  Type.Object(properties, { additionalProperties: false, ...options })

/** Describes a field in its context, for the OpenAPI document. */
export const Described = <T extends TSchema>(schema: T, description: string): T =>
  // A named schema keeps its own description; this one belongs to the field.
  Type.With(schema, { [('$id' in schema ? 'x-description' : 'description') as string]: description }) as TSchema as T

export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

export const Choice = <const V extends readonly string[]>(values: V, options: Record<string, unknown> = {}) =>
  Type.Unsafe<V[number]>({ type: 'string', enum: [...values], ...options })

/** Filled while modules are loaded, by each pattern that is declared. */
const patternWords: Record<string, string> = {}
/** Error messages for patterns; every pattern has one. */
export const PATTERN_MESSAGES: Readonly<Record<string, string>> = patternWords

/** A string that matches a pattern; `words` is the error message that tells callers what to send. */
export function Matching(pattern: string, words: string, options: TStringOptions = {}) {
  patternWords[pattern] = words
  return Type.String({ ...options, pattern })
}

/** At least one visible character. */
export const NotBlank = (maxLength: number, options: TStringOptions = {}) => Matching('\\S', 'must not be blank', { maxLength, ...options })

export const Uuid = Type.String({ format: 'uuid' })
/** Without the leap seconds that RFC 3339 allows, which neither ECMAScript nor PostgreSQL can store. */
export const Timestamp = Matching('^.{17}[0-5]', 'must be a timestamp such as 2026-03-01T09:30:00Z', { format: 'date-time' })
export const Email = Type.String({ format: 'email', maxLength: 254 })

/** A free-form object; its depth is bounded by the body parser. */
export const FreeForm = Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true })

declare const filled: unique symbol
/** For the compiler only: marks fields that the input stage fills in if the caller omits them. */
interface Filled {
  readonly [filled]: true
}

/** A field that callers can omit and that is always set in handlers. */
export function Defaulted<T extends TSchema>(schema: T, value: Static<T>, options: Record<string, unknown> = {}): TOptional<T> & Filled {
  const field: TSchema = Type.Optional(Type.With(schema, { default: value, ...options }))
  return field as TOptional<T> & Filled
}

type FilledKeys<P extends TProperties> = { [K in keyof P]: P[K] extends Filled ? K : never }[keyof P]
type Flat<T> = { [K in keyof T]: T[K] }

/** What a handler receives: the input, with the defaulted fields of its outermost object set. */
export type Received<I extends TSchema> =
  I extends TObject<infer P> ? Flat<Omit<Static<I>, FilledKeys<P>> & Required<Pick<Static<I>, FilledKeys<P> & keyof Static<I>>>> : Static<I>

/** A large offset is a scan, so offsets are limited. */
const MAX_OFFSET = 100_000
export const Limit = (standard: number, maximum: number) =>
  Defaulted(Type.Integer({ minimum: 1, maximum }), standard, { description: 'Maximum number of results to return' })
export const Offset = Defaulted(Type.Integer({ minimum: 0, maximum: MAX_OFFSET }), 0, { description: 'Number of results to skip' })

/** Response of operations that remove an object. */
export const Removed = Closed(
  { ok: Type.Literal(true, { description: 'Always `true`' }), id: Type.String({ description: 'ID of the removed object' }) },
  { $id: 'Removed', description: 'Confirmation of the removal' },
)
