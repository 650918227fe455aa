/** What the scenes of a draft cost now, compared with the time when it was saved. */
import { call } from '../api/client.ts'
import { createStore } from '../store.ts'
import { captureOf, type ChosenScene } from './cart.ts'
import type { DraftCapture } from './draft-captures.ts'

/** Null where a scene has no price of its own. */
export type Quotes = ReadonlyMap<string, { credits: number | null; refusal: string | null }>

export async function quote(scenes: readonly ChosenScene[]): Promise<Quotes> {
  if (scenes.length === 0) return new Map()
  const { groups, errors } = await call('orders.archive.estimate', { captures: scenes.map(captureOf), separately: true })
  const quotes = new Map<string, { credits: number | null; refusal: string | null }>()
  for (const { captures, credits } of groups) for (const { id, host } of captures) quotes.set(`${host}/${id}`, { credits, refusal: null })
  for (const { index, reason } of errors) {
    const scene = scenes[index]
    if (scene) quotes.set(scene.key, { credits: null, refusal: reason })
  }
  return quotes
}

export interface PriceChange {
  scene: ChosenScene
  /** Credits; null if the scene had no price. */
  before: number | null
  after: number | null
  /** Why it cannot be ordered any more. */
  refusal: string | null
}

export function changesSince(captures: readonly DraftCapture[], scenes: readonly ChosenScene[], quotes: Quotes): PriceChange[] {
  return scenes.flatMap((scene, index) => {
    const before = captures[index]?.quoted_credits ?? null
    const now = quotes.get(scene.key)
    const [after, refusal] = [now?.credits ?? null, now?.refusal ?? null]
    return before === after && !(refusal && before !== null) ? [] : [{ scene, before, after, refusal }]
  })
}

/** The draft that was opened last, until its order is placed or another is opened. */
export const openedDraft = createStore<{ name: string; changes: readonly PriceChange[] } | null>(null)
