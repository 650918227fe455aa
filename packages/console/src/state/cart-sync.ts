/** Keeps the cart of this browser and that of the service alike, so that it is the same on every device of a member. */
import { call } from '../api/client.ts'
import { isProblem } from '../api/problem.ts'
import { encodeArea } from '../map/geo.ts'
import { createStore } from '../store.ts'
import { currentCart, onCart, replaceCart, type ChosenScene } from './cart.ts'
import { captureFrom, chosenFrom } from './draft-captures.ts'

/** What both sides had when they were last alike. */
interface Base {
  /** Member and organization. */
  owner: string
  version: number
  /** Scenes with their areas. */
  names: readonly string[]
}

const base = createStore<Base | null>(null, {
  key: 'gt-cart-base',
  read: (text) => JSON.parse(text) as Base | null,
  write: JSON.stringify,
})

const GATHER_MS = 400
const MAX_TRIES = 3

/** A scene with its area: with another area it is another choice. */
const nameOf = ({ key, area }: Pick<ChosenScene, 'key' | 'area'>) => (area ? `${key} ${encodeArea(area)}` : key)
const namesOf = (scenes: readonly ChosenScene[]) => scenes.map(nameOf)
const isAlike = (a: readonly string[], b: readonly string[]) => a.length === b.length && a.every((name, index) => name === b[index])

/** Both sides may have changed: what either has added is in the result, and what either has removed is not. */
export function merged(before: readonly string[], here: readonly ChosenScene[], there: readonly ChosenScene[]): ChosenScene[] {
  const known = new Set(before)
  const [isHere, isThere] = [new Set(namesOf(here)), new Set(namesOf(there))]
  const kept = [
    ...there.filter((scene) => !isHere.has(nameOf(scene)) && !known.has(nameOf(scene))),
    ...here.filter((scene) => isThere.has(nameOf(scene)) || !known.has(nameOf(scene))),
  ]
  // Of two areas for one scene, that of this device counts.
  return [...new Map(kept.map((scene) => [scene.key, scene])).values()]
}

async function pull(owner: string): Promise<void> {
  const { draft } = await call('orders.drafts.get', {})
  const there = (draft?.captures ?? []).map(chosenFrom)
  const before = base.get()
  // The cart of whoever used this browser before stays theirs, on the service.
  const here = before !== null && before.owner !== owner ? [] : currentCart()
  const next = merged(before?.owner === owner ? before.names : [], here, there)
  base.set({ owner, version: draft?.version ?? 0, names: namesOf(there) })
  if (!isAlike(namesOf(next), namesOf(currentCart()))) replaceCart(next)
}

async function push(owner: string): Promise<void> {
  for (let tried = 0; tried < MAX_TRIES; tried++) {
    const before = base.get()
    const scenes = currentCart()
    if (before?.owner !== owner || isAlike(before.names, namesOf(scenes))) return
    try {
      const { draft } = await call('orders.drafts.save', { captures: scenes.map((scene) => captureFrom(scene)), version: before.version })
      base.set({ owner, version: draft.version, names: namesOf(scenes) })
    } catch (error) {
      if (!isProblem(error, 'draft-changed')) throw error
      await pull(owner) // Another device was faster.
    }
  }
}

/**
 * Until what it returns is called. What cannot be sent now is sent with the next change, or when the page is looked at again.
 */
export function syncCart(owner: string): () => void {
  let isStopped = false
  let timer: ReturnType<typeof setTimeout> | undefined
  let running: Promise<void> = Promise.resolve()
  const run = (work: (owner: string) => Promise<void>) => {
    running = running.then(() => (isStopped ? undefined : work(owner))).catch(() => undefined)
    return running
  }
  const sync = () => void run(pull).then(() => run(push))
  const later = () => {
    clearTimeout(timer)
    timer = setTimeout(() => void run(push), GATHER_MS)
  }
  const onLook = () => {
    if (document.visibilityState === 'visible') sync()
  }
  sync()
  const unsubscribe = onCart(later)
  document.addEventListener('visibilitychange', onLook)
  return () => {
    isStopped = true
    clearTimeout(timer)
    unsubscribe()
    document.removeEventListener('visibilitychange', onLook)
  }
}
