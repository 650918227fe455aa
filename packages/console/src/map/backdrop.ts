/** What lies behind the imagery of every map: the built-in base map, one of the operator's, or imagery of the organization. */
import { listBaseMaps, type BaseMap } from '../api/base-maps.ts'
import { call } from '../api/client.ts'
import type { Output } from '../api/contract.ts'
import { onSessionEnd } from '../api/session.ts'
import { createStore } from '../store.ts'

/** Null: the built-in base map. */
export type Backdrop = Output<'visualization.backdrop.get'>['backdrop']

const isBackdrop = (value: unknown): value is NonNullable<Backdrop> =>
  typeof value === 'object' && value !== null && 'kind' in value && 'id' in value && typeof value.id === 'string'

/** Kept in this browser too, so that a map starts with it; the service knows it on every device. */
const backdrop = createStore<Backdrop>(null, {
  key: 'gt-backdrop',
  read: (text) => {
    const value: unknown = JSON.parse(text)
    return isBackdrop(value) ? value : null
  },
  write: JSON.stringify,
})
const baseMaps = createStore<readonly BaseMap[]>([])
/** The base map that cannot be used at the moment. */
const unavailable = createStore<string | null>(null)

export const currentBackdrop = backdrop.get
export const onBackdrop = backdrop.subscribe
export const useBackdrop = backdrop.use
export const useBaseMaps = baseMaps.use
export const knownBaseMaps = baseMaps.get
export const useUnavailable = unavailable.use
export const setUnavailable = unavailable.set

const isSame = (a: Backdrop, b: Backdrop) => a?.kind === b?.kind && a?.id === b?.id && a?.name === b?.name

let isRead = false
onSessionEnd(() => {
  isRead = false
  backdrop.set(null) // Imagery of whoever signed out.
})

/** Once for each session, when a map has nothing else to load. */
export async function readBackdrop(): Promise<void> {
  if (isRead) return
  isRead = true
  try {
    const maps = await listBaseMaps()
    baseMaps.set(maps)
    const { backdrop: chosen } = await call('visualization.backdrop.get', {})
    const isKnown = chosen?.kind !== 'map' || maps.some(({ id }) => id === chosen.id)
    const next = isKnown ? chosen : null
    if (!isSame(next, backdrop.get())) backdrop.set(next)
  } catch {
    isRead = false // The built-in map needs nothing.
  }
}

/** Shown at once; whether it could be saved changes nothing about the map. */
export async function chooseBackdrop(next: Backdrop): Promise<void> {
  unavailable.set(null)
  backdrop.set(next)
  await call('visualization.backdrop.set', { backdrop: next && { kind: next.kind, id: next.id } }).catch(() => undefined)
}

/** The name of what lies behind the imagery. */
export function backdropName(chosen: Backdrop, maps: readonly BaseMap[]): string {
  if (chosen === null) return 'Built-in map'
  return chosen.name ?? maps.find(({ id }) => id === chosen.id)?.name ?? 'Base map'
}

/** A template of the tiles of an item or a collection. */
export const imageryTiles = ({ kind, id }: NonNullable<Backdrop>): string =>
  `${location.origin}/api/v1/${kind === 'item' ? 'items' : 'collections'}/${encodeURIComponent(id)}/tiles/{z}/{x}/{y}.webp`
