/** Scenes chosen for an order, each with its area. Kept in this browser, so that they survive a sign-out. */
import { createStore } from '../store.ts'
import type { Scene } from './scene.ts'

const MAX_SCENES = 100

export interface ChosenScene extends Scene {
  /** The part to order; null for the whole scene. */
  area: GeoJSON.Polygon | null
}

const cart = createStore<readonly ChosenScene[]>([], {
  key: 'gt-cart',
  read: (text) => JSON.parse(text) as ChosenScene[],
  write: JSON.stringify,
})
const save = (next: readonly ChosenScene[]) => cart.set(next.slice(0, MAX_SCENES))

export const useCart = cart.use

export function toggleInCart(scene: Scene, area: GeoJSON.Polygon | null): void {
  if (cart.get().some(({ key }) => key === scene.key)) removeFromCart(scene.key)
  else save([...cart.get(), { ...scene, area }])
}

export const removeFromCart = (key: string) => save(cart.get().filter((scene) => scene.key !== key))
export const clearCart = () => save([])

/** A chosen scene as the input of an order. */
export const captureOf = ({ id, host, area, geometry }: ChosenScene) => ({
  id,
  host,
  geometry: (area ?? geometry ?? {}) as GeoJSON.Geometry,
})
