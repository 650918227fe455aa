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

const INTERVAL_FORMS =
  'must be an instant (2026-03-01T10:00:00Z), a day (2026-03-01) or two of them with / between (2026-03-01/2026-04-15), ' +
  'with .. for an open end (2026-03-01/..)'

/**
 * An RFC 3339 instant, or two of them with `/` between; `..` or nothing leaves an end open; a date means the whole day. `forms` is
 * the error for anything else.
 */
export function parseInterval(text: string, field: string, forms = INTERVAL_FORMS): Interval {
  const ends = text.split('/')
  if (ends.length > 2) throw invalidField(field, forms)
  const [start, end] = ends.length === 1 ? [text, text] : (ends as [string, string])
  const [from, to] = [parseEnd(start, 0), parseEnd(end, LAST_MS_OF_DAY)]
  if (from === undefined || to === undefined || (!from && !to)) throw invalidField(field, forms)
  if (from && to && from > to) throw invalidField(field, 'starts after it ends')
  return { from, to }
}

/** Null for an open end, undefined for what is neither that nor a time. */
function parseEnd(text: string, dateOffsetMs: number): Date | null | undefined {
  if (text === '..' || text === '') return null
  if (!DATE.test(text)) return instantOf(text) ?? undefined
  const start = instantOf(`${text}T00:00:00Z`)
  return start ? new Date(start.getTime() + dateOffsetMs) : undefined
}

/** Whether a text is one, without a refusal where it is not. */
export const isInstant = (text: string): boolean => INSTANT.test(text) && !Number.isNaN(Date.parse(text.toUpperCase()))

/** PostgreSQL knows no year 0, and an offset can lead out of the years that have four digits. */
const isKeepableYear = (instant: Date): boolean => instant.getUTCFullYear() >= 1 && instant.getUTCFullYear() <= 9_999

/** JavaScript rolls 31 February over into March; a caller who wrote it made a mistake. */
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
  if (!instant) throw invalidField(field, `'${text.slice(0, 60)}' is not an RFC 3339 instant such as 2026-03-01T10:00:00Z`)
  return instant
}
