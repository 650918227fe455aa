/** A map while it is edited: its layers in order, and the groups that they are in. */
import type { Input, Output } from '../../api/contract.ts'

export type SavedMap = Output<'maps.get'>
export type Layer = SavedMap['layers'][number]
export type Group = SavedMap['groups'][number]
export type Annotation = SavedMap['annotations'][number]
export type Blend = Layer['blend']

export interface Draft {
  /** From top to bottom. Layers of a group are next to each other. */
  layers: readonly Layer[]
  groups: readonly Group[]
  annotations: readonly Annotation[]
}

export const draftOf = ({ layers, groups, annotations }: SavedMap): Draft => whole({ layers, groups, annotations })

/** Groups exist as long as they have layers, and stay together where their first layer is. */
function whole({ layers, groups, annotations }: Draft): Draft {
  const known = groups.filter(({ id }) => layers.some(({ group_id }) => group_id === id))
  const isKnown = (id: string | null) => known.some((group) => group.id === id)
  const placed = new Set<string>()
  const ordered = layers.flatMap((layer) => {
    if (!isKnown(layer.group_id)) return [layer.group_id === null ? layer : { ...layer, group_id: null }]
    if (placed.has(layer.group_id!)) return []
    placed.add(layer.group_id!)
    return layers.filter(({ group_id }) => group_id === layer.group_id)
  })
  return { layers: ordered, groups: known, annotations }
}

export const changeLayer = (draft: Draft, id: string, change: Partial<Layer>): Draft =>
  whole({ ...draft, layers: draft.layers.map((layer) => (layer.id === id ? { ...layer, ...change } : layer)) })

export const addLayer = (draft: Draft, layer: Layer): Draft => whole({ ...draft, layers: [layer, ...draft.layers] })

export const removeLayer = (draft: Draft, id: string): Draft => whole({ ...draft, layers: draft.layers.filter((layer) => layer.id !== id) })

export const changeGroup = (draft: Draft, id: string, change: Partial<Group>): Draft => ({
  ...draft,
  groups: draft.groups.map((group) => (group.id === id ? { ...group, ...change } : group)),
})

export const groupLayer = (draft: Draft, id: string, group: Group): Draft =>
  changeLayer({ ...draft, groups: [...draft.groups, group] }, id, { group_id: group.id })

/** One step through the list, in and out of groups. */
export function stepLayer(draft: Draft, id: string, step: -1 | 1): Draft {
  const at = draft.layers.findIndex((layer) => layer.id === id)
  const layer = draft.layers[at]
  const other = draft.layers[at + step]
  if (!layer || (!other && layer.group_id === null)) return draft
  if (other?.group_id === layer.group_id) return whole({ ...draft, layers: swapped(draft.layers, at, at + step) })
  // At the edge of a group it leaves the group; before one, it enters it.
  return changeLayer(draft, id, { group_id: layer.group_id === null ? other!.group_id : null })
}

function swapped(layers: readonly Layer[], a: number, b: number): Layer[] {
  const copy = [...layers]
  ;[copy[a], copy[b]] = [copy[b]!, copy[a]!]
  return copy
}

/** To where another layer is, and into its group. */
export function dropLayer(draft: Draft, id: string, onto: string): Draft {
  const from = draft.layers.findIndex((layer) => layer.id === id)
  const to = draft.layers.findIndex((layer) => layer.id === onto)
  if (from < 0 || to < 0 || from === to) return draft
  const moved = { ...draft.layers[from]!, group_id: draft.layers[to]!.group_id }
  return whole({ ...draft, layers: draft.layers.toSpliced(from, 1).toSpliced(to, 0, moved) })
}

export const isShown = ({ groups }: Draft, { visible, group_id }: Layer): boolean =>
  visible && (groups.find(({ id }) => id === group_id)?.visible ?? true)

type NewLayer = NonNullable<Input<'maps.create'>['layers']>[number]

export const toInput = ({ layers, groups, annotations }: Draft) => ({
  layers: layers.map((layer) => Object.fromEntries(Object.entries(layer).filter(([name]) => name !== 'source_name')) as NewLayer),
  groups: [...groups],
  annotations: [...annotations],
})

export const emptyLayer = (source: Partial<Layer>): Layer => ({
  id: crypto.randomUUID(),
  item_id: null,
  collection_id: null,
  features: null,
  name: null,
  source_name: null,
  group_id: null,
  visible: true,
  opacity: 1,
  blend: 'normal',
  color: null,
  style: null,
  ...source,
})

export const nameOf = ({ name, source_name, features }: Layer): string => name ?? source_name ?? (features ? 'Shapes' : 'Not available')
/** Imagery that was deleted, or is no longer in the project. */
export const isGone = ({ source_name, features }: Layer): boolean => source_name === null && features === null
