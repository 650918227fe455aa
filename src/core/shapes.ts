/** The few shapes that every domain's wire format is made of. */
import Type, {
  type Static,
  type TObject,
  type TObjectOptions,
  type TOptional,
  type TProperties,
  type TSchema,
  type TStringOptions,
} from 'typebox'

/** Closed by default: an unknown input field is refused, and a row with an extra column cannot leak it. */
export const Closed = <P extends TProperties>(properties: P, options: TObjectOptions = {}) =>
  Type.Object(properties, { additionalProperties: false, ...options })

/** What a field means in its place, as the published contract says it. */
export const Described = <T extends TSchema>(schema: T, description: string): T =>
  // A shape with a name keeps its own description: this one belongs to the field.
  Type.With(schema, { [('$id' in schema ? 'x-description' : 'description') as string]: description }) as TSchema as T

export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

export const Choice = <const V extends readonly string[]>(values: V, options: Record<string, unknown> = {}) =>
  Type.Unsafe<V[number]>({ type: 'string', enum: [...values], ...options })

/** Filled while modules are loaded, by each pattern that is declared. */
const patternWords: Record<string, string> = {}
/** What is said of a text that does not match; every pattern has its words. */
export const PATTERN_WORDS: Readonly<Record<string, string>> = patternWords

/** A text of a certain look; `words` tell a person what to send instead. */
export function Matching(pattern: string, words: string, options: TStringOptions = {}) {
  patternWords[pattern] = words
  return Type.String({ ...options, pattern })
}

/** At least one character that can be seen. */
export const NotBlank = (maxLength: number, options: TStringOptions = {}) => Matching('\\S', 'must not be blank', { maxLength, ...options })

export const Uuid = Type.String({ format: 'uuid' })
/** Without the leap seconds that RFC 3339 allows: neither ECMAScript nor PostgreSQL can keep one. */
export const Timestamp = Matching('^.{17}[0-5]', 'must be a time such as 2026-03-01T09:30:00Z', { format: 'date-time' })
export const Email = Type.String({ format: 'email', maxLength: 254 })

/** A free-form object; its depth is bounded by the body parser. */
export const FreeForm = Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true })

declare const filled: unique symbol
/** Known to the compiler alone: the input stage fills the field in where a caller leaves it out. */
interface Filled {
  readonly [filled]: true
}

/** A field that a caller may leave out and a handler always has. */
export function Defaulted<T extends TSchema>(schema: T, value: Static<T>, options: Record<string, unknown> = {}): TOptional<T> & Filled {
  const field: TSchema = Type.Optional(Type.With(schema, { default: value, ...options }))
  return field as TOptional<T> & Filled
}

type FilledKeys<P extends TProperties> = { [K in keyof P]: P[K] extends Filled ? K : never }[keyof P]
type Flat<T> = { [K in keyof T]: T[K] }

/** What a handler gets: as it was sent, and with the defaulted fields of its outermost object present. */
export type Received<I extends TSchema> =
  I extends TObject<infer P> ? Flat<Omit<Static<I>, FilledKeys<P>> & Required<Pick<Static<I>, FilledKeys<P> & keyof Static<I>>>> : Static<I>

/** Windows of offset lists. An offset deep into a live list is a scan: the cap keeps it one that we can afford. */
const MAX_OFFSET = 100_000
export const Limit = (standard: number, maximum: number) =>
  Defaulted(Type.Integer({ minimum: 1, maximum }), standard, { description: 'Maximum number of results to return' })
export const Offset = Defaulted(Type.Integer({ minimum: 0, maximum: MAX_OFFSET }), 0, { description: 'Number of results to skip' })

/** Answers of operations that remove something. */
export const Removed = Closed(
  { ok: Type.Literal(true, { description: 'Always `true`' }), id: Type.String({ description: 'ID of the removed object' }) },
  { $id: 'Removed', description: 'Confirmation of the removal' },
)
