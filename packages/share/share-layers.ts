/** The layers of a shared map: switches in their groups, and what their colours mean. All texts are put in as text. */
import { loadTiles, Refused, type NamedMap, type SharedMapLayer, type Tiles } from './share-api.ts'
import type { DrawnLayer } from './map-layers.ts'
import { showLegend } from './share-legend.ts'
import type { ShareMap } from './share-map.ts'
import { element, make } from './share-panel.ts'

export interface OpenedLayers {
  /** The topmost image that is shown, whose values can be asked for. */
  top(): { tilejson: string; unit: string | null } | null
}

const DEFAULT_COLOUR = '#c2410c'

export async function openLayers(target: NamedMap, map: ShareMap | null, onProblem: (error: unknown) => void): Promise<OpenedLayers> {
  const shown = new Map([...target.groups, ...target.layers].map(({ id, visible }) => [id, visible]))
  const loaded = new Map<string, Tiles>()
  const isShown = (layer: SharedMapLayer) => shown.get(layer.id)! && (layer.group_id === null || (shown.get(layer.group_id) ?? true))
  const annotations = marksOf(target)
  const draw = () => {
    map?.drawLayers(
      target.layers.flatMap((layer) => drawn(layer, loaded.get(layer.id) ?? null, isShown(layer))),
      annotations,
    )
    showLegend(target.layers.filter(isShown).map(({ id, name }) => ({ label: name, legend: loaded.get(id)?.legend ?? null })))
  }
  list(target, shown, draw)
  place(target, map)
  draw()
  await Promise.all(
    target.layers.map(async ({ id, tilejson }) => {
      if (tilejson === null) return
      try {
        loaded.set(id, await loadTiles(tilejson, null))
        draw()
      } catch (error) {
        onProblem(error)
        if (!(error instanceof Refused)) throw error
      }
    }),
  )
  return {
    top() {
      const layer = target.layers.find((each) => each.tilejson !== null && loaded.has(each.id) && isShown(each))
      return layer ? { tilejson: layer.tilejson!, unit: loaded.get(layer.id)!.legend?.unit ?? null } : null
    },
  }
}

const marksOf = ({ annotations }: NamedMap): GeoJSON.FeatureCollection => ({
  type: 'FeatureCollection',
  features: annotations.map(({ geometry, text, color }) => ({
    type: 'Feature',
    properties: { text, colour: color ?? DEFAULT_COLOUR },
    geometry,
  })),
})

/** Nothing until the tiles of an image are known. */
function drawn(layer: SharedMapLayer, tiles: Tiles | null, isVisible: boolean): DrawnLayer[] {
  const { id, opacity, blend, color, features } = layer
  if (!tiles && !features) return []
  const shapes = features && {
    type: 'FeatureCollection' as const,
    features: features.map(({ name, geometry }) => ({ type: 'Feature' as const, properties: { name }, geometry })),
  }
  return [
    {
      id,
      tiles: tiles?.tiles[0] ?? null,
      shapes,
      colour: color ?? DEFAULT_COLOUR,
      opacity,
      isVisible,
      blend,
      bounds: tiles?.bounds ?? null,
      minzoom: tiles?.minzoom ?? 0,
      maxzoom: tiles?.maxzoom ?? 22,
    },
  ]
}

/** Where the map was saved; otherwise all of its images. */
function place({ camera, layers }: NamedMap, map: ShareMap | null): void {
  if (camera) return map?.goTo(camera)
  const boxes = layers.flatMap(({ bbox }) => (bbox && bbox[0] <= bbox[2] ? [bbox] : []))
  if (boxes.length === 0) return
  const edge = (index: 0 | 1 | 2 | 3, pick: (...values: number[]) => number) => pick(...boxes.map((box) => box[index]))
  map?.fit({ bbox: [edge(0, Math.min), edge(1, Math.min), edge(2, Math.max), edge(3, Math.max)] }, true)
}

function list({ layers, groups }: NamedMap, shown: Map<string, boolean>, draw: () => void): void {
  const entry = (id: string, name: string, about: string | null) => {
    const input = make('input', [], { type: 'checkbox' })
    input.checked = shown.get(id)!
    input.addEventListener('change', () => {
      shown.set(id, input.checked)
      draw()
    })
    const texts = [make('strong', name), ...(about ? [make('span', about)] : [])]
    return make('label', [input, make('span', texts, { class: 'text' })])
  }
  const rowOf = ({ id, name, attribution }: SharedMapLayer) => make('li', [entry(id, name, attribution)])
  const placed = new Set<string>()
  const rows = layers.flatMap((layer) => {
    const group = groups.find(({ id }) => id === layer.group_id)
    if (!group) return [rowOf(layer)]
    if (placed.has(group.id)) return []
    placed.add(group.id)
    const members = layers.filter(({ group_id }) => group_id === group.id).map(rowOf)
    return [make('li', [entry(group.id, group.name, null), make('ul', members)], { class: 'group' })]
  })
  element('layer-list').replaceChildren(...rows)
  element('layers').hidden = layers.length === 0
}
