/** Numbers of drawn places, side by side: mean, spread, percentiles, histogram; as a table and as CSV. */
import { useEffect, useRef, useState, type ReactElement } from 'react'
import type { Item } from '../../api/contract.ts'
import { useOp } from '../../api/query.ts'
import { areaOf, boxPolygon, type Box } from '../../map/geo.ts'
import { readArea } from '../../map/read-area.ts'
import { sharedMap } from '../../map/shared-map.ts'
import { useUrl } from '../../state/url.ts'
import { area as areaText, value } from '../../ui/format.ts'
import { Button, Field, Segmented } from '../../ui/kit.ts'
import { Empty, Failed, Skeleton } from '../../ui/states.tsx'
import { saveCsv } from '../../ui/csv.ts'
import { Histogram } from './histogram.tsx'
import type { Look } from '../../state/style.ts'
import { MAX_ZONES, useZones, type Zone } from './zones.ts'
import { TimeSeries } from './later.ts'
import { useIsPhone } from '../../ui/is-phone.ts'
import { classes } from '../../ui/classes.ts'
import workspaceStyles from '../../parts/workspace.module.css'
import styles from './viewer.module.css'
import chartsStyles from '../../ui/charts.module.css'
import tableStyles from '../../ui/table.module.css'
import ui from '../../ui/ui.module.css'

interface TabParts {
  item: Item
  assetKey: string | null
  look: Look
}

export function StatisticsTab({ item, assetKey, look }: TabParts): ReactElement {
  const [zones, setZones] = useZones()
  const [url, setUrl] = useUrl()
  const isPhone = useIsPhone()
  const { drawing, draw } = useDrawing((shape) => setZones([...zones.map((zone) => zone.shape), shape]))
  useEffect(() => {
    const coordinates = zones.map(({ shape }) => shape.coordinates)
    sharedMap().setArea(coordinates.length > 0 ? { type: 'MultiPolygon', coordinates } : null)
    return () => sharedMap().setArea(null)
  }, [zones])
  const add = (shape: GeoJSON.Polygon) => setZones([...zones.map((zone) => zone.shape), shape])
  const isFull = zones.length >= MAX_ZONES
  return (
    <>
      <div className={classes(workspaceStyles.section, ui.flexColumn, ui.gap8)}>
        <div className={classes(ui.flexRow, ui.gap6, ui.wrap)}>
          <Button size="s" icon="poly" onClick={() => void draw('polygon')} disabled={drawing || isFull}>
            Polygon
          </Button>
          <Button size="s" icon="rect" onClick={() => void draw('rectangle')} disabled={drawing || isFull}>
            Rectangle
          </Button>
          {item.bbox && (
            <Button size="s" disabled={isFull} onClick={() => add(boxPolygon(middleOf(item.bbox as Box, zones.length)))}>
              Centre
            </Button>
          )}
          {zones.length > 0 && (
            <Button size="s" variant="quiet" onClick={() => setZones([])}>
              Clear
            </Button>
          )}
        </div>
        {drawing && (
          <p className={classes(ui.soft, ui.small)} role="status">
            Draw on the map; Enter closes the ring, Esc to cancel.
          </p>
        )}
        <Typed onArea={add} disabled={isFull} />
        {zones.length > 0 && (
          <ZoneList zones={zones} onRemove={(at) => setZones(zones.filter((_, index) => index !== at).map(({ shape }) => shape))} />
        )}
      </div>
      {zones.length > 0 ? (
        <>
          <Numbers item={item} assetKey={assetKey} look={look} zones={zones} />
          {item.collection_id !== null && (
            <div className={workspaceStyles.section}>
              <Button
                icon="hist"
                aria-expanded={url['series'] === '1'}
                onClick={() => setUrl({ series: url['series'] === '1' ? null : '1' })}
              >
                {url['series'] === '1' ? 'Close the time series' : 'Over time, in this collection'}
              </Button>
            </div>
          )}
          {isPhone && url['series'] === '1' && <TimeSeries item={item} assetKey={assetKey} look={look} />}
        </>
      ) : (
        <Empty icon="hist" title="Choose a place to measure">
          Draw it, paste it, or take the middle. Statistics use the current style:{' '}
          {look.expression ?? (look.bands ? `bands ${look.bands.join(', ')}` : 'all bands')}.
        </Empty>
      )}
    </>
  )
}

function useDrawing(onShape: (shape: GeoJSON.Polygon) => void) {
  const [drawing, setDrawing] = useState(false)
  const stop = useRef<(() => void) | null>(null)
  const give = () => {
    stop.current?.()
    stop.current = null
    setDrawing(false)
  }
  useEffect(() => {
    if (!drawing) return
    const onKey = (event: KeyboardEvent) => event.key === 'Escape' && give()
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [drawing])
  useEffect(() => () => stop.current?.(), [])
  const draw = async (mode: 'polygon' | 'rectangle') => {
    setDrawing(true)
    const { drawArea } = await import('../../map/draw.ts')
    stop.current = drawArea(sharedMap(), mode, (drawn) => {
      setDrawing(false)
      if (drawn) onShape(drawn)
    })
  }
  return { drawing, draw }
}

/** A sixth of each side, in the middle, the next one beside it: something to measure without drawing. */
function middleOf([west, south, east, north]: Box, index: number): Box {
  const shift = [0, 0.2, -0.2, 0.4, -0.4, 0.1][index] ?? 0
  const part = (low: number, high: number, share: number) => low + (high - low) * Math.max(0.02, Math.min(0.98, share))
  return [part(west, east, 0.42 + shift), part(south, north, 0.42), part(west, east, 0.58 + shift), part(south, north, 0.58)]
}

function Typed({ onArea, disabled }: { onArea(shape: GeoJSON.Polygon): void; disabled: boolean }): ReactElement {
  const [text, setText] = useState('')
  const [problem, setProblem] = useState<string | undefined>()
  const read = async (given: string) => {
    setText(given)
    setProblem(undefined)
    if (given.trim() === '') return
    const area = await readArea(given).catch(() => null)
    if (area?.kind !== 'area') return setProblem('This is no area: paste GeoJSON, WKT or KML of one polygon.')
    setText('')
    onArea(area.geometry)
  }
  return (
    <Field
      label="Or paste an area"
      placeholder="GeoJSON, WKT or KML"
      value={text}
      disabled={disabled}
      error={problem}
      onChange={(event) => void read(event.target.value)}
    />
  )
}

function ZoneList({ zones, onRemove }: { zones: readonly Zone[]; onRemove(at: number): void }): ReactElement {
  return (
    <ul className={styles.zones} aria-label="Places">
      {zones.map(({ name, colour, shape }, index) => (
        <li key={name} className={classes(ui.flexRow, ui.gap8)}>
          <span className={classes(chartsStyles.legendEntry, ui.grow)} style={{ '--c': `var(${colour})` }}>
            {name}, {areaText(areaOf(shape))}
          </span>
          <Button size="s" variant="quiet" onClick={() => sharedMap().fitGeometry(shape)}>
            Show
          </Button>
          <Button size="s" variant="quiet" icon="x" label={`Remove ${name}`} onClick={() => onRemove(index)} />
        </li>
      ))}
    </ul>
  )
}

const PERCENTILES = [2, 10, 25, 50, 75, 90, 98]

interface Result {
  name: string
  mean: number | null
  std: number | null
  min: number | null
  max: number | null
  count: number | null
  valid_fraction: number
  percentiles: { percentile: number; value: number | null }[]
}

/** As `analytics.execute` answers for `zonal_stats`. */
type Zonal = {
  zones: { results: Result[] }[]
}

const rowsOf = (result: Result): [string, number | null][] => [
  ['Mean', result.mean],
  ['Std dev', result.std],
  ['Min', result.min],
  ['Max', result.max],
  ...result.percentiles.map(({ percentile, value: number }): [string, number | null] => [`P${percentile}`, number]),
  ['Pixels', result.count === null ? null : Math.round(result.count)],
]

function Numbers({ item, assetKey, look, zones }: TabParts & { zones: readonly Zone[] }): ReactElement {
  const [at, setAt] = useState(0)
  const answer = useOp(
    'analytics.execute',
    {
      operation: 'zonal_stats',
      params: {
        item_id: item.id,
        zones: {
          type: 'FeatureCollection',
          features: zones.map(({ name, shape }) => ({ type: 'Feature' as const, id: name, geometry: shape })),
        },
        ...(look.expression ? { expression: look.expression } : look.bands ? { bands: [...look.bands] } : {}),
        ...(assetKey ? { asset_key: assetKey } : {}),
        statistics: ['count', 'mean', 'std', 'min', 'max'],
        percentiles: PERCENTILES,
      },
    },
    { staleTime: Infinity, keep: true },
  )
  if (answer.isError && !answer.data) return <Failed error={answer.error} retry={() => void answer.refetch()} />
  if (!answer.data) return <Skeleton rows={5} />
  const zonal = answer.data.result as Zonal
  const series = zonal.zones[0]?.results ?? []
  const index = Math.min(at, series.length - 1)
  const results = zonal.zones.map(({ results: list }) => list[index]!)
  const shown = zones.slice(0, results.length)
  if (results.every(({ count }) => !count))
    return (
      <Empty icon="hist" title="No values there">
        Every pixel in it is masked or outside the image.
      </Empty>
    )
  const table = rowsOf(results[0]!).map(([name], row) => [name, ...results.map((result) => rowsOf(result)[row]![1])] as const)
  return (
    <div className={classes(workspaceStyles.section, ui.flexColumn, ui.gap12)} aria-live="polite">
      {series.length > 1 && (
        <Segmented
          label="Band"
          value={String(index)}
          onChange={(next) => setAt(Number(next))}
          options={series.map(({ name }, position) => ({ value: String(position), text: name }))}
        />
      )}
      <Histogram itemId={item.id} assetKey={assetKey} look={look} index={index} zones={shown} />
      <table className={classes(tableStyles.table, tableStyles.slim)}>
        <thead>
          <tr>
            <th scope="col">{look.expression ? 'Expression' : series[index]?.name}</th>
            {shown.map(({ name }) => (
              <th key={name} scope="col" className={tableStyles.number}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.map(([name, ...numbers]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              {numbers.map((number, column) => (
                <td key={column} className={classes(tableStyles.number, ui.numeric)}>
                  {value(number)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <Button
        icon="down"
        onClick={() =>
          saveCsv(`${item.name} statistics`, [
            ['result', 'measure', ...shown.map(({ name }) => name)],
            ...series.flatMap(({ name }, position) =>
              rowsOf(series[position]!).map(([measure], row) => [
                name,
                measure,
                ...zonal.zones.map(({ results: list }) => rowsOf(list[position]!)[row]![1] ?? ''),
              ]),
            ),
          ])
        }
      >
        CSV
      </Button>
    </div>
  )
}
