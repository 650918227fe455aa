/** The items of a collection as frames of a timelapse: one for each day. */
import type { Item, ItemFeature } from '../../../api/contract.ts'
import type { Box } from '../../../map/geo.ts'
import { foundItem } from '../../../state/found-item.ts'

type FrameItem = Pick<Item, 'id' | 'datetime' | 'bbox' | 'properties'>

export interface Frame {
  /** `2026-11-18`, in UTC. */
  day: string
  /** Scenes of the same day are shown together. */
  items: readonly FrameItem[]
}

/** How many frames a file has at most. */
export const MAX_EXPORTED = 60

/** Frames per second. Three is the most that is safe for people with photosensitivity (WCAG 2.3.1). */
export const SPEEDS = ['0.5', '1', '2', '3'] as const
export type Speed = (typeof SPEEDS)[number]

export const speedOf = (text: string | undefined): Speed => SPEEDS.find((speed) => speed === text) ?? '1'

export const speedText = (speed: Speed): string => `${speed} ${speed === '1' ? 'date' : 'dates'}/s`

/** How long a frame is shown: never less than a third of a second. */
export const frameMsOf = (speed: Speed): number => Math.ceil(1000 / Number(speed))

const isBox = (box: readonly number[] | null): box is Box => box?.length === 4

/** Boxes over the date line have a west that is greater than their east. */
function overlaps(one: Box, other: Box): boolean {
  const [west, south, east, north] = one
  if (south >= other[3] || other[1] >= north) return false
  const spans = ([from, , to]: Box): [number, number][] =>
    from <= to
      ? [[from, to]]
      : [
          [from, 180],
          [-180, to],
        ]
  return spans([west, south, east, north]).some(([from, to]) => spans(other).some(([start, end]) => from < end && start < to))
}

/** In order of their days; items without a date, or elsewhere than `place`, are left out. */
export function framesOf(items: readonly FrameItem[], place: readonly number[] | null): Frame[] {
  const days = new Map<string, FrameItem[]>()
  for (const item of items) {
    if (item.datetime === null) continue
    if (isBox(place) && isBox(item.bbox) && !overlaps(place, item.bbox)) continue
    const day = dayOf(item.datetime)
    days.set(day, [...(days.get(day) ?? []), item])
  }
  return [...days]
    .map(([day, ofDay]) => ({ day, items: ofDay.toSorted((one, other) => one.datetime!.localeCompare(other.datetime!)) }))
    .toSorted((one, other) => one.day.localeCompare(other.day))
}

const dayOf = (datetime: string): string => new Date(datetime).toISOString().slice(0, 'yyyy-mm-dd'.length)

/** The frame of a day, or the one closest to it; 0 for text that is not a day. */
export function indexOfDay(frames: readonly Frame[], day: string | null | undefined): number {
  const time = Date.parse(day ?? '')
  if (Number.isNaN(time)) return 0
  const apart = frames.map((frame) => Math.abs(Date.parse(frame.day) - time))
  return Math.max(0, apart.indexOf(Math.min(...apart)))
}

/** At most `count` of the frames, the first and the last among them, in even steps. */
export function evenly<T>(frames: readonly T[], count: number): T[] {
  if (frames.length <= count) return [...frames]
  return Array.from({ length: count }, (_, index) => frames[Math.round((index * (frames.length - 1)) / (count - 1))]!)
}

/** IDs of the items that have an asset of this key. */
export const withAsset = (features: readonly ItemFeature[], key: string): ReadonlySet<string> =>
  new Set(features.filter(({ assets }) => Object.hasOwn(assets, key)).map((feature) => foundItem(feature).id))
