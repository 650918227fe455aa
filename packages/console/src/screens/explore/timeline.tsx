/** Scenes by day, stacked by cloud cover, with two handles for the dates. */
import type { ReactElement } from 'react'
import { EDGES, useRangeHandles } from '../../parts/use-range-handles.ts'
import type { Scene } from '../../state/scene.ts'
import { dateShort, plural } from '../../ui/format.ts'
import { BINS, CLOUD_LIMITS, DAY_MS, datedOf, dayOf, daysOf, rangeOf, timelineOf, type Timeline as TimelineData } from './timeline-bins.ts'
import { classes } from '../../ui/classes.ts'
import mapSlotStyles from '../../map/map-slot.module.css'
import styles from './timeline.module.css'
import chartsStyles from '../../ui/charts.module.css'
import ui from '../../ui/ui.module.css'

const HEIGHT = 46
const WIDTH = 720
/** Of a handle; at least 24 px also where the chart is drawn at half its width. */
const TARGET = 48
const CLOUD_CLASSES = [
  { colour: 'var(--c1)', text: `Cloud ≤ ${CLOUD_LIMITS[0]}%` },
  { colour: 'color-mix(in srgb, var(--c1) 50%, var(--raised))', text: `≤ ${CLOUD_LIMITS[1]}%` },
  { colour: 'var(--line-strong)', text: `> ${CLOUD_LIMITS[1]}%` },
] as const
const LABELS = ['First day', 'Last day'] as const

interface TimelineParts {
  scenes: readonly Scene[]
  from: string
  to: string
  selected: Scene | null
  onChange(from: string, to: string): void
}

export function Timeline(parts: TimelineParts): ReactElement | null {
  const timeline = timelineOf(datedOf(parts.scenes), parts.from, parts.to)
  return timeline && <TimelineChart {...parts} timeline={timeline} />
}

function TimelineChart({ scenes, from, to, selected, onChange, timeline }: TimelineParts & { timeline: TimelineData }): ReactElement {
  const { start, end } = timeline
  const range = rangeOf(timeline, from, to)
  const { chart, shown, handle } = useRangeHandles({
    range,
    low: start,
    high: end,
    step: DAY_MS,
    pageStep: 7 * DAY_MS,
    onMove(edge, value) {
      const next = range.with(edge, value) as [number, number]
      if (next[0] < next[1]) onChange(...daysOf(timeline, next))
    },
  })
  const x = (ms: number) => ((ms - start) / (end - start)) * WIDTH
  return (
    <div className={classes(mapSlotStyles.floating, styles.panel)}>
      <Summary scenes={scenes} shown={shown} />
      <svg
        ref={chart}
        className={styles.timeline}
        viewBox={`0 0 ${WIDTH} ${HEIGHT + 14}`}
        preserveAspectRatio="none"
        role="group"
        aria-label={`Timeline of ${plural(datedOf(scenes).length, 'scene')}`}
      >
        <rect x={x(shown[0])} y={0} width={Math.max(0, x(shown[1]) - x(shown[0]))} height={HEIGHT} fill="var(--accent-tint)" />
        <Bars timeline={timeline} />
        {selected?.datetime && <path d={`M${x(Date.parse(selected.datetime)) - 4} 0h8l-4 6z`} fill="var(--signal)" />}
        {EDGES.map((edge) => (
          <g
            key={edge}
            className={chartsStyles.dragHandle}
            tabIndex={0}
            role="slider"
            aria-label={LABELS[edge]}
            aria-valuemin={0}
            aria-valuemax={Math.round((end - start) / DAY_MS)}
            aria-valuenow={Math.round((shown[edge] - start) / DAY_MS)}
            aria-valuetext={dateShort(dayOf(shown[edge]))}
            {...handle(edge)}
          >
            <Handle x={x(shown[edge])} />
          </g>
        ))}
      </svg>
      <div className={classes(ui.flexRow, ui.between, ui.faint, ui.tiny, ui.numeric)}>
        {[0, 1 / 3, 2 / 3, 1].map((share) => (
          <span key={share}>{dateShort(dayOf(start + share * (end - start)))}</span>
        ))}
      </div>
    </div>
  )
}

/** The dates between the handles, how many scenes these are, and what the colours mean. */
function Summary({ scenes, shown: [low, high] }: { scenes: readonly Scene[]; shown: readonly [number, number] }): ReactElement {
  const dated = datedOf(scenes)
  const inside = dated.filter(({ datetime }) => Date.parse(datetime) >= low && Date.parse(datetime) <= high)
  return (
    <div className={classes(ui.flexRow, ui.between, ui.small)}>
      <span>
        <b>
          {dateShort(dayOf(low))} to {dateShort(dayOf(Math.max(low, high - DAY_MS)))}
        </b>{' '}
        <span className={ui.soft}>
          {inside.length} of {plural(dated.length, 'scene')}
        </span>
      </span>
      <span className={classes(ui.flexRow, ui.gap12, ui.soft, ui.tiny)}>
        {CLOUD_CLASSES.map(({ colour, text }) => (
          <span key={text} className={chartsStyles.legendEntry} style={{ '--c': colour }}>
            {text}
          </span>
        ))}
      </span>
    </div>
  )
}

function Bars({ timeline: { bins, tallest } }: { timeline: TimelineData }): ReactElement {
  const width = WIDTH / BINS
  return (
    <>
      {bins.flatMap((bin, index) => {
        let top = HEIGHT
        return bin.map((amount, cloudClass) => {
          const height = (amount / tallest) * (HEIGHT - 4)
          top -= height
          const key = `${index}-${cloudClass}`
          const fill = CLOUD_CLASSES[cloudClass]!.colour
          return height > 0 && <rect key={key} x={(index + 0.15) * width} y={top} width={width * 0.7} height={height} fill={fill} />
        })
      })}
    </>
  )
}

const Handle = ({ x }: { x: number }): ReactElement => (
  <>
    <rect x={x - TARGET / 2} y={0} width={TARGET} height={HEIGHT} fill="transparent" />
    <rect x={x - 1} y={0} width={2} height={HEIGHT} fill="var(--accent)" />
    <rect x={x - 4} y={HEIGHT / 2 - 9} width={8} height={18} rx={3} fill="var(--surface)" stroke="var(--accent)" strokeWidth={2} />
  </>
)
