/** Mean, deviation, percentiles and histogram of zones, as a table and as CSV. */
import { useState, type ReactElement } from 'react'
import type { Item } from '../../api/contract.ts'
import { useOp } from '../../api/query.ts'
import type { Style } from '../../state/style.ts'
import { saveCsv } from '../../ui/csv.ts'
import { value } from '../../ui/format.ts'
import { Button, Segmented } from '../../ui/kit.ts'
import { Empty, Failed, Skeleton } from '../../ui/states.tsx'
import { Histogram } from './histogram.tsx'
import { csvRows, statisticsTable, type ZonalStatistics } from './statistics-table.ts'
import type { Zone } from './zones.ts'
import { classes } from '../../ui/classes.ts'
import workspaceStyles from '../../parts/workspace.module.css'
import tableStyles from '../../ui/table.module.css'
import ui from '../../ui/ui.module.css'

const PERCENTILES = [2, 10, 25, 50, 75, 90, 98]

interface ZoneStatisticsParts {
  item: Item
  assetKey: string | null
  style: Style
  zones: readonly Zone[]
}

const useZonalStatistics = ({ item, assetKey, style, zones }: ZoneStatisticsParts) =>
  useOp(
    'analytics.execute',
    {
      operation: 'zonal_stats',
      params: {
        item_id: item.id,
        zones: {
          type: 'FeatureCollection',
          features: zones.map(({ name, shape }) => ({ type: 'Feature' as const, id: name, geometry: shape })),
        },
        ...(style.expression ? { expression: style.expression } : style.bands ? { bands: [...style.bands] } : {}),
        ...(assetKey ? { asset_key: assetKey } : {}),
        statistics: ['count', 'mean', 'std', 'min', 'max'],
        percentiles: PERCENTILES,
      },
    },
    { staleTime: Infinity, keep: true },
  )

export function ZoneStatistics(parts: ZoneStatisticsParts): ReactElement {
  const { item, assetKey, style, zones } = parts
  const [chosen, setChosen] = useState(0)
  const query = useZonalStatistics(parts)
  if (query.isError && !query.data) return <Failed error={query.error} retry={() => void query.refetch()} />
  if (!query.data) return <Skeleton rows={5} />
  const statistics = query.data.result as ZonalStatistics
  const bands = statistics.zones[0]?.results ?? []
  const index = Math.min(chosen, bands.length - 1)
  const shown = zones.slice(0, statistics.zones.length)
  if (statistics.zones.every(({ results }) => !results[index]!.count))
    return (
      <Empty icon="hist" title="No values in this zone">
        All pixels are masked or outside the image.
      </Empty>
    )
  return (
    <div className={classes(workspaceStyles.section, ui.flexColumn, ui.gap12)} aria-live="polite">
      {bands.length > 1 && (
        <Segmented
          label="Band"
          value={String(index)}
          onChange={(next) => setChosen(Number(next))}
          options={bands.map(({ name }, position) => ({ value: String(position), text: name }))}
        />
      )}
      <Histogram itemId={item.id} assetKey={assetKey} style={style} index={index} zones={shown} />
      <table className={classes(tableStyles.table, tableStyles.slim)}>
        <thead>
          <tr>
            <th scope="col">{style.expression ? 'Expression' : bands[index]?.name}</th>
            {shown.map(({ name }) => (
              <th key={name} scope="col" className={tableStyles.number}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {statisticsTable(statistics, index).map(({ measure, values }) => (
            <tr key={measure}>
              <th scope="row">{measure}</th>
              {values.map((number, column) => (
                <td key={column} className={classes(tableStyles.number, ui.numeric)}>
                  {value(number)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <Button icon="down" onClick={() => saveCsv(`${item.name} statistics`, csvRows(statistics, shown))}>
        Download CSV
      </Button>
    </div>
  )
}
