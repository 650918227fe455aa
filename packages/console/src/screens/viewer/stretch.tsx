/** Two handles over the range of the values. Dragging shows at once. */
import type { ReactElement } from 'react'
import { EDGES, useRangeHandles, type Edge, type Range } from '../../parts/use-range-handles.ts'
import { value as valueText } from '../../ui/format.ts'
import { Segmented } from '../../ui/kit.ts'
import type { Distribution } from './distribution.ts'
import { NumberBox } from './number-box.tsx'
import { Ramp } from '../../ui/ramp.tsx'
import { chartRange, moveEdge, rangeOf, stretchMode, type ValueRange } from './stretch-range.ts'
import { classes } from '../../ui/classes.ts'
import styles from './stretch.module.css'
import chartsStyles from '../../ui/charts.module.css'
import ui from '../../ui/ui.module.css'

interface StretchParts {
  values: ValueRange
  range: Range
  /** CSS background of the ramp below the chart. */
  ramp: string
  histogram: Distribution | null
  onChange(range: Range | null): void
  /** The range while a handle is dragged; null if it was let go where it cannot be. */
  onPreview(range: Range | null): void
}

const WIDTH = 300
const HEIGHT = 84
const LABELS = ['Minimum', 'Maximum'] as const

export function Stretch({ values, range, ramp, histogram, onChange, onPreview }: StretchParts): ReactElement {
  const [low, high] = chartRange(values, range)
  const span = high - low
  const move = (edge: Edge, value: number) => {
    const next = moveEdge(range, edge, value)
    if (next) onChange(next)
    else onPreview(null)
  }
  const { chart, shown, handle } = useRangeHandles({ range, low, high, step: span / 100, pageStep: span / 10, onMove: move, onPreview })
  const x = (value: number) => ((value - low) / span) * WIDTH
  return (
    <div className={classes(ui.flexColumn, ui.gap8)}>
      <div className={classes(ui.flexRow, ui.between)}>
        <h3>Stretch</h3>
        <Segmented
          label="Stretch"
          value={stretchMode(values, range)}
          onChange={(mode) => onChange(rangeOf(mode, values, range))}
          options={[
            { value: 'percentiles', text: '2–98%' },
            { value: 'minmax', text: 'Min–max' },
            { value: 'custom', text: 'Custom' },
          ]}
        />
      </div>
      <svg
        ref={chart}
        className={styles.stretch}
        viewBox={`0 0 ${WIDTH} ${HEIGHT + 16}`}
        preserveAspectRatio="none"
        role="group"
        aria-label="Range of values"
      >
        {histogram && <Bars histogram={histogram} x={x} />}
        <path d={`M0 ${HEIGHT}L${x(shown[0])} ${HEIGHT}L${x(shown[1])} 2L${WIDTH} 2`} fill="none" stroke="var(--faint)" strokeWidth={1} />
        <line x1={0} x2={WIDTH} y1={HEIGHT} y2={HEIGHT} stroke="var(--line-strong)" />
        {EDGES.map((edge) => (
          <g
            key={edge}
            className={chartsStyles.dragHandle}
            tabIndex={0}
            role="slider"
            aria-label={LABELS[edge]}
            aria-valuemin={low}
            aria-valuemax={high}
            aria-valuenow={shown[edge]}
            {...handle(edge)}
          >
            <Handle x={x(shown[edge])} />
          </g>
        ))}
      </svg>
      <Ramp background={ramp} />
      <div className={classes(ui.flexRow, ui.between)}>
        <NumberBox key={`low ${shown[0]}`} label={LABELS[0]} value={shown[0]} onCommit={(value) => move(0, value)} />
        <span className={classes(ui.faint, ui.tiny, styles.dataRange)}>
          Data range
          <br />
          {valueText(values.min)} to {valueText(values.max)}
        </span>
        <NumberBox key={`high ${shown[1]}`} label={LABELS[1]} value={shown[1]} onCommit={(value) => move(1, value)} />
      </div>
    </div>
  )
}

/** Heights by their square root, so that rare values are seen beside frequent ones. */
function Bars({ histogram: { low, high, counts }, x }: { histogram: Distribution; x(value: number): number }): ReactElement {
  const tallest = Math.max(1, ...counts)
  const bin = (high - low) / counts.length
  return (
    <>
      {counts.map((amount, index) => {
        const height = Math.sqrt(amount / tallest) * (HEIGHT - 6)
        const left = x(low + index * bin)
        const width = Math.max(0.5, x(low + (index + 1) * bin) - left - 0.6)
        return <rect key={index} x={left} y={HEIGHT - height} width={width} height={height} fill="var(--c1)" />
      })}
    </>
  )
}

const Handle = ({ x }: { x: number }): ReactElement => (
  <>
    <rect x={x - 14} y={0} width={28} height={HEIGHT + 14} fill="transparent" />
    <line x1={x} x2={x} y1={0} y2={HEIGHT} stroke="var(--accent)" strokeWidth={2} />
    <path d={`M${x - 6} ${HEIGHT + 13}v-7l6-6l6 6v7z`} fill="var(--surface)" stroke="var(--accent)" strokeWidth={1.6} />
  </>
)
