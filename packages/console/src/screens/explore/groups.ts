/** Scenes in groups by source and day, so that a long list is read as a few lines. */
import { coverage, type AreaShape } from '../../map/geo.ts'
import type { Scene } from '../../state/scene.ts'
import { audOfCredits, dateShort, percent, plural } from '../../ui/format.ts'
import { isRefused, type ScenePrice, type ScenePrices } from './prices.ts'

export interface SceneGroup {
  key: string
  /** Source and day. */
  title: string
  scenes: readonly Scene[]
}

/** Larger groups are closed at first. */
const MAX_OPEN = 4

/** In the order of their first scenes, so that groups follow the chosen order too. */
export function groupsOf(scenes: readonly Scene[]): SceneGroup[] {
  const byKey = Map.groupBy(scenes, ({ kind, host, label, datetime, key }) =>
    kind === 'item' ? key : [host, label, datetime?.slice(0, 10) ?? ''].join(' '),
  )
  return Array.from(byKey, ([key, members]) => ({
    key,
    title: `${members[0]!.label}, ${dateShort(members[0]!.datetime)}`,
    scenes: members,
  }))
}

/** Measurements along tracks, which are no images and would bury those. */
export const isTrack = ({ sensor }: Scene): boolean => sensor === 'altimetry'

export const isOpenAtFirst = ({ scenes }: SceneGroup): boolean => scenes.length <= MAX_OPEN

/** '13 scenes, 96% of the area, from A$3.10'. */
export function summaryOf({ scenes }: SceneGroup, area: AreaShape | null, prices: ScenePrices): string {
  const geometries = scenes.flatMap(({ geometry }) => geometry ?? [])
  const covered = area && coverage(area, { type: 'GeometryCollection', geometries })
  return [
    isTrack(scenes[0]!) ? plural(scenes.length, 'track') : plural(scenes.length, 'scene'),
    ...(covered === null || isTrack(scenes[0]!) ? [] : [`${percent(Math.round(covered * 100))} of the area`]),
    ...priceOf(scenes, prices),
  ].join(', ')
}

const hasAmount = (price: ScenePrice | undefined): price is Extract<ScenePrice, { credits: number }> =>
  price !== undefined && !isRefused(price) && price.billedByVendor === null

/** Of one scene: ordered together, scenes can cost less than the sum. */
function priceOf(scenes: readonly Scene[], prices: ScenePrices): string[] {
  if (scenes.every(({ kind }) => kind === 'item')) return []
  if (scenes.every(({ isForSale }) => !isForSale)) return ['free']
  const credits = scenes.map(({ key }) => prices.get(key)).flatMap((price) => (hasAmount(price) ? price.credits : []))
  if (credits.length === 0) return []
  const least = Math.min(...credits)
  return [
    credits.length === scenes.length && least === Math.max(...credits) ? `${audOfCredits(least)} each` : `from ${audOfCredits(least)}`,
  ]
}
