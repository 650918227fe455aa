/** Scenes by day, stacked by cloud, with two handles that can be dragged or moved by keys. Colour and position both tell. */
import { useRef, useState, type KeyboardEvent, type PointerEvent, type ReactElement } from 'react'
import { dateShort, plural } from '../../ui/format.ts'
import type { Scene } from '../../state/scene.ts'
import { classes } from '../../ui/classes.ts'
import mapSlotStyles from '../../map/map-slot.module.css'
import styles from './explore.module.css'
import chartsStyles from '../../ui/charts.module.css'
import ui from '../../ui/ui.module.css'

const DAY_MS = 86_400_000
const BARS = 72
const HEIGHT = 46
const WIDTH = 720
const CLASSES = [
  { limit: 10, colour: 'var(--c1)', text: 'clear, 10% or less' },
  { limit: 40, colour: 'color-mix(in srgb, var(--c1) 50%, var(--raised))', text: 'up to 40%' },
  { limit: 101, colour: 'var(--line-strong)', text: 'cloudier' },
] as const

interface TimelineParts {
  scenes: readonly Scene[]
  from: string
  to: string
  selected: Scene | null
  onChange(from: string, to: string): void
}

const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10)

export function Timeline({ scenes, from, to, selected, onChange }: TimelineParts): ReactElement | null {
  const dated = scenes.filter(({ datetime }) => datetime !== null)
  const [drag, setDrag] = useState<{ edge: 'from' | 'to'; at: number } | null>(null)
  const chart = useRef<SVGSVGElement>(null)
  const times = dated.map(({ datetime }) => Date.parse(datetime!))
  const first = Math.min(...times, from ? Date.parse(from) : Infinity)
  const last = Math.max(...times, to ? Date.parse(to) + DAY_MS : -Infinity)
  if (!Number.isFinite(first) || !Number.isFinite(last)) return null
  const start = first - DAY_MS
  const span = Math.max(DAY_MS * 8, last + DAY_MS - start)
  const x = (ms: number) => ((ms - start) / span) * WIDTH
  const bins = Array.from({ length: BARS }, () => [0, 0, 0] as [number, number, number])
  for (const scene of dated) {
    const bin = bins[Math.min(BARS - 1, Math.floor(((Date.parse(scene.datetime!) - start) / span) * BARS))]!
    const level = CLASSES.findIndex(({ limit }) => (scene.cloud ?? 0) <= limit)
    bin[level as 0 | 1 | 2]++
  }
  const tallest = Math.max(1, ...bins.map(([a, b, c]) => a + b + c))
  const edges = {
    from: drag?.edge === 'from' ? drag.at : from ? Date.parse(from) : start,
    to: drag?.edge === 'to' ? drag.at : to ? Date.parse(to) + DAY_MS : start + span,
  }
  const inside = dated.filter(({ datetime }) => Date.parse(datetime!) >= edges.from && Date.parse(datetime!) <= edges.to)
  const commit = (next: { from: number; to: number }) =>
    onChange(next.from <= start ? '' : dayOf(next.from), next.to >= start + span ? '' : dayOf(next.to - DAY_MS))
  const timeAt = (event: PointerEvent) => {
    const box = chart.current!.getBoundingClientRect()
    return start + Math.max(0, Math.min(1, (event.clientX - box.left) / box.width)) * span
  }
  const handle = (edge: 'from' | 'to') => ({
    onPointerDown: (event: PointerEvent<SVGGElement>) => {
      event.currentTarget.setPointerCapture(event.pointerId)
      setDrag({ edge, at: edges[edge] })
    },
    onPointerMove: (event: PointerEvent<SVGGElement>) => drag?.edge === edge && setDrag({ edge, at: timeAt(event) }),
    onPointerUp: () => {
      if (drag) commit({ ...edges, [edge]: drag.at })
      setDrag(null)
    },
    onKeyDown: (event: KeyboardEvent) => {
      const step = { ArrowLeft: -1, ArrowRight: 1, PageDown: -7, PageUp: 7 }[event.key]
      if (step === undefined) return
      event.preventDefault()
      commit({ ...edges, [edge]: edges[edge] + step * DAY_MS })
    },
  })
  return (
    <div className={classes(mapSlotStyles.floating, styles.timelineBox)}>
      <div className={classes(ui.flexRow, ui.between, ui.small)}>
        <span>
          <b>
            {dateShort(dayOf(edges.from))} to {dateShort(dayOf(Math.max(edges.from, edges.to - DAY_MS)))}
          </b>{' '}
          <span className={ui.soft}>
            {inside.length} of {plural(dated.length, 'scene')}
          </span>
        </span>
        <span className={classes(ui.flexRow, ui.gap12, ui.soft, ui.tiny)}>
          {CLASSES.map(({ colour, text }) => (
            <span key={text} className={chartsStyles.legendEntry} style={{ '--c': colour }}>
              {text}
            </span>
          ))}
        </span>
      </div>
      <svg
        ref={chart}
        className={styles.timeline}
        viewBox={`0 0 ${WIDTH} ${HEIGHT + 14}`}
        preserveAspectRatio="none"
        role="group"
        aria-label={`Timeline of ${plural(dated.length, 'scene')}`}
      >
        <rect x={x(edges.from)} y={0} width={Math.max(0, x(edges.to) - x(edges.from))} height={HEIGHT} fill="var(--accent-tint)" />
        {bins.map((bin, index) => {
          let top = HEIGHT
          return bin.map((amount, level) => {
            const height = (amount / tallest) * (HEIGHT - 4)
            top -= height
            return (
              height > 0 && (
                <rect
                  key={`${index}-${level}`}
                  x={(index + 0.15) * (WIDTH / BARS)}
                  y={top}
                  width={(WIDTH / BARS) * 0.7}
                  height={height}
                  fill={CLASSES[level]!.colour}
                />
              )
            )
          })
        })}
        {selected?.datetime && <path d={`M${x(Date.parse(selected.datetime)) - 4} 0h8l-4 6z`} fill="var(--signal)" />}
        {(['from', 'to'] as const).map((edge) => (
          <g
            key={edge}
            className={chartsStyles.dragHandle}
            tabIndex={0}
            role="slider"
            aria-label={edge === 'from' ? 'First day' : 'Last day'}
            aria-valuemin={0}
            aria-valuemax={Math.round(span / DAY_MS)}
            aria-valuenow={Math.round((edges[edge] - start) / DAY_MS)}
            aria-valuetext={dateShort(dayOf(edges[edge]))}
            {...handle(edge)}
          >
            <rect x={x(edges[edge]) - 10} y={0} width={20} height={HEIGHT} fill="transparent" />
            <rect x={x(edges[edge]) - 1} y={0} width={2} height={HEIGHT} fill="var(--accent)" />
            <rect
              x={x(edges[edge]) - 4}
              y={HEIGHT / 2 - 9}
              width={8}
              height={18}
              rx={3}
              fill="var(--surface)"
              stroke="var(--accent)"
              strokeWidth={2}
            />
          </g>
        ))}
      </svg>
      <div className={classes(ui.flexRow, ui.between, ui.faint, ui.tiny, ui.numeric)}>
        {[0, 1 / 3, 2 / 3, 1].map((share) => (
          <span key={share}>{dateShort(dayOf(start + share * span))}</span>
        ))}
      </div>
    </div>
  )
}
