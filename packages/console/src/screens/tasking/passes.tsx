/** When satellites pass, by day and by angle; those within the limits stand out by place, colour and in the list. */
import type { ReactElement } from 'react'
import type { Output } from '../../api/contract.ts'
import { dateShort, dateTimeShort, plural } from '../../ui/format.ts'
import { classes } from '../../ui/classes.ts'
import schemaFormStyles from '../../parts/schema-form.module.css'
import styles from './tasking.module.css'
import chartsStyles from '../../ui/charts.module.css'
import tableStyles from '../../ui/table.module.css'
import ui from '../../ui/ui.module.css'

type Pass = Output<'orders.tasking.opportunities_list'>['content'][number]

const WIDTH = 720
const HEIGHT = 150
const LEFT = 34
const BOTTOM = 20
const DAY_MS = 86_400_000
const TICKS = 5

interface PassParts {
  passes: readonly Pass[]
  from: string
  to: string
  /** Degrees that are asked for. */
  limit: number
  /** Degrees that a chosen option allows, where it is another. */
  optionLimit?: number | null
}

export function Passes({ passes, from, to, limit, optionLimit = null }: PassParts): ReactElement {
  const [start, end] = [Date.parse(from), Math.max(Date.parse(to), Date.parse(from) + DAY_MS)]
  const allowed = optionLimit ?? limit
  const top = Math.max(45, limit, allowed)
  const x = (time: number) => LEFT + ((time - start) / (end - start)) * (WIDTH - LEFT - 8)
  const y = (angle: number) => 8 + (angle / top) * (HEIGHT - BOTTOM - 12)
  const inside = passes.filter(({ offNadirDeg }) => offNadirDeg <= allowed)
  const asked = passes.filter(({ offNadirDeg }) => offNadirDeg <= limit)
  return (
    <div>
      <p className={classes(ui.soft, ui.small)} role="status">
        <b className={ui.numeric}>{inside.length}</b> of {plural(passes.length, 'pass', 'passes')} up to {allowed}° off nadir
        {allowed !== limit && `, ${asked.length} up to the ${limit}° asked for`}.
      </p>
      <div className={ui.scrollSideways}>
        <svg
          className={styles.passes}
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          role="img"
          aria-label={`Passes from ${dateShort(from)} to ${dateShort(to)}`}
        >
          {[0, 15, 30, 45].map((angle) => (
            <g key={angle}>
              <path d={`M${LEFT} ${y(angle)}H${WIDTH}`} stroke="var(--line)" />
              <text className={chartsStyles.axis} x={LEFT - 6} y={y(angle) + 3.5} textAnchor="end">
                {angle}°
              </text>
            </g>
          ))}
          <path d={`M${LEFT} ${y(allowed)}H${WIDTH}`} stroke="var(--signal)" strokeWidth="1.5" strokeDasharray="4 4" />
          {passes.map(({ start: at, offNadirDeg, noradId }) => (
            <circle
              key={`${at}-${noradId}`}
              cx={x(Date.parse(at))}
              cy={y(offNadirDeg)}
              r="4.4"
              fill={offNadirDeg <= limit ? 'var(--c2)' : offNadirDeg <= allowed ? 'var(--c1)' : 'var(--line-strong)'}
              stroke="var(--surface)"
              strokeWidth="1.5"
            />
          ))}
          {Array.from({ length: TICKS }, (_, index) => {
            const time = start + ((end - start) * index) / (TICKS - 1)
            return (
              <text
                key={index}
                className={chartsStyles.axis}
                x={x(time)}
                y={HEIGHT - 3}
                textAnchor={index === 0 ? 'start' : index === TICKS - 1 ? 'end' : 'middle'}
              >
                {dateShort(new Date(time).toISOString())}
              </text>
            )
          })}
        </svg>
      </div>
      <details className={schemaFormStyles.more}>
        <summary>As a list</summary>
        <div className={styles.passList} tabIndex={0} role="region" aria-label="List of passes">
          <table className={classes(tableStyles.table, tableStyles.slim)}>
            <thead>
              <tr>
                <th>When, UTC</th>
                <th>Satellite</th>
                <th className={tableStyles.number}>Off nadir</th>
                <th className={tableStyles.number}>Sun</th>
              </tr>
            </thead>
            <tbody>
              {passes.map((pass) => (
                <tr key={`${pass.start}-${pass.noradId}`} className={pass.offNadirDeg <= allowed ? '' : ui.faint}>
                  <td>{dateTimeShort(pass.start)}</td>
                  <td>{pass.satellite}</td>
                  <td className={tableStyles.number}>{pass.offNadirDeg.toFixed(1)}°</td>
                  <td className={tableStyles.number}>{pass.sunElevationDeg.toFixed(0)}°</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </div>
  )
}

export const PassLegend = ({ withOption = false }: { withOption?: boolean }) => (
  <span className={classes(ui.flexRow, ui.gap12, ui.tiny, ui.soft, ui.hideOnPhone)}>
    <span className={chartsStyles.legendEntry} style={{ '--c': 'var(--c2)' }}>
      within limits
    </span>
    {withOption && (
      <span className={chartsStyles.legendEntry} style={{ '--c': 'var(--c1)' }}>
        allowed by the option
      </span>
    )}
    <span className={chartsStyles.legendEntry} style={{ '--c': 'var(--line-strong)' }}>
      outside
    </span>
  </span>
)
