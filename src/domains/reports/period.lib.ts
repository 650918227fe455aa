import { parseInterval } from '#core/interval.ts'
import { invalidField } from '#core/problem.ts'
import { DAY_MS } from '#core/time.ts'

export interface Period {
  from: Date
  to: Date
  label: string
}

const MAX_DAYS = 366
const FORMS = 'must be a month (2026-03), a year (2026) or an interval (2026-03-01/2026-04-15)'

/** Parses a month, a year or an interval of days; defaults to the current month. */
export function parsePeriod(text: string | null | undefined, now: Date): Period {
  const value = text ?? now.toISOString().slice(0, 7)
  const month = /^(\d{4})-(0[1-9]|1[0-2])$/.exec(value)
  if (month)
    return calendarPeriod(Date.UTC(Number(month[1]), Number(month[2]) - 1, 1), Date.UTC(Number(month[1]), Number(month[2]), 1), value, now)
  const year = /^\d{4}$/.exec(value)
  if (year) return calendarPeriod(Date.UTC(Number(value), 0, 1), Date.UTC(Number(value) + 1, 0, 1), value, now)
  const { from, to } = parseInterval(value, 'period', FORMS)
  if (!from || !to) throw invalidField('period', FORMS)
  if (to.getTime() - from.getTime() > MAX_DAYS * DAY_MS) throw invalidField('period', `must be at most ${MAX_DAYS} days`)
  return { from, to: earlier(to, now), label: `${dayOf(from)} to ${dayOf(to)}` }
}

function calendarPeriod(fromMs: number, endMs: number, label: string, now: Date): Period {
  if (fromMs > now.getTime()) throw invalidField('period', 'is in the future')
  return { from: new Date(fromMs), to: earlier(new Date(endMs - 1), now), label }
}

const earlier = (a: Date, b: Date): Date => (a < b ? a : b)
const dayOf = (at: Date): string => at.toISOString().slice(0, 10)
