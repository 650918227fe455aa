/** One number of each drawn place, scene after scene of the collection: as lines, as a table, as CSV. */
import { useQueries } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo, useState, type ReactElement } from 'react'
import { call } from '../../api/client.ts'
import type { Item } from '../../api/contract.ts'
import { encodeArea } from '../../map/geo.ts'
import { useUrl } from '../../state/url.ts'
import { Chart } from '../../ui/charts.tsx'
import { saveCsv } from '../../ui/csv.ts'
import { date, plural, value } from '../../ui/format.ts'
import { Button, LinkButton, Segmented } from '../../ui/kit.ts'
import { Empty, Failed, Skeleton } from '../../ui/states.tsx'
import type { Look } from '../../state/style.ts'
import { measureOf, useZones, type Zone } from './zones.ts'
import { useIsPhone } from '../../ui/is-phone.ts'
import { classes } from '../../ui/classes.ts'
import styles from './viewer.module.css'
import chartsStyles from '../../ui/charts.module.css'
import tableStyles from '../../ui/table.module.css'
import ui from '../../ui/ui.module.css'

/** A scene that shows less of a place than this is a gap: clouds, or its edge. */
const ENOUGH = 0.5

/** As `analytics.execute` answers for `time_series`. */
type Series = {
  points: { item_id: string; datetime: string | null; mean: number | null; valid_fraction: number }[]
  skipped: { item_id: string; datetime: string | null; reason: string }[]
}

interface Row {
  itemId: string
  datetime: string
  /** By place; null is a gap. */
  means: (number | null)[]
}

function rowsOf(series: readonly (Series | undefined)[]): Row[] {
  const rows = new Map<string, Row>()
  series.forEach((line, at) => {
    for (const { item_id, datetime, mean, valid_fraction } of line?.points ?? []) {
      if (datetime === null) continue
      const row = rows.get(item_id) ?? { itemId: item_id, datetime, means: series.map(() => null) }
      row.means[at] = valid_fraction >= ENOUGH ? mean : null
      rows.set(item_id, row)
    }
  })
  return [...rows.values()].toSorted((a, b) => a.datetime.localeCompare(b.datetime))
}

interface SeriesParts {
  item: Item
  assetKey: string | null
  look: Look
}

export function TimeSeries({ item, assetKey, look }: SeriesParts): ReactElement | null {
  const [zones] = useZones()
  const [, setUrl] = useUrl()
  const [shown, setShown] = useState<'chart' | 'table'>('chart')
  const isPhone = useIsPhone()
  const expression = measureOf(look)
  const params = (zone: Zone) => ({
    collection_id: item.collection_id,
    geometry: zone.shape,
    expression,
    ...(assetKey ? { asset_key: assetKey } : {}),
    statistics: ['count', 'mean', 'std'] as ('count' | 'mean' | 'std')[],
  })
  const answers = useQueries({
    queries: zones.map((zone) => ({
      queryKey: ['analytics.execute', 'time_series', params(zone)],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        call('analytics.execute', { operation: 'time_series', params: params(zone) }, { signal }),
      staleTime: Infinity,
    })),
  })
  const results = answers.map(({ data }) => data?.result as Series | undefined)
  const rows = useMemo(() => rowsOf(results), [answers.map(({ dataUpdatedAt }) => dataUpdatedAt).join()])
  const skipped = results[0]?.skipped ?? []
  if (zones.length === 0) return null
  const failed = answers.find(({ isError }) => isError)
  const isPending = answers.some(({ isLoading }) => isLoading)
  const csv = () =>
    saveCsv(`${item.name} over time`, [
      ['datetime', 'item_id', ...zones.map(({ name }) => name)],
      ...rows.map(({ datetime, itemId, means }) => [datetime, itemId, ...means.map((mean) => mean ?? '')]),
    ])
  return (
    <section className={isPhone ? classes(styles.series, styles.inTab) : styles.series} aria-label="Time series">
      <div className={classes(ui.flexRow, ui.gap12, styles.seriesHead)}>
        <b className={classes(ui.ellipsis, ui.mono)}>{expression}</b>
        <span className={classes(ui.flexRow, ui.gap12, ui.small, ui.soft)}>
          {zones.map(({ name, colour }) => (
            <span key={name} className={chartsStyles.legendEntry} style={{ '--c': `var(${colour})` }}>
              {name}
            </span>
          ))}
        </span>
        <span className={ui.grow} />
        <Segmented
          label="Show as"
          value={shown}
          onChange={setShown}
          options={[
            { value: 'chart', text: 'Chart' },
            { value: 'table', text: 'Table' },
          ]}
        />
        <Button size="s" icon="down" disabled={rows.length === 0} onClick={csv}>
          CSV
        </Button>
        <LinkButton
          size="s"
          icon="bell"
          to="/alerts/new"
          search={{ collection: item.collection_id ?? '', expr: expression, area: encodeArea(zones[0]!.shape), at: String(lastOf(rows)) }}
        >
          Alert
        </LinkButton>
        <Button size="s" variant="quiet" icon="x" label="Close the time series" onClick={() => setUrl({ series: null })} />
      </div>
      <div className={styles.seriesBody}>
        {failed ? (
          <Failed error={failed.error} retry={() => void failed.refetch()} />
        ) : isPending ? (
          <Skeleton rows={2} />
        ) : rows.length === 0 ? (
          <Empty icon="hist" title="No scene shows this place" />
        ) : shown === 'chart' ? (
          <SeriesChart rows={rows} zones={zones} expression={expression} />
        ) : (
          <SeriesTable rows={rows} zones={zones} />
        )}
        {skipped.length > 0 && (
          <p className={classes(ui.soft, ui.tiny)}>
            {plural(skipped.length, 'scene')} left out; the first: {skipped[0]!.reason}
          </p>
        )}
      </div>
    </section>
  )
}

const lastOf = (rows: readonly Row[]) => Number((rows.at(-1)?.means[0] ?? 0).toPrecision(2))

interface ShownParts {
  rows: readonly Row[]
  zones: readonly Zone[]
}

function SeriesChart({ rows, zones, expression }: ShownParts & { expression: string }): ReactElement {
  const times = useMemo(() => rows.map(({ datetime }) => Date.parse(datetime) / 1000), [rows])
  const series = useMemo(
    () => zones.map(({ name, colour }, at) => ({ label: name, colour, values: rows.map(({ means }) => means[at] ?? null) })),
    [rows, zones],
  )
  const label = `Mean of ${expression} in ${plural(zones.length, 'place')}, ${date(rows[0]!.datetime)} to ${date(rows.at(-1)!.datetime)}`
  return <Chart label={label} times={times} series={series} height={168} />
}

function SeriesTable({ rows, zones }: ShownParts): ReactElement {
  return (
    <div className={styles.seriesTable} tabIndex={0} role="group" aria-label="Values">
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
              {means.map((mean, at) => (
                <td key={at} className={classes(tableStyles.number, ui.numeric)}>
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
