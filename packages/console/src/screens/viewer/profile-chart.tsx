/** A chart of the values along a line. The place that is pointed at, or chosen with the arrow keys, is marked on the map. */
import { useEffect, useState, type KeyboardEvent, type PointerEvent, type ReactElement } from 'react'
import { sharedMap } from '../../map/shared-map.ts'
import { classes } from '../../ui/classes.ts'
import { distance, value } from '../../ui/format.ts'
import { COLOURS, extentOf, linePath, type ProfileSample } from './profile-scale.ts'
import styles from './profile.module.css'
import ui from '../../ui/ui.module.css'

const SIZE = { width: 1_000, height: 100 }
const LARGE_STEP = 10

interface ProfileChartParts {
  names: readonly string[]
  samples: readonly ProfileSample[]
}

export function ProfileChart({ names, samples }: ProfileChartParts): ReactElement {
  const [at, setAt] = useState<number | null>(null)
  const extent = extentOf(samples)
  const last = samples.length - 1
  const sample = at === null ? null : (samples[Math.min(at, last)] ?? null)
  useEffect(() => {
    sharedMap().setPoints(sample ? [[sample.longitude, sample.latitude]] : [])
    return () => sharedMap().setPoints([])
  }, [sample])
  if (!extent) return <p className={ui.soft}>The line does not cross the image.</p>
  const onPointer = (event: PointerEvent<HTMLElement>) => {
    const { left, width } = event.currentTarget.getBoundingClientRect()
    setAt(Math.max(0, Math.min(last, Math.round(((event.clientX - left) / width) * last))))
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, PageDown: -LARGE_STEP, PageUp: LARGE_STEP, Home: -last, End: last }[event.key]
    if (step === undefined) return
    event.preventDefault()
    event.stopPropagation()
    setAt((before) => Math.max(0, Math.min(last, (before ?? 0) + step)))
  }
  const valuesText = sample
    ? sample.values.map((each, index) => `${names[index]} ${each === null ? 'no data' : value(each)}`).join(', ')
    : ''
  const lengthM = samples[last]!.distance_m
  return (
    <>
      <div className={classes(ui.flexRow, ui.between, ui.tiny, ui.faint, ui.numeric)}>
        <span>{value(extent.high)}</span>
        <span className={ui.soft}>{sample ? `${distance(sample.distance_m)}: ${valuesText}` : 'Point at the chart to see values'}</span>
      </div>
      <div
        className={styles.chart}
        role="slider"
        tabIndex={0}
        aria-label={`Profile of ${names.join(', ')} from ${value(extent.low)} to ${value(extent.high)}`}
        aria-valuemin={0}
        aria-valuemax={Math.round(lengthM)}
        aria-valuenow={Math.round(sample?.distance_m ?? 0)}
        aria-valuetext={sample ? `${distance(sample.distance_m)}: ${valuesText}` : 'Start of the line'}
        onPointerDown={onPointer}
        onPointerMove={onPointer}
        onPointerLeave={() => setAt(null)}
        onKeyDown={onKeyDown}
      >
        <svg viewBox={`0 0 ${SIZE.width} ${SIZE.height}`} preserveAspectRatio="none" aria-hidden="true">
          {names.map((name, band) => (
            <path
              key={name}
              d={linePath(samples, band, extent, SIZE)}
              fill="none"
              stroke={`var(${COLOURS[band]})`}
              strokeWidth="2"
              vectorEffect="non-scaling-stroke"
            />
          ))}
          {sample && (
            <line
              x1={(sample.distance_m / (lengthM || 1)) * SIZE.width}
              x2={(sample.distance_m / (lengthM || 1)) * SIZE.width}
              y1={0}
              y2={SIZE.height}
              stroke="var(--ink)"
              strokeDasharray="3 3"
              vectorEffect="non-scaling-stroke"
            />
          )}
        </svg>
      </div>
      <div className={classes(ui.flexRow, ui.between, ui.tiny, ui.faint, ui.numeric)}>
        <span>{value(extent.low)}, 0 m</span>
        <span>{distance(lengthM)}</span>
      </div>
    </>
  )
}
