import { useEffect, useState } from 'react'
import { layersOn, type DrawnLayer, type MapLayers } from '../../map/map-layers.ts'
import { sharedMap } from '../../map/shared-map.ts'
import { isGone, isShown, type Annotation, type Draft, type Layer } from './draft.ts'

export const DEFAULT_COLOUR = '#c2410c'
/** The service enlarges pixels beyond the resolution of an item. */
const MAX_ZOOM = 22

/** Draws the layers and annotations of a map while its screen is open. */
export function useMapLayers(draft: Draft | null): void {
  const [layers, setLayers] = useState<MapLayers | null>(null)
  useEffect(() => {
    const made = layersOn(sharedMap())
    setLayers(made)
    return () => made.clear()
  }, [])
  useEffect(() => {
    if (!layers || !draft) return
    layers.show(draft.layers.filter((layer) => !isGone(layer)).map((layer) => drawn(draft, layer)))
    layers.annotate({ type: 'FeatureCollection', features: draft.annotations.map(featureOf) })
  }, [layers, draft])
}

function drawn(draft: Draft, layer: Layer): DrawnLayer {
  return {
    id: layer.id,
    tiles: tilesOf(layer),
    shapes: layer.features && {
      type: 'FeatureCollection',
      features: layer.features.map(({ name, geometry }) => ({
        type: 'Feature',
        properties: { name },
        geometry: geometry as unknown as GeoJSON.Geometry,
      })),
    },
    colour: layer.color ?? DEFAULT_COLOUR,
    opacity: layer.opacity,
    isVisible: isShown(draft, layer),
    blend: layer.blend,
    bounds: null,
    minzoom: 0,
    maxzoom: MAX_ZOOM,
  }
}

/** The URL template of a layer of imagery in its style. */
function tilesOf({ item_id, collection_id, style }: Layer): string | null {
  const id = item_id ?? collection_id
  if (id === null) return null
  const named = Object.entries(style ?? {}).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
  const query = new URLSearchParams(named).toString()
  const kind = item_id === null ? 'collections' : 'items'
  return `${location.origin}/api/v1/${kind}/${encodeURIComponent(id)}/tiles/{z}/{x}/{y}.webp${query ? `?${query}` : ''}`
}

const featureOf = ({ geometry, text, color }: Annotation): GeoJSON.Feature => ({
  type: 'Feature',
  properties: { text, colour: color ?? DEFAULT_COLOUR },
  geometry: geometry as unknown as GeoJSON.Geometry,
})
