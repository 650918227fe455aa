/** Scenes by time and cloud cover, as a timeline draws them, and the period that it shows. */
import type { Scene } from '../../state/scene.ts'

export const DAY_MS = 86_400_000
export const BINS = 72
/** Cloud cover in percent up to which a scene belongs to each class. */
export const CLOUD_LIMITS = [10, 40, 100] as const
const MIN_DAYS = 8
/** What is shown at first. */
const FIRST_DAYS = 90

export type DatedScene = Scene & { datetime: string }
/** Scenes of each cloud class. */
type Bin = [clear: number, partly: number, cloudy: number]

export interface Period {
  start: number
  end: number
}

export interface Timeline extends Period {
  bins: readonly Bin[]
  tallest: number
  /** Scenes outside the period. */
  before: number
  after: number
}

export const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10)
export const datedOf = (scenes: readonly Scene[]) => scenes.filter((scene): scene is DatedScene => scene.datetime !== null)

/** Covers all scenes and the chosen days, with a day to spare; null without either. */
export function periodOf(scenes: readonly DatedScene[], from: string, to: string): Period | null {
  let [first, last] = [from ? Date.parse(from) : Infinity, to ? Date.parse(to) + DAY_MS : -Infinity]
  for (const { datetime } of scenes) {
    first = Math.min(first, Date.parse(datetime))
    last = Math.max(last, Date.parse(datetime))
  }
  // Only one end is chosen, and there are no scenes: that end is all there is.
  if (first === Infinity) first = last
  if (last === -Infinity) last = first
  if (!Number.isFinite(first) || !Number.isFinite(last)) return null
  const start = first - DAY_MS
  return { start, end: Math.max(start + MIN_DAYS * DAY_MS, last + DAY_MS) }
}

/** The last 90 days, and the first chosen day if it is earlier. */
export const firstPeriod = ({ end }: Period, from: string): Period => ({
  start: Math.min(end - FIRST_DAYS * DAY_MS, from ? Date.parse(from) - DAY_MS : Infinity),
  end,
})

/** A period that is not too short and shows no more than there is, or 90 days. */
function within({ start, end }: Period, all: Period): Period {
  const lowest = Math.min(all.start, all.end - FIRST_DAYS * DAY_MS)
  const length = Math.min(all.end - lowest, Math.max(MIN_DAYS * DAY_MS, end - start))
  const shifted = Math.max(lowest, Math.min(all.end - length, start))
  return { start: shifted, end: shifted + length }
}

/** Shorter by `factor` below 1, longer above; what is at `anchor` stays where it is. */
export function zoomed({ start, end }: Period, { factor, anchor, all }: { factor: number; anchor: number; all: Period }): Period {
  const length = Math.max(MIN_DAYS * DAY_MS, (end - start) * factor)
  const share = (anchor - start) / (end - start)
  return within({ start: anchor - share * length, end: anchor + (1 - share) * length }, all)
}

export const moved = ({ start, end }: Period, byMs: number, all: Period): Period => within({ start: start + byMs, end: end + byMs }, all)

export function timelineOf(scenes: readonly DatedScene[], { start, end }: Period): Timeline {
  const bins = Array.from({ length: BINS }, (): Bin => [0, 0, 0])
  let [before, after] = [0, 0]
  for (const { datetime, cloud } of scenes) {
    const bin = Math.floor(((Date.parse(datetime) - start) / (end - start)) * BINS)
    const cloudClass = CLOUD_LIMITS.findIndex((limit) => (cloud ?? 0) <= limit)
    if (bin < 0) before++
    else if (bin >= BINS) after++
    else bins[bin]![cloudClass === -1 ? 2 : (cloudClass as 0 | 1 | 2)]++
  }
  const tallest = Math.max(1, ...bins.map(([clear, partly, cloudy]) => clear + partly + cloudy))
  return { start, end, bins, tallest, before, after }
}

/** The chosen days as the edges of a range; without a choice, the edges of the timeline. */
export const rangeOf = ({ start, end }: Period, from: string, to: string): [number, number] => [
  from ? Date.parse(from) : start,
  to ? Date.parse(to) + DAY_MS : end,
]

/** The days of a range; an edge of the timeline is no choice. */
export const daysOf = ({ start, end }: Period, [low, high]: readonly [number, number]): [from: string, to: string] => [
  low <= start ? '' : dayOf(low),
  high >= end ? '' : dayOf(high - DAY_MS),
]
