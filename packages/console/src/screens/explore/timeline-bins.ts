/** Scenes by time and cloud cover, as a timeline draws them. */
import type { Scene } from '../../state/scene.ts'

export const DAY_MS = 86_400_000
export const BINS = 72
/** Cloud cover in percent up to which a scene belongs to each class. */
export const CLOUD_LIMITS = [10, 40, 100] as const
const MIN_DAYS = 8

export type DatedScene = Scene & { datetime: string }
/** Scenes of each cloud class. */
type Bin = [clear: number, partly: number, cloudy: number]

export interface Timeline {
  start: number
  end: number
  bins: readonly Bin[]
  tallest: number
}

export const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10)
export const datedOf = (scenes: readonly Scene[]) => scenes.filter((scene): scene is DatedScene => scene.datetime !== null)

/** Covers all scenes and the chosen days, with a day to spare; null without either. */
export function timelineOf(scenes: readonly DatedScene[], from: string, to: string): Timeline | null {
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
  const end = Math.max(start + MIN_DAYS * DAY_MS, last + DAY_MS)
  const bins = Array.from({ length: BINS }, (): Bin => [0, 0, 0])
  for (const { datetime, cloud } of scenes) {
    const bin = Math.floor(((Date.parse(datetime) - start) / (end - start)) * BINS)
    const cloudClass = CLOUD_LIMITS.findIndex((limit) => (cloud ?? 0) <= limit)
    bins[Math.max(0, Math.min(BINS - 1, bin))]![cloudClass === -1 ? 2 : (cloudClass as 0 | 1 | 2)]++
  }
  return { start, end, bins, tallest: Math.max(1, ...bins.map(([clear, partly, cloudy]) => clear + partly + cloudy)) }
}

/** The chosen days as the edges of a range; without a choice, the edges of the timeline. */
export const rangeOf = ({ start, end }: Timeline, from: string, to: string): [number, number] => [
  from ? Date.parse(from) : start,
  to ? Date.parse(to) + DAY_MS : end,
]

/** The days of a range; an edge of the timeline is no choice. */
export const daysOf = ({ start, end }: Timeline, [low, high]: readonly [number, number]): [from: string, to: string] => [
  low <= start ? '' : dayOf(low),
  high >= end ? '' : dayOf(high - DAY_MS),
]
