/** Formats numbers for reports. */
const UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'] as const

export function bytes(count: number): string {
  let [value, unit] = [count, 0]
  while (value >= 1000 && unit < UNITS.length - 1) [value, unit] = [value / 1000, unit + 1]
  return `${Number(value.toPrecision(3))} ${UNITS[unit]}`
}

export const whole = (count: number): string => Math.round(count).toLocaleString('en')
export const day = (at: Date | null): string | null => at?.toISOString().slice(0, 10) ?? null
export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

/** Counts values by kind, most frequent first. */
export function countBy<T>(values: readonly T[], kindOf: (value: T) => string): { label: string; value: number }[] {
  const counts = new Map<string, number>()
  for (const value of values) counts.set(kindOf(value), (counts.get(kindOf(value)) ?? 0) + 1)
  return [...counts].map(([label, value]) => ({ label, value })).toSorted((a, b) => b.value - a.value)
}
