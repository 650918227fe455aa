/** What is stored, sent and computed, against the limits of the plan. */
import { useMemo, useState, type ReactElement } from 'react'
import { useAct, useOp } from '../../api/query.ts'
import { Chart } from '../../ui/charts.tsx'
import { bytes, count } from '../../ui/format.ts'
import { Bar, Button, Card, Facts, Segmented } from '../../ui/kit.ts'
import { Empty, Loaded } from '../../ui/states.tsx'
import { toast } from '../../ui/toasts.tsx'
import { BillingPage } from './page.tsx'
import { classes } from '../../ui/classes.ts'
import tableStyles from '../../ui/table.module.css'
import ui from '../../ui/ui.module.css'

interface UsageNow {
  storage_bytes: number
  egress_bytes_last_24h: number
  compute_jobs: number
  processing_jobs: number
  tiles: number
  api_calls: number
  limits: { storage_bytes: number; egress_bytes_per_24h: number; compute_jobs: number; processing_jobs: number }
}

export function UsageBars({
  storage_bytes,
  egress_bytes_last_24h,
  compute_jobs,
  processing_jobs,
  tiles,
  api_calls,
  limits,
}: UsageNow): ReactElement {
  const row = (name: string, used: number, limit: number, show: (value: number) => string) => (
    <div className={classes(ui.flexColumn, ui.gap4)}>
      <div className={classes(ui.flexRow, ui.between, ui.small)}>
        <span>{name}</span>
        <span className={classes(ui.soft, ui.numeric)}>
          {show(used)} of {show(limit)}
        </span>
      </div>
      <Bar label={name} share={limit > 0 ? used / limit : 0} isNearLimit={used > limit * 0.9} />
    </div>
  )
  return (
    <div className={classes(ui.flexColumn, ui.gap12)}>
      {row('Stored', storage_bytes, limits.storage_bytes, bytes)}
      {row('Downloads, 24 h', egress_bytes_last_24h, limits.egress_bytes_per_24h, bytes)}
      {row('Clip jobs', compute_jobs, limits.compute_jobs, count)}
      {row('Other processing jobs', processing_jobs, limits.processing_jobs, count)}
      <Facts
        rows={[
          ['Tiles', count(tiles)],
          ['API calls', count(api_calls)],
        ]}
      />
    </div>
  )
}

type Measure = 'storage_bytes' | 'egress_bytes' | 'tiles' | 'compute_jobs' | 'processing_jobs' | 'api_calls'
const MEASURES: readonly { value: Measure; text: string }[] = [
  { value: 'api_calls', text: 'API calls' },
  { value: 'tiles', text: 'Tiles' },
  { value: 'storage_bytes', text: 'Storage' },
  { value: 'egress_bytes', text: 'Downloads' },
  { value: 'compute_jobs', text: 'Clip jobs' },
  { value: 'processing_jobs', text: 'Other jobs' },
]

export function Usage(): ReactElement {
  const current = useOp('usage.current', {})
  const history = useOp('usage.history', { granularity: 'day' })
  const recalculate = useAct('usage.recalculate_storage', ['usage'])
  const [measure, setMeasure] = useState<Measure>('api_calls')
  const points = useMemo(() => history.data?.points ?? [], [history.data])
  const times = useMemo(() => points.map(({ period }) => Date.parse(period) / 1000), [points])
  const series = useMemo(() => [{ label: measure, colour: '--c1', values: points.map((point) => point[measure]) }], [points, measure])
  return (
    <BillingPage name="Usage">
      <div className={classes(ui.grid, ui.twoToOne)}>
        <Card title="By day" aside={<Segmented label="Measure" value={measure} onChange={setMeasure} options={MEASURES} />}>
          <Loaded query={history} empty={() => points.length === 0 && <Empty icon="hist" title="No data yet" />}>
            {() => (
              <>
                <Chart kind="bars" height={240} label={`${measure} by day`} times={times} series={series} />
                <details className={ui.marginTop12}>
                  <summary>As a table</summary>
                  <table className={classes(tableStyles.table, tableStyles.slim)}>
                    <tbody>
                      {points.map((point) => (
                        <tr key={point.period}>
                          <td>{point.period}</td>
                          <td className={classes(tableStyles.number, ui.numeric)}>
                            {measure.endsWith('bytes') ? bytes(point[measure]) : count(point[measure])}
                          </td>
                        </tr>
                      ))}
                    </tbody>
                  </table>
                </details>
              </>
            )}
          </Loaded>
        </Card>
        <Card title="This month">
          <Loaded query={current}>{(data) => <UsageBars {...data} />}</Loaded>
          <div className={ui.marginTop12}>
            <Button
              size="s"
              busy={recalculate.isPending}
              onClick={() => recalculate.mutate({}, { onSuccess: ({ storage_bytes }) => void toast(`${bytes(storage_bytes)} stored`) })}
            >
              Recalculate storage
            </Button>
          </div>
        </Card>
      </div>
    </BillingPage>
  )
}
