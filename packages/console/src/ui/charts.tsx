/** Bars by day, and lines over time: drawn on a canvas by uPlot, with the same numbers in a table beside them. */
import { useEffect, useRef, type ReactElement } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { useTheme } from './theme.ts'
import { count, date, dateShort } from './format.ts'
import styles from './charts.module.css'

interface Series {
  label: string
  /** A token, for example `--c1`. */
  colour: string
  values: readonly (number | null)[]
}

interface ChartParts {
  label: string
  /** Seconds since 1970. */
  times: readonly number[]
  series: readonly Series[]
  kind?: 'bars' | 'line'
  height?: number
}

/** Over more than a year a day needs its year. */
const YEAR_SECONDS = 366 * 86_400

const token = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim()

export function Chart({ label, times, series, kind = 'line', height = 170 }: ChartParts): ReactElement {
  const place = useRef<HTMLDivElement>(null)
  const theme = useTheme()
  useEffect(() => {
    const box = place.current!
    const axis = {
      stroke: token('--faint'),
      grid: { stroke: token('--line'), width: 1 },
      ticks: { show: false },
      font: `11px ${token('--sans')}`,
    }
    const isLong = times.length > 0 && times.at(-1)! - times[0]! > YEAR_SECONDS
    const bars = uPlot.paths.bars!({ size: [0.7, 40] })
    const chart = new uPlot(
      {
        width: box.clientWidth,
        height,
        legend: { show: false },
        cursor: { y: false },
        scales: { x: { time: true } },
        tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
        axes: [
          {
            ...axis,
            space: isLong ? 90 : 64,
            values: (_chart, splits) => splits.map((split) => (isLong ? date : dateShort)(new Date(split * 1000).toISOString())),
          },
          {
            ...axis,
            size: 56,
            values: (_chart, splits) => splits.map((split) => (split >= 1000 ? `${count(split / 1000)}k` : String(split))),
          },
        ],
        series: [
          {},
          ...series.map(({ label: name, colour }) => ({
            label: name,
            stroke: token(colour),
            width: 2,
            points: { show: kind === 'line', size: 6 },
            ...(kind === 'bars' ? { fill: token(colour), paths: bars, width: 0 } : {}),
          })),
        ],
      },
      [[...times], ...series.map(({ values }) => [...values])],
      box,
    )
    const watcher = new ResizeObserver(() => chart.setSize({ width: box.clientWidth, height }))
    watcher.observe(box)
    return () => {
      watcher.disconnect()
      chart.destroy()
    }
  }, [times, series, kind, height, theme])
  return <div ref={place} className={styles.chart} role="img" aria-label={label} />
}
