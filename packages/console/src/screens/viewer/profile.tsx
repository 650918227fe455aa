/** The values of the shown bands or expression along a line: as a chart, as a table, as CSV. */
import type { ReactElement } from 'react'
import type { Item } from '../../api/contract.ts'
import { useOp } from '../../api/query.ts'
import type { Position } from '../../map/geo.ts'
import { alongGlobe } from '../../map/geodesic.ts'
import { roundedPlace } from '../../map/path.ts'
import { valuesInput } from '../../state/style.ts'
import { classes } from '../../ui/classes.ts'
import { saveCsv } from '../../ui/csv.ts'
import { distance } from '../../ui/format.ts'
import { Failed, Skeleton } from '../../ui/states.tsx'
import { ProfileChart } from './profile-chart.tsx'
import { COLOURS } from './profile-scale.ts'
import type { ItemStyle } from './use-item-style.ts'
import { ValuesPanel, ValuesTable } from './values-panel.tsx'
import chartsStyles from '../../ui/charts.module.css'
import ui from '../../ui/ui.module.css'

const SAMPLES = 300
/** The table has every third sample; all are in the CSV file. */
const TABLE_STEP = 3

interface ProfileParts {
  item: Item
  itemStyle: ItemStyle
  points: readonly Position[]
}

export function Profile({ item, itemStyle: { drawnStyle, assetKey }, points }: ProfileParts): ReactElement {
  const line = useOp(
    'items.line',
    {
      item_id: item.id,
      ...valuesInput(drawnStyle, assetKey),
      geometry: { type: 'LineString', coordinates: alongGlobe(points).map(roundedPlace) },
      samples: SAMPLES,
    },
    { keep: true, staleTime: 600_000 },
  )
  const { names = [], samples = [] } = line.data ?? {}
  const save = () =>
    saveCsv(`${item.name} profile`, [
      ['distance_m', 'longitude', 'latitude', ...names],
      ...samples.map(({ distance_m, longitude, latitude, values }) => [
        Number(distance_m.toFixed(2)),
        Number(longitude.toFixed(7)),
        Number(latitude.toFixed(7)),
        ...values.map((each) => each ?? ''),
      ]),
    ])
  return (
    <ValuesPanel
      label="Profile values"
      names={names.map((name, index) => (
        <span key={name} className={classes(chartsStyles.legendEntry, ui.small, ui.mono)} style={{ '--c': `var(${COLOURS[index]})` }}>
          {name}
        </span>
      ))}
      hasValues={samples.length > 0}
      onSave={save}
    >
      {(view) => {
        if (!line.data) return line.isError ? <Failed error={line.error} retry={() => void line.refetch()} /> : <Skeleton rows={2} />
        if (view === 'chart') return <ProfileChart names={names} samples={samples} />
        const rows = samples.filter((_, index) => index % TABLE_STEP === 0)
        return (
          <ValuesTable
            first="Distance"
            names={names}
            rows={rows.map(({ distance_m, values }) => ({ key: distance_m, name: distance(distance_m), values }))}
            missing="no data"
          />
        )
      }}
    </ValuesPanel>
  )
}
