/** Scenes chosen for an order, each with the area that it is wanted for. Kept in this browser, so that they survive a sign-out. */
import { useSyncExternalStore } from 'react'
import type { Scene } from './scene.ts'

const KEPT = 'gt-cart'
const MAX_SCENES = 100
const listeners = new Set<() => void>()

export interface ChosenScene extends Scene {
  /** The part that is wanted; null for the whole scene. */
  area: GeoJSON.Polygon | null
}

let cart: readonly ChosenScene[] = read()

function read(): readonly ChosenScene[] {
  try {
    return JSON.parse(localStorage.getItem(KEPT) ?? '[]') as ChosenScene[]
  } catch {
    return []
  }
}

function keep(next: readonly ChosenScene[]): void {
  cart = next.slice(0, MAX_SCENES)
  localStorage.setItem(KEPT, JSON.stringify(cart))
  for (const listener of listeners) listener()
}

export function useCart(): readonly ChosenScene[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => cart,
  )
}

export function toggleInCart(scene: Scene, area: GeoJSON.Polygon | null): void {
  if (cart.some(({ key }) => key === scene.key)) takeOut(scene.key)
  else keep([...cart, { ...scene, area }])
}

export const takeOut = (key: string) => keep(cart.filter((scene) => scene.key !== key))
export const emptyCart = () => keep([])

/** A chosen scene as an order takes it. */
export const captureOf = ({ id, host, area, geometry }: ChosenScene) => ({
  id,
  host,
  geometry: (area ?? geometry ?? {}) as GeoJSON.Geometry,
})
