import { DAY_MS } from './time.ts'
import { invalidField } from './problem.ts'

/** Ends are inclusive; null means open. */
export interface Interval {
  from: Date | null
  to: Date | null
}

const DATE = /^\d{4}-\d{2}-\d{2}$/
const INSTANT = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})$/
const LAST_MS_OF_DAY = DAY_MS - 1

const INTERVAL_FORMS =
  'must be a timestamp (2026-03-01T10:00:00Z), a date (2026-03-01) or two of them separated by / (2026-03-01/2026-04-15), ' +
  'with .. for an open end (2026-03-01/..)'

/**
 * An RFC 3339 timestamp, or two of them separated by `/`; `..` or nothing leaves an end open; a date means the whole day. `forms` is the
 * error message for anything else.
 */
export function parseInterval(text: string, field: string, forms = INTERVAL_FORMS): Interval {
  const ends = text.split('/')
  if (ends.length > 2) throw invalidField(field, forms)
  const [start, end] = ends.length === 1 ? [text, text] : (ends as [string, string])
  const [from, to] = [parseEnd(start, 0), parseEnd(end, LAST_MS_OF_DAY)]
  if (from === undefined || to === undefined || (!from && !to)) throw invalidField(field, forms)
  if (from && to && from > to) throw invalidField(field, 'must not start after it ends')
  return { from, to }
}

/** Null for an open end, undefined for anything that is neither open nor a time. */
function parseEnd(text: string, dateOffsetMs: number): Date | null | undefined {
  if (text === '..' || text === '') return null
  if (!DATE.test(text)) return instantOf(text) ?? undefined
  const start = instantOf(`${text}T00:00:00Z`)
  return start ? new Date(start.getTime() + dateOffsetMs) : undefined
}

/** Checks without throwing. */
export const isInstant = (text: string): boolean => INSTANT.test(text) && !Number.isNaN(Date.parse(text.toUpperCase()))

/** PostgreSQL has no year 0, and an offset can lead outside the four-digit years. */
const isKeepableYear = (instant: Date): boolean => instant.getUTCFullYear() >= 1 && instant.getUTCFullYear() <= 9_999

/** JavaScript turns 31 February into March; here it is an error. */
function instantOf(text: string): Date | null {
  const instant = INSTANT.test(text) ? new Date(text.toUpperCase()) : new Date(Number.NaN)
  const isRealDay =
    !Number.isNaN(instant.getTime()) &&
    isKeepableYear(instant) &&
    new Date(`${text.slice(0, 10)}T00:00:00Z`).toISOString().startsWith(text.slice(0, 10))
  return isRealDay ? instant : null
}

export function parseInstant(text: string, field: string): Date {
  const instant = instantOf(text)
  if (!instant) throw invalidField(field, `'${text.slice(0, 60)}' is not an RFC 3339 timestamp such as 2026-03-01T10:00:00Z`)
  return instant
}
