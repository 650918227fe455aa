/** A time series as a chart and as a table. */
import { Link } from '@tanstack/react-router'
import { useMemo, type ReactElement } from 'react'
import { Chart } from '../../ui/charts.tsx'
import { date, plural, value } from '../../ui/format.ts'
import type { SeriesRow } from './time-series-rows.ts'
import type { Zone } from './zones.ts'
import { classes } from '../../ui/classes.ts'
import styles from './time-series.module.css'
import tableStyles from '../../ui/table.module.css'
import ui from '../../ui/ui.module.css'

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
    <div className={styles.table} tabIndex={0} role="group" aria-label="Values">
      <table className={classes(tableStyles.table, tableStyles.slim)}>
        <thead>
          <tr>
            <th scope="col">Scene</th>
            {zones.map(({ name }) => (
              <th key={name} scope="col" className={tableStyles.number}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ itemId, datetime, means }) => (
            <tr key={itemId}>
              <th scope="row">
                <Link to="/view/$item" params={{ item: itemId }} search={(search: object) => search}>
                  {date(datetime)}
                </Link>
              </th>
              {means.map((mean, index) => (
                <td key={index} className={classes(tableStyles.number, ui.numeric)}>
                  {mean === null ? 'gap' : value(mean)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
