/** Filters that sources cannot search by: they apply to the scenes that were found, in the list and on the map. */
import { SENSORS, type Scene, type Sensor } from '../../state/scene.ts'
import { isRefused, type ScenePrice } from './prices.ts'

interface ListFilters {
  /** Percent of the area that a scene covers at least. */
  cover: number | null
  /** Off-nadir angle in degrees, at most. */
  angle: number | null
  /** A$ that a scene costs over the area, at most. */
  price: number | null
  /** Types of sensors; null for all. */
  sensors: readonly Sensor[] | null
}

type ListFilterUrl = { readonly [name in keyof ListFilters]?: string | undefined }

const CREDITS_PER_AUD = 100
const numberOf = (text: string | undefined) => (text && Number.isFinite(Number(text)) && Number(text) >= 0 ? Number(text) : null)

const isSensor = (name: string): name is Sensor => (SENSORS as readonly string[]).includes(name)

/** Names with dots between them; null if none is known. */
export function sensorsOf(text: string | undefined): Sensor[] | null {
  const names = (text ?? '').split('.').filter(isSensor)
  return names.length > 0 ? names : null
}

export const listFiltersFromUrl = ({ cover, angle, price, sensors }: ListFilterUrl): ListFilters => ({
  cover: numberOf(cover),
  angle: numberOf(angle),
  price: numberOf(price),
  sensors: sensorsOf(sensors),
})

/** What is not known about a scene does not exclude it, except for a price that it turns out not to have. */
export function fitsList(scene: Scene, price: ScenePrice | undefined, { cover, angle, price: most, sensors }: ListFilters): boolean {
  if (cover !== null && scene.covered !== null && Math.round(scene.covered * 100) < cover) return false
  if (sensors !== null && scene.sensor !== null && !sensors.includes(scene.sensor)) return false
  if (angle !== null && scene.offNadir !== null && scene.offNadir > angle) return false
  if (most === null || !scene.isForSale || price === undefined) return true
  return !isRefused(price) && price.billedByVendor === null && price.credits <= most * CREDITS_PER_AUD
}
