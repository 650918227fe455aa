/** The values of the shown bands or expression along a line: as a chart, as a table, as CSV. */
import { useState, type ReactElement } from 'react'
import type { Item } from '../../api/contract.ts'
import { useOp } from '../../api/query.ts'
import type { Position } from '../../map/geo.ts'
import { alongGlobe } from '../../map/geodesic.ts'
import { roundedPlace } from '../../map/path.ts'
import { valuesInput } from '../../state/style.ts'
import { classes } from '../../ui/classes.ts'
import { saveCsv } from '../../ui/csv.ts'
import { distance, value } from '../../ui/format.ts'
import { Button, Segmented } from '../../ui/kit.ts'
import { Failed, Skeleton } from '../../ui/states.tsx'
import { ProfileChart } from './profile-chart.tsx'
import { COLOURS, type ProfileSample } from './profile-scale.ts'
import type { ItemStyle } from './use-item-style.ts'
import chartsStyles from '../../ui/charts.module.css'
import tableStyles from '../../ui/table.module.css'
import ui from '../../ui/ui.module.css'
import styles from './profile.module.css'

const SAMPLES = 300

interface ProfileParts {
  item: Item
  itemStyle: ItemStyle
  points: readonly Position[]
}

export function Profile({ item, itemStyle: { drawnStyle, assetKey }, points }: ProfileParts): ReactElement {
  const [view, setView] = useState<'chart' | 'table'>('chart')
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
    <section className={styles.profile} aria-label="Profile values">
      <div className={classes(ui.flexRow, ui.gap12, ui.wrap, styles.header)}>
        {names.map((name, index) => (
          <span key={name} className={classes(chartsStyles.legendEntry, ui.small, ui.mono)} style={{ '--c': `var(${COLOURS[index]})` }}>
            {name}
          </span>
        ))}
        <span className={ui.grow} />
        <Segmented
          label="View"
          value={view}
          onChange={setView}
          options={[
            { value: 'chart', text: 'Chart' },
            { value: 'table', text: 'Table' },
          ]}
        />
        <Button size="s" icon="down" disabled={samples.length === 0} onClick={save}>
          CSV
        </Button>
      </div>
      <div className={styles.content}>
        {line.isError && !line.data && <Failed error={line.error} retry={() => void line.refetch()} />}
        {line.isPending && <Skeleton rows={2} />}
        {line.data &&
          (view === 'chart' ? <ProfileChart names={names} samples={samples} /> : <ProfileTable names={names} samples={samples} />)}
      </div>
    </section>
  )
}

const TABLE_STEP = 3

/** Every third sample: all are in the CSV file. */
function ProfileTable({ names, samples }: { names: readonly string[]; samples: readonly ProfileSample[] }): ReactElement {
  return (
    <div className={styles.table} tabIndex={0} role="group" aria-label="Values">
      <table className={classes(tableStyles.table, tableStyles.slim)}>
        <thead>
          <tr>
            <th scope="col">Distance</th>
            {names.map((name) => (
              <th key={name} scope="col" className={tableStyles.number}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {samples
            .filter((_, index) => index % TABLE_STEP === 0)
            .map(({ distance_m, values }) => (
              <tr key={distance_m}>
                <th scope="row">{distance(distance_m)}</th>
                {values.map((each, index) => (
                  <td key={index} className={classes(tableStyles.number, ui.numeric)}>
                    {each === null ? 'no data' : value(each)}
                  </td>
                ))}
              </tr>
            ))}
        </tbody>
      </table>
    </div>
  )
}
