/** Alert rules in words and as band math. */
import type { AlertRule } from '../../api/contract.ts'
import { useOp } from '../../api/query.ts'
import { value } from '../../ui/format.ts'

export type Comparison = AlertRule['comparison']
export const COMPARISONS: readonly { value: Comparison; text: string }[] = [
  { value: 'gt', text: 'above' },
  { value: 'lt', text: 'below' },
  { value: 'between', text: 'between' },
  { value: 'eq', text: 'equal to' },
]

export const QUIET_TIMES = [
  { value: '0', text: 'time' },
  { value: '60', text: 'hour' },
  { value: '360', text: '6 hours' },
  { value: '1440', text: 'day' },
  { value: '10080', text: 'week' },
]

interface Limits {
  comparison: Comparison
  threshold: number
  threshold_upper: number | null
}

/** 'above 0.12', 'between 0.1 and 0.3'. */
export function limitWords({ comparison, threshold, threshold_upper }: Limits): string {
  const word = COMPARISONS.find((option) => option.value === comparison)!.text
  return comparison === 'between' ? `between ${value(threshold)} and ${value(threshold_upper)}` : `${word} ${value(threshold)}`
}

/** How often a rule notifies. */
export function quietWords(minutes: number): string {
  if (minutes === 0) return 'every time'
  if (minutes % 1440 === 0) return minutes === 1440 ? 'at most once a day' : `at most once every ${minutes / 1440} days`
  if (minutes % 60 === 0) return minutes === 60 ? 'at most once an hour' : `at most once every ${minutes / 60} hours`
  return `at most once every ${minutes} minutes`
}

const EQUAL_WITHIN = 1e-9

/** Compares as the service does. */
export function isMet({ comparison, threshold, threshold_upper }: Limits, value: number): boolean {
  if (comparison === 'gt') return value > threshold
  if (comparison === 'lt') return value < threshold
  if (comparison === 'between') return value >= threshold && value <= (threshold_upper ?? threshold)
  return Math.abs(value - threshold) <= EQUAL_WITHIN * Math.max(Math.abs(value), Math.abs(threshold))
}

/** The expression with band numbers in place of names: tiles do not know the names of a rule. */
export const withNumbers = (expression: string, mapping: Readonly<Record<string, number>>) =>
  expression.replaceAll(/[A-Za-z_]\w*/g, (name) => (Object.hasOwn(mapping, name) ? `b${mapping[name]}` : name))

/** 1 where a pixel meets the rule, 0 elsewhere. */
export function maskOf(expression: string, { comparison, threshold, threshold_upper }: Limits): string {
  if (comparison === 'gt') return `where(${expression} > ${threshold}, 1, 0)`
  if (comparison === 'lt') return `where(${expression} < ${threshold}, 1, 0)`
  if (comparison === 'eq') return `where(abs(${expression} - ${threshold}) < 0.000001, 1, 0)`
  return `where(${expression} >= ${threshold}, where(${expression} <= ${threshold_upper ?? threshold}, 1, 0), 0)`
}

export const RECIPES = [
  { id: 'water', title: 'New water', index: 'ndwi', comparison: 'gt' as const, threshold: 0.1, about: 'NDWI above 0.1' },
  { id: 'loss', title: 'Vegetation loss', index: 'ndvi', comparison: 'lt' as const, threshold: 0.3, about: 'NDVI below 0.3' },
  { id: 'build', title: 'New building', index: 'ndbi', comparison: 'gt' as const, threshold: 0, about: 'NDBI above 0' },
]

/** The collections of all projects. */
export function useCollections() {
  return useOp('stac.collections.list', {}, { staleTime: 60_000 })
}
