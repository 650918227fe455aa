/** Predicted passes by day and off-nadir angle, as a chart and as a list; those within the limits stand out. */
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

export const STANDARD_DEG = 25
/** Passes are shown up to this angle, to show what a wider limit would gain. */
export const WIDEST_DEG = 45
export const MAX_PASSES = 100

/** A pass whose angle the vendor does not state counts as allowed. */
const isWithin = (offNadirDeg: number | null, limit: number): boolean => offNadirDeg === null || offNadirDeg <= limit

const degrees = (angle: number | null, digits: number): string => (angle === null ? '–' : `${angle.toFixed(digits)}°`)

interface PassParts {
  passes: readonly Pass[]
  from: string
  to: string
  /** Degrees off nadir that the order allows. */
  limit: number
  /** Degrees that the selected option allows, if it differs. */
  optionLimit?: number | null
}

export function Passes({ passes, from, to, limit, optionLimit = null }: PassParts): ReactElement {
  const [start, end] = [Date.parse(from), Math.max(Date.parse(to), Date.parse(from) + DAY_MS)]
  const allowed = optionLimit ?? limit
  const top = Math.max(WIDEST_DEG, limit, allowed)
  const x = (time: number) => LEFT + ((time - start) / (end - start)) * (WIDTH - LEFT - 8)
  const y = (angle: number) => 8 + (angle / top) * (HEIGHT - BOTTOM - 12)
  const inside = passes.filter(({ offNadirDeg }) => isWithin(offNadirDeg, allowed))
  const requested = passes.filter(({ offNadirDeg }) => isWithin(offNadirDeg, limit))
  const drawn = passes.flatMap(({ offNadirDeg, ...pass }) => (offNadirDeg === null ? [] : [{ ...pass, offNadirDeg }]))
  return (
    <div>
      <p className={classes(ui.soft, ui.small)} role="status">
        <b className={ui.numeric}>{inside.length}</b> of {plural(passes.length, 'pass', 'passes')} up to {allowed}° off nadir
        {allowed !== limit && `, ${requested.length} up to the requested ${limit}°`}.
      </p>
      <div className={ui.scrollSideways} tabIndex={0} role="region" aria-label="Passes">
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
          {drawn.map(({ start: at, offNadirDeg, noradId }) => (
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
        <summary>Show list</summary>
        <div className={styles.passList} tabIndex={0} role="region" aria-label="List of passes">
          <table className={classes(tableStyles.table, tableStyles.slim)}>
            <thead>
              <tr>
                <th>Time (UTC)</th>
                <th>Satellite</th>
                <th className={tableStyles.number}>Off nadir</th>
                <th className={tableStyles.number}>Sun elevation</th>
              </tr>
            </thead>
            <tbody>
              {passes.map((pass) => (
                <tr key={`${pass.start}-${pass.noradId}`} className={isWithin(pass.offNadirDeg, allowed) ? '' : ui.faint}>
                  <td>{dateTimeShort(pass.start)}</td>
                  <td>{pass.satellite ?? '–'}</td>
                  <td className={tableStyles.number}>{degrees(pass.offNadirDeg, 1)}</td>
                  <td className={tableStyles.number}>{degrees(pass.sunElevationDeg, 0)}</td>
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
      Within limits
    </span>
    {withOption && (
      <span className={chartsStyles.legendEntry} style={{ '--c': 'var(--c1)' }}>
        Allowed by option
      </span>
    )}
    <span className={chartsStyles.legendEntry} style={{ '--c': 'var(--line-strong)' }}>
      Outside limits
    </span>
  </span>
)
