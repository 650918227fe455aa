/** The few shapes that every domain's wire format is made of. */
import Type, { type TSchema, type TProperties, type TObjectOptions } from 'typebox'

/** Closed by default: an unknown input field is refused, and a row with an extra column cannot leak it. */
export const Closed = <P extends TProperties>(properties: P, options: TObjectOptions = {}) =>
  Type.Object(properties, { additionalProperties: false, ...options })

export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

export const Choice = <const V extends readonly string[]>(values: V, options: Record<string, unknown> = {}) =>
  Type.Unsafe<V[number]>({ type: 'string', enum: [...values], ...options })

export const Uuid = Type.String({ format: 'uuid' })
/** Without the leap seconds that RFC 3339 allows: neither ECMAScript nor PostgreSQL can keep one. */
export const Timestamp = Type.String({ format: 'date-time', pattern: '^.{17}[0-5]' })
export const Email = Type.String({ format: 'email', maxLength: 254 })

/** A free-form object; its depth is bounded by the body parser. */
export const FreeForm = Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true })

/** Windows of offset lists. An offset deep into a live list is a scan: the cap keeps it one that we can afford. */
const MAX_OFFSET = 100_000
export const Limit = (standard: number, maximum: number) => Type.Optional(Type.Integer({ minimum: 1, maximum, default: standard }))
export const Offset = Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_OFFSET, default: 0 }))

/** Answers of operations that remove something. */
export const Removed = Closed({ ok: Type.Literal(true), id: Type.String() })
