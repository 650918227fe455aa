/** Statistics of many zones as a table: one row per zone and band, as CSV and Parquet. */
import { writeFile } from 'node:fs/promises'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { zonalStatistics, type ZonalStatistic } from '#raster/zonal/index.ts'
import { onlyRaster, pathOf, type MethodTask } from './method.ts'

interface Zonal {
  readonly zones: readonly { readonly id: string; readonly geometry: unknown }[]
  readonly bands?: readonly number[]
  readonly expression?: string
  readonly names?: Readonly<Record<string, number>>
  /** Name of each band or result in the table. */
  readonly labels: readonly string[]
  readonly statistics: readonly ZonalStatistic[]
  readonly percentiles: readonly number[]
}

export async function zonal(task: MethodTask<Zonal>): Promise<Record<string, unknown>> {
  const { zones, bands, expression, names, labels, statistics, percentiles } = task.options
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
  const rows = results.flatMap((series, zone) =>
    series.map(({ values, percentiles: ranks, count, covered }, index) => ({
      texts: [zones[zone]!.id, labels[index] ?? `result ${index + 1}`],
      numbers: [...statistics.map((name) => values[name] ?? null), ...ranks, covered > 0 ? count / covered : 0],
    })),
  )
  const columns = [...statistics, ...percentiles.map((percentile) => `p${percentile}`), 'valid_fraction']
  await writeFile(pathOf(task, 'zones.csv'), csvOf(columns, rows), { signal: task.signal })
  await writeFile(pathOf(task, 'zones.parquet'), parquetOf(columns, rows), { signal: task.signal })
  return { zoneCount: zones.length, emptyCount: results.filter((series) => series.every(({ count }) => count === 0)).length }
}

interface Row {
  texts: readonly string[]
  numbers: readonly (number | null)[]
}

const TEXTS = ['zone', 'band'] as const

function csvOf(columns: readonly string[], rows: readonly Row[]): string {
  const lines = rows.map(({ texts, numbers }) => [...texts.map(quoted), ...numbers.map((value) => value ?? '')].join(','))
  return [[...TEXTS, ...columns].join(','), ...lines, ''].join('\r\n')
}

/** IDs come from the caller: text that a spreadsheet would evaluate is quoted. */
function quoted(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

function parquetOf(columns: readonly string[], rows: readonly Row[]): Uint8Array {
  const texts = TEXTS.map((name, index) => ({ name, type: 'STRING' as const, data: rows.map((row) => row.texts[index]!) }))
  const numbers = columns.map((name, index) => ({
    name,
    type: 'DOUBLE' as const,
    nullable: true,
    data: rows.map((row) => row.numbers[index] ?? null),
  }))
  return new Uint8Array(parquetWriteBuffer({ columnData: [...texts, ...numbers] }))
}
