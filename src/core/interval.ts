import { DAY_MS } from './time.ts'
import { invalidField } from './problem.ts'

/** Ends are inclusive; null is open. */
export interface Interval {
  from: Date | null
  to: Date | null
}

const DATE = /^\d{4}-\d{2}-\d{2}$/
const INSTANT = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})$/
const LAST_MS_OF_DAY = DAY_MS - 1

/** An RFC 3339 instant, or two of them with `/` between; `..` or nothing leaves an end open; a date means the whole day. */
export function parseInterval(text: string, field: string): Interval {
  const ends = text.split('/')
  if (ends.length > 2) throw invalidField(field, 'must be an instant or start/end')
  const [start, end] = ends.length === 1 ? [text, text] : (ends as [string, string])
  const interval = { from: parseEnd(start, field, 0), to: parseEnd(end, field, LAST_MS_OF_DAY) }
  if (!interval.from && !interval.to) throw invalidField(field, 'must have a start or an end')
  if (interval.from && interval.to && interval.from > interval.to) throw invalidField(field, 'starts after it ends')
  return interval
}

function parseEnd(text: string, field: string, dateOffsetMs: number): Date | null {
  if (text === '..' || text === '') return null
  return DATE.test(text) ? new Date(parseInstant(`${text}T00:00:00Z`, field).getTime() + dateOffsetMs) : parseInstant(text, field)
}

/** Whether a text is one, without a refusal where it is not. */
export const isInstant = (text: string): boolean => INSTANT.test(text) && !Number.isNaN(Date.parse(text.toUpperCase()))

/** PostgreSQL knows no year 0, and an offset can lead out of the years that have four digits. */
const isKeepableYear = (instant: Date): boolean => instant.getUTCFullYear() >= 1 && instant.getUTCFullYear() <= 9_999

/** JavaScript rolls 31 February over into March; a caller who wrote it made a mistake. */
export function parseInstant(text: string, field: string): Date {
  const instant = INSTANT.test(text) ? new Date(text.toUpperCase()) : new Date(Number.NaN)
  const isRealDay =
    !Number.isNaN(instant.getTime()) &&
    isKeepableYear(instant) &&
    new Date(`${text.slice(0, 10)}T00:00:00Z`).toISOString().startsWith(text.slice(0, 10))
  if (!isRealDay) throw invalidField(field, `'${text.slice(0, 60)}' is not an RFC 3339 instant such as 2026-03-01T10:00:00Z`)
  return instant
}
