/** Scenes chosen for an order, each with its area. Kept in this browser, so that they survive a sign-out, and on the service. */
import type { AreaShape } from '../map/geo.ts'
import { createStore } from '../store.ts'
import type { Scene } from './scene.ts'

const MAX_SCENES = 100

export interface ChosenScene extends Scene {
  /** The part to order; null for the whole scene. */
  area: AreaShape | null
}

const cart = createStore<readonly ChosenScene[]>([], {
  key: 'gt-cart',
  read: (text) => JSON.parse(text) as ChosenScene[],
  write: JSON.stringify,
})
const save = (next: readonly ChosenScene[]) => cart.set(next.slice(0, MAX_SCENES))

export const useCart = cart.use
export const currentCart = cart.get
export const onCart = cart.subscribe

export function toggleInCart(scene: Scene, area: AreaShape | null): void {
  if (cart.get().some(({ key }) => key === scene.key)) removeFromCart(scene.key)
  else save([...cart.get(), { ...scene, area }])
}

export const removeFromCart = (key: string) => save(cart.get().filter((scene) => scene.key !== key))
export const clearCart = () => save([])
export const replaceCart = save

/** A chosen scene as the input of an order. */
export const captureOf = ({ id, host, area, geometry }: ChosenScene) => ({
  id,
  host,
  geometry: (area ?? geometry ?? {}) as GeoJSON.Geometry,
})
