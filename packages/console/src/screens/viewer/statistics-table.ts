/** Zonal statistics as rows of a table: one for each measure, with a column for each zone. */
import type { Zone } from './zones.ts'

interface Result {
  name: string
  mean: number | null
  std: number | null
  min: number | null
  max: number | null
  count: number | null
  percentiles: { percentile: number; value: number | null }[]
}

/** The result of `analytics.execute` with `zonal_stats`. */
export interface ZonalStatistics {
  /** Each zone has one result for each band, in the same order. */
  zones: { results: Result[] }[]
}

interface Row {
  measure: string
  values: (number | null)[]
}

const measuresOf = ({ mean, std, min, max, count, percentiles }: Result): [string, number | null][] => [
  ['Mean', mean],
  ['Std dev', std],
  ['Min', min],
  ['Max', max],
  ...percentiles.map(({ percentile, value }): [string, number | null] => [`P${percentile}`, value]),
  ['Pixels', count === null ? null : Math.round(count)],
]

/** The measures of one band. */
export function statisticsTable({ zones }: ZonalStatistics, band: number): Row[] {
  const columns = zones.map(({ results }) => measuresOf(results[band]!))
  return (columns[0] ?? []).map(([measure], row) => ({ measure, values: columns.map((column) => column[row]![1]) }))
}

/** The measures of all bands, with a header. */
export const csvRows = (statistics: ZonalStatistics, zones: readonly Zone[]): (string | number)[][] => [
  ['result', 'measure', ...zones.map(({ name }) => name)],
  ...(statistics.zones[0]?.results ?? []).flatMap(({ name }, band) =>
    statisticsTable(statistics, band).map(({ measure, values }) => [name, measure, ...values.map((value) => value ?? '')]),
  ),
]
