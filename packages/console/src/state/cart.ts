/** Scenes chosen for an order, each with the area that it is wanted for. Kept in this browser, so that they survive a sign-out. */
import { createStore } from '../store.ts'
import type { Scene } from './scene.ts'

const MAX_SCENES = 100

export interface ChosenScene extends Scene {
  /** The part that is wanted; null for the whole scene. */
  area: GeoJSON.Polygon | null
}

const cart = createStore<readonly ChosenScene[]>([], {
  key: 'gt-cart',
  read: (text) => JSON.parse(text) as ChosenScene[],
  write: JSON.stringify,
})
const keep = (next: readonly ChosenScene[]) => cart.set(next.slice(0, MAX_SCENES))

export const useCart = cart.use

export function toggleInCart(scene: Scene, area: GeoJSON.Polygon | null): void {
  if (cart.get().some(({ key }) => key === scene.key)) takeOut(scene.key)
  else keep([...cart.get(), { ...scene, area }])
}

export const takeOut = (key: string) => keep(cart.get().filter((scene) => scene.key !== key))
export const emptyCart = () => keep([])

/** A chosen scene as an order takes it. */
export const captureOf = ({ id, host, area, geometry }: ChosenScene) => ({
  id,
  host,
  geometry: (area ?? geometry ?? {}) as GeoJSON.Geometry,
})
