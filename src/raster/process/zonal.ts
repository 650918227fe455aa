/** Statistics of many zones as a table: one row per zone and band, as CSV and Parquet. */
import { zonalStatistics, type ZonalStatistic } from '#raster/zonal/index.ts'
import { onlyRaster, type MethodTask } from './method.ts'
import { writePart, writeTable, type Row, type TableShape } from './table.ts'

interface Zonal {
  readonly zones: readonly { readonly id: string; readonly geometry: unknown }[]
  readonly bands?: readonly number[]
  readonly expression?: string
  readonly names?: Readonly<Record<string, number>>
  /** Name of each band or result in the table. */
  readonly labels: readonly string[]
  readonly statistics: readonly ZonalStatistic[]
  readonly percentiles: readonly number[]
  /** Numbers of these zones in the table, if they are a part of it. */
  readonly numbers?: readonly number[]
}

export const zonalTable = ({ statistics, percentiles }: Pick<Zonal, 'statistics' | 'percentiles'>): TableShape => ({
  name: 'zones',
  texts: ['zone', 'band'],
  columns: [...statistics, ...percentiles.map((percentile) => `p${percentile}`), 'valid_fraction'],
})

export async function zonal(task: MethodTask<Zonal>): Promise<Record<string, unknown>> {
  const { zones, bands, expression, names, labels, statistics, percentiles, numbers } = task.options
  const { zones: results } = await zonalStatistics(onlyRaster(task), {
    zones: zones.map(({ geometry }) => geometry),
    ...(bands ? { bands } : {}),
    ...(expression === undefined ? {} : { expression }),
    ...(names ? { names } : {}),
    statistics,
    percentiles,
    signal: task.signal,
    onProgress: task.onProgress,
  })
  const groups = results.map((series, zone) =>
    series.map(({ values, percentiles: ranks, count, covered }, index): Row => ({
      texts: [zones[zone]!.id, labels[index] ?? `result ${index + 1}`],
      numbers: [...statistics.map((name) => values[name] ?? null), ...ranks, covered > 0 ? count / covered : 0],
    })),
  )
  if (numbers) await writePart(task, { numbers, groups })
  else await writeTable(task, zonalTable(task.options), groups.flat())
  return { zoneCount: zones.length, emptyCount: results.filter((series) => series.every(({ count }) => count === 0)).length }
}
