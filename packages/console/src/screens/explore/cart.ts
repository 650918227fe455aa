/** Scenes chosen for an order. Kept in this browser, so that they survive a reload and a sign-out. */
import { useSyncExternalStore } from 'react'
import type { Scene } from './scenes.ts'

const KEPT = 'gt-cart'
const MAX_SCENES = 100
const listeners = new Set<() => void>()
let cart: readonly Scene[] = read()

function read(): readonly Scene[] {
  try {
    return JSON.parse(localStorage.getItem(KEPT) ?? '[]') as Scene[]
  } catch {
    return []
  }
}

function keep(next: readonly Scene[]): void {
  cart = next.slice(0, MAX_SCENES)
  localStorage.setItem(KEPT, JSON.stringify(cart))
  for (const listener of listeners) listener()
}

export function useCart(): readonly Scene[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => cart,
  )
}

export function toggleInCart(scene: Scene): void {
  keep(cart.some(({ key }) => key === scene.key) ? cart.filter(({ key }) => key !== scene.key) : [...cart, scene])
}

export const emptyCart = () => keep([])
