/** The operator's base maps, which are public: requests have no credential and are no operations. */
import type * as maplibre from '/assets/maplibre-gl.mjs'

export interface BaseMap {
  id: string
  name: string
}

/** A part of a style, whose addresses are paths of this service. */
export interface BaseMapDocument {
  sources: Record<string, maplibre.SourceSpecification>
  layers: maplibre.LayerSpecification[]
  sprites: { id: string; url: string }[]
  attribution: string
}

export async function listBaseMaps(): Promise<readonly BaseMap[]> {
  const response = await fetch('/assets/maps')
  return response.ok ? ((await response.json()) as { maps: BaseMap[] }).maps : []
}

export async function readBaseMap(id: string, theme: string): Promise<BaseMapDocument> {
  const response = await fetch(`/assets/maps/${encodeURIComponent(id)}/style?theme=${theme}`)
  if (!response.ok) throw new Error(`HTTP ${response.status}`)
  return (await response.json()) as BaseMapDocument
}
