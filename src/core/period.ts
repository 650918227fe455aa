/** UTC months, written `2026-03`, for statements and invoices. */
import { Matching } from './shapes.ts'

export const PeriodName = Matching('^[0-9]{4}-(0[1-9]|1[0-2])$', 'must be a month such as 2026-03')

export interface Period {
  name: string
  start: Date
  /** The start of the next month. */
  end: Date
}

export function periodNamed(name: string): Period {
  const [year, month] = name.split('-').map(Number) as [number, number]
  return { name, start: new Date(Date.UTC(year, month - 1, 1)), end: new Date(Date.UTC(year, month, 1)) }
}

export function periodOf(at: Date): Period {
  return periodNamed(at.toISOString().slice(0, 7))
}

export function periodBefore(at: Date): Period {
  return periodOf(new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 0)))
}
