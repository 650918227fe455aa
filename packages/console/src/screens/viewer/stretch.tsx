/** Two handles over the range of the values. Dragging shows at once; tiles are asked for on release. */
import { useRef, useState, type KeyboardEvent, type PointerEvent, type ReactElement } from 'react'
import { value as valueText } from '../../ui/format.ts'
import { Segmented } from '../../ui/kit.ts'
import type { Distribution } from './histogram.tsx'
import { classes } from '../../ui/classes.ts'
import styles from './viewer.module.css'
import chartsStyles from '../../ui/charts.module.css'
import fieldStyles from '../../ui/field.module.css'
import ui from '../../ui/ui.module.css'

interface StretchParts {
  min: number
  max: number
  p2: number
  p98: number
  range: [number, number]
  /** CSS background of the ramp below. */
  ramp: string
  histogram: Distribution | null
  onChange(range: [number, number] | null): void
}

const WIDTH = 300
const HEIGHT = 84

export function Stretch({ min, max, p2, p98, range, ramp, histogram, onChange }: StretchParts): ReactElement {
  const [drag, setDrag] = useState<{ index: 0 | 1; at: number } | null>(null)
  const chart = useRef<SVGSVGElement>(null)
  const shown: [number, number] = drag ? (range.with(drag.index, drag.at) as [number, number]) : range
  const low = Math.min(min, ...shown)
  const high = Math.max(max, ...shown)
  const span = high - low || 1
  const x = (at: number) => ((at - low) / span) * WIDTH
  const same = (a: number, b: number) => Math.abs(a - b) < span / 1e4
  const mode = same(range[0], p2) && same(range[1], p98) ? 'percentiles' : same(range[0], min) && same(range[1], max) ? 'whole' : 'own'
  const commit = (index: 0 | 1, at: number) => {
    const next = range.with(index, at) as [number, number]
    if (next[0] < next[1]) onChange(next)
  }
  const valueAt = (event: PointerEvent) => {
    const box = chart.current!.getBoundingClientRect()
    return low + Math.max(0, Math.min(1, (event.clientX - box.left) / box.width)) * span
  }
  const handle = (index: 0 | 1) => ({
    onPointerDown: (event: PointerEvent<SVGGElement>) => {
      event.currentTarget.setPointerCapture(event.pointerId)
      setDrag({ index, at: range[index] })
    },
    onPointerMove: (event: PointerEvent<SVGGElement>) => drag?.index === index && setDrag({ index, at: valueAt(event) }),
    onPointerUp: () => {
      if (drag) commit(index, drag.at)
      setDrag(null)
    },
    onKeyDown: (event: KeyboardEvent) => {
      const step = { ArrowLeft: -1, ArrowRight: 1, PageDown: -10, PageUp: 10 }[event.key]
      if (step === undefined) return
      event.preventDefault()
      commit(index, range[index] + (step * span) / 100)
    },
  })
  const tallest = histogram ? Math.max(1, ...histogram.counts) : 1
  const bin = histogram ? (histogram.high - histogram.low) / histogram.counts.length : 0
  return (
    <div className={classes(ui.flexColumn, ui.gap8)}>
      <div className={classes(ui.flexRow, ui.between)}>
        <h3>Stretch</h3>
        <Segmented
          label="Stretch"
          value={mode}
          onChange={(next) => onChange(next === 'whole' ? [min, max] : next === 'percentiles' ? null : range)}
          options={[
            { value: 'percentiles', text: '2 to 98%' },
            { value: 'whole', text: 'Min, max' },
            { value: 'own', text: 'Own' },
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
        {histogram?.counts.map((amount, index) => {
          const height = Math.sqrt(amount / tallest) * (HEIGHT - 6)
          return (
            <rect
              key={index}
              x={x(histogram.low + index * bin)}
              y={HEIGHT - height}
              width={Math.max(0.5, (bin / span) * WIDTH - 0.6)}
              height={height}
              fill="var(--c1)"
            />
          )
        })}
        <path d={`M0 ${HEIGHT}L${x(shown[0])} ${HEIGHT}L${x(shown[1])} 2L${WIDTH} 2`} fill="none" stroke="var(--faint)" strokeWidth={1} />
        <line x1={0} x2={WIDTH} y1={HEIGHT} y2={HEIGHT} stroke="var(--line-strong)" />
        {([0, 1] as const).map((index) => (
          <g
            key={index}
            className={chartsStyles.dragHandle}
            tabIndex={0}
            role="slider"
            aria-label={index === 0 ? 'Lowest value' : 'Highest value'}
            aria-valuemin={low}
            aria-valuemax={high}
            aria-valuenow={shown[index]}
            {...handle(index)}
          >
            <rect x={x(shown[index]) - 9} y={0} width={18} height={HEIGHT + 14} fill="transparent" />
            <line x1={x(shown[index])} x2={x(shown[index])} y1={0} y2={HEIGHT} stroke="var(--accent)" strokeWidth={2} />
            <path
              d={`M${x(shown[index]) - 6} ${HEIGHT + 13}v-7l6-6l6 6v7z`}
              fill="var(--surface)"
              stroke="var(--accent)"
              strokeWidth={1.6}
            />
          </g>
        ))}
      </svg>
      <div className={styles.ramp} style={{ background: ramp }} />
      <div className={classes(ui.flexRow, ui.between)}>
        <NumberBox key={`low ${shown[0]}`} label="Lowest value" at={shown[0]} onCommit={(at) => commit(0, at)} />
        <span className={classes(ui.faint, ui.tiny)}>
          {valueText(min)} to {valueText(max)} in the item
        </span>
        <NumberBox key={`high ${shown[1]}`} label="Highest value" at={shown[1]} onCommit={(at) => commit(1, at)} />
      </div>
    </div>
  )
}

function NumberBox({ label, at, onCommit }: { label: string; at: number; onCommit(at: number): void }): ReactElement {
  const [text, setText] = useState(String(Number(at.toPrecision(4))))
  const commit = () => {
    const number = Number(text)
    if (text.trim() !== '' && Number.isFinite(number) && number !== at) onCommit(number)
  }
  return (
    <input
      className={classes(fieldStyles.input, fieldStyles.small, fieldStyles.numberBox, ui.numeric)}
      aria-label={label}
      inputMode="decimal"
      value={text}
      onChange={(event) => setText(event.target.value)}
      onBlur={commit}
      onKeyDown={(event) => event.key === 'Enter' && commit()}
    />
  )
}
