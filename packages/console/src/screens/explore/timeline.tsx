/** Scenes by day, stacked by cloud cover: dates are chosen by brushing or with two handles, and the period can be zoomed. */
import { useState, type ReactElement } from 'react'
import { EDGES, useRangeHandles } from '../../parts/use-range-handles.ts'
import type { Scene } from '../../state/scene.ts'
import { count, date, dateShort, plural } from '../../ui/format.ts'
import { Icon } from '../../ui/icons.tsx'
import { Button } from '../../ui/kit.ts'
import {
  BINS,
  CLOUD_LIMITS,
  DAY_MS,
  datedOf,
  dayOf,
  daysOf,
  firstPeriod,
  periodOf,
  rangeOf,
  timelineOf,
  type Period,
  type Timeline as TimelineData,
} from './timeline-bins.ts'
import { useTimelineGestures, ZOOM_STEP } from './use-timeline-gestures.ts'
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
  const [chosen, setChosen] = useState<Period | null>(null)
  const [isShown, setShown] = useState(false)
  const dated = datedOf(parts.scenes)
  const all = periodOf(dated, parts.from, parts.to)
  if (!all) return null
  const period = chosen ?? firstPeriod(all, parts.from)
  return (
    <>
      <Button className={styles.toggle} icon="clock" size="s" aria-expanded={isShown} onClick={() => setShown(!isShown)}>
        Timeline
      </Button>
      <TimelineChart {...parts} all={all} timeline={timelineOf(dated, period)} isShown={isShown} onPeriod={setChosen} />
    </>
  )
}

interface ChartParts extends TimelineParts {
  /** Of all scenes; the timeline shows a part of it. */
  all: Period
  timeline: TimelineData
  /** On a phone, where it has to be opened. */
  isShown: boolean
  onPeriod(period: Period | null): void
}

function TimelineChart({ scenes, from, to, selected, onChange, all, timeline, isShown, onPeriod }: ChartParts): ReactElement {
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
  const { brush, zoom, surface } = useTimelineGestures({
    chart,
    period: timeline,
    all,
    onPeriod,
    onBrush: ([low, high]) => onChange(dayOf(low), dayOf(high)),
  })
  const marked = brush ?? shown
  const x = (ms: number) => Math.max(0, Math.min(1, (ms - start) / (end - start))) * WIDTH
  return (
    <div className={classes(mapSlotStyles.floating, styles.panel, isShown && styles.shown)}>
      <Summary scenes={scenes} shown={marked} />
      <svg
        ref={chart}
        className={styles.timeline}
        viewBox={`0 0 ${WIDTH} ${HEIGHT + 14}`}
        preserveAspectRatio="none"
        role="group"
        tabIndex={0}
        aria-label={`Timeline of ${plural(datedOf(scenes).length, 'scene')}. Plus and minus zoom, arrows move.`}
        {...surface}
      >
        <rect width={WIDTH} height={HEIGHT} fill="transparent" />
        <rect x={x(marked[0])} y={0} width={Math.max(0, x(marked[1]) - x(marked[0]))} height={HEIGHT} fill="var(--accent-tint)" />
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
            aria-valuenow={Math.round((Math.max(start, Math.min(end, shown[edge])) - start) / DAY_MS)}
            aria-valuetext={dateShort(dayOf(shown[edge]))}
            {...handle(edge)}
          >
            <Handle x={x(shown[edge])} />
          </g>
        ))}
      </svg>
      <Axis timeline={timeline} />
      <Tools
        hasDates={Boolean(from || to)}
        zoom={zoom}
        onAll={() => {
          onPeriod(null)
          onChange('', '')
        }}
      />
    </div>
  )
}

const LONG_DAYS = 300

/** Dates below the chart, and how many scenes are outside of it. */
function Axis({ timeline: { start, end, before, after } }: { timeline: TimelineData }): ReactElement {
  const text = end - start > LONG_DAYS * DAY_MS ? date : dateShort
  return (
    <div className={classes(ui.flexRow, ui.between, ui.faint, ui.tiny, ui.numeric)}>
      {[0, 1 / 3, 2 / 3, 1].map((share) => (
        <span key={share}>
          {share === 0 && before > 0 && `${count(before)} earlier, `}
          {text(dayOf(start + share * (end - start)))}
          {share === 1 && after > 0 && `, ${count(after)} later`}
        </span>
      ))}
    </div>
  )
}

function Tools({ hasDates, zoom, onAll }: { hasDates: boolean; zoom(factor: number): void; onAll(): void }): ReactElement {
  return (
    <div className={classes(mapSlotStyles.toolbar, mapSlotStyles.horizontal, styles.tools)}>
      <button type="button" aria-label="Show fewer days" title="Show fewer days" onClick={() => zoom(1 / ZOOM_STEP)}>
        <Icon name="zoomin" />
      </button>
      <button type="button" aria-label="Show more days" title="Show more days" onClick={() => zoom(ZOOM_STEP)}>
        <Icon name="zoomout" />
      </button>
      {hasDates && (
        <button type="button" aria-label="Clear dates" title="Clear dates" onClick={onAll}>
          <Icon name="x" />
        </button>
      )}
    </div>
  )
}

/** The dates between the handles, how many scenes these are, and what the colours mean. */
function Summary({ scenes, shown: [low, high] }: { scenes: readonly Scene[]; shown: readonly [number, number] }): ReactElement {
  const dated = datedOf(scenes)
  const inside = dated.filter(({ datetime }) => Date.parse(datetime) >= low && Date.parse(datetime) <= high)
  return (
    <div className={classes(ui.flexRow, ui.between, ui.small, styles.summary)}>
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
