import { parseInterval } from '#core/interval.ts'
import { invalidField } from '#core/problem.ts'
import { DAY_MS } from '#core/time.ts'

export interface Period {
  from: Date
  to: Date
  label: string
}

const MAX_DAYS = 366
const FORMS = 'must be a month (2026-03), a year (2026) or two days (2026-03-01/2026-04-15)'

/** A month, a year, or an interval of days; the present month where nothing is said. */
export function readPeriod(text: string | null | undefined, now: Date): Period {
  const given = text ?? now.toISOString().slice(0, 7)
  const month = /^(\d{4})-(0[1-9]|1[0-2])$/.exec(given)
  if (month)
    return stretch(Date.UTC(Number(month[1]), Number(month[2]) - 1, 1), Date.UTC(Number(month[1]), Number(month[2]), 1), given, now)
  const year = /^\d{4}$/.exec(given)
  if (year) return stretch(Date.UTC(Number(given), 0, 1), Date.UTC(Number(given) + 1, 0, 1), given, now)
  const { from, to } = parseInterval(given, 'period', FORMS)
  if (!from || !to) throw invalidField('period', FORMS)
  if (to.getTime() - from.getTime() > MAX_DAYS * DAY_MS) throw invalidField('period', `must be at most ${MAX_DAYS} days`)
  return { from, to: earlier(to, now), label: `${dayOf(from)} to ${dayOf(to)}` }
}

function stretch(fromMs: number, endMs: number, label: string, now: Date): Period {
  if (fromMs > now.getTime()) throw invalidField('period', 'has not begun yet')
  return { from: new Date(fromMs), to: earlier(new Date(endMs - 1), now), label }
}

const earlier = (a: Date, b: Date): Date => (a < b ? a : b)
const dayOf = (at: Date): string => at.toISOString().slice(0, 10)
