/** The mean of each zone, scene after scene of the collection: as a chart, as a table, as CSV. */
import type { ReactElement } from 'react'
import type { Item } from '../../api/contract.ts'
import { encodeArea } from '../../map/geo.ts'
import type { Style } from '../../state/style.ts'
import { usePanel } from '../../state/url.ts'
import { saveCsv } from '../../ui/csv.ts'
import { plural } from '../../ui/format.ts'
import { Button, LinkButton } from '../../ui/kit.ts'
import { Empty, Failed, Skeleton } from '../../ui/states.tsx'
import { SeriesChart, SeriesTable } from './series-views.tsx'
import { useTimeSeries } from './use-time-series.ts'
import { useZones } from './use-zones.ts'
import { ValuesPanel, type ValuesView } from './values-panel.tsx'
import { measureOf } from './zones.ts'
import { classes } from '../../ui/classes.ts'
import chartsStyles from '../../ui/charts.module.css'
import ui from '../../ui/ui.module.css'

interface TimeSeriesParts {
  item: Item
  assetKey: string | null
  style: Style
}

export function TimeSeries({ item, assetKey, style }: TimeSeriesParts): ReactElement | null {
  const [zones] = useZones()
  const { close } = usePanel('series')
  const expression = measureOf(style)
  const series = useTimeSeries(item, assetKey, expression, zones)
  const { rows, skipped } = series
  if (zones.length === 0) return null
  const lastMean = Number((rows.at(-1)?.means[0] ?? 0).toPrecision(2))
  const save = () =>
    saveCsv(`${item.name} time series`, [
      ['datetime', 'item_id', ...zones.map(({ name }) => name)],
      ...rows.map(({ datetime, itemId, means }) => [datetime, itemId, ...means.map((mean) => mean ?? '')]),
    ])
  return (
    <ValuesPanel
      label="Time series"
      names={
        <>
          <b className={classes(ui.ellipsis, ui.mono)}>{expression}</b>
          <span className={classes(ui.flexRow, ui.gap12, ui.small, ui.soft)}>
            {zones.map(({ name, colour }) => (
              <span key={name} className={chartsStyles.legendEntry} style={{ '--c': `var(${colour})` }}>
                {name}
              </span>
            ))}
          </span>
        </>
      }
      hasValues={rows.length > 0}
      onSave={save}
      actions={
        <>
          <LinkButton
            size="s"
            icon="bell"
            to="/alerts/new"
            search={{ collection: item.collection_id ?? '', expr: expression, area: encodeArea(zones[0]!.shape), at: String(lastMean) }}
          >
            Create alert
          </LinkButton>
          <Button size="s" variant="quiet" icon="x" label="Close time series" onClick={close} />
        </>
      }
    >
      {(view) => (
        <>
          <SeriesView series={series} view={view} zones={zones} expression={expression} />
          {skipped.length > 0 && (
            <p className={classes(ui.soft, ui.tiny)}>
              {plural(skipped.length, 'scene')} skipped. First reason: {skipped[0]!.reason}
            </p>
          )}
        </>
      )}
    </ValuesPanel>
  )
}

interface SeriesViewParts {
  series: ReturnType<typeof useTimeSeries>
  view: ValuesView
  zones: ReturnType<typeof useZones>[0]
  expression: string
}

function SeriesView({ series: { rows, failed, isLoading }, view, zones, expression }: SeriesViewParts): ReactElement {
  if (failed) return <Failed error={failed.error} retry={() => void failed.refetch()} />
  if (isLoading) return <Skeleton rows={2} />
  if (rows.length === 0) return <Empty icon="hist" title="No scene covers these zones" />
  return view === 'chart' ? <SeriesChart rows={rows} zones={zones} expression={expression} /> : <SeriesTable rows={rows} zones={zones} />
}
