/** A time series as a chart and as a table. */
import { Link } from '@tanstack/react-router'
import { useMemo, type ReactElement } from 'react'
import { Chart } from '../../ui/charts.tsx'
import { date, plural } from '../../ui/format.ts'
import type { SeriesRow } from './time-series-rows.ts'
import { ValuesTable } from './values-panel.tsx'
import type { Zone } from './zones.ts'

interface SeriesParts {
  rows: readonly SeriesRow[]
  zones: readonly Zone[]
}

export function SeriesChart({ rows, zones, expression }: SeriesParts & { expression: string }): ReactElement {
  const times = useMemo(() => rows.map(({ datetime }) => Date.parse(datetime) / 1000), [rows])
  const series = useMemo(
    () => zones.map(({ name, colour }, index) => ({ label: name, colour, values: rows.map(({ means }) => means[index] ?? null) })),
    [rows, zones],
  )
  const label = `Mean of ${expression} in ${plural(zones.length, 'zone')}, ${date(rows[0]!.datetime)} to ${date(rows.at(-1)!.datetime)}`
  return <Chart label={label} times={times} series={series} height={168} />
}

export function SeriesTable({ rows, zones }: SeriesParts): ReactElement {
  return (
    <ValuesTable
      first="Scene"
      names={zones.map(({ name }) => name)}
      rows={rows.map(({ itemId, datetime, means }) => ({
        key: itemId,
        name: (
          <Link to="/view/$item" params={{ item: itemId }} search={(search: object) => search}>
            {date(datetime)}
          </Link>
        ),
        values: means,
      }))}
      missing="gap"
    />
  )
}
