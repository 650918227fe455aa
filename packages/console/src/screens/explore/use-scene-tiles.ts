import { useCallback, useEffect } from 'react'
import type { CatalogSource } from '../../api/contract.ts'
import { useOp } from '../../api/query.ts'
import { boxOf } from '../../map/geo.ts'
import { sharedMap } from '../../map/shared-map.ts'
import { useTileState, type TileState } from '../../map/use-tile-state.ts'
import type { FoundItem } from '../../state/found-item.ts'
import type { Scene } from '../../state/scene.ts'
import { tileUrl } from '../../state/style.ts'
import { termsOf } from '../../state/terms.ts'
import { bandRolesOf, fullResolutionZoom, stylesOf, tilesIn, type SceneStyle } from './scene-styles.ts'

const LAYER = 'open-scene'

export interface SceneTiles {
  styles: readonly SceneStyle[]
  /** Null if the scene cannot be rendered. */
  style: SceneStyle | null
  state: TileState
  /** A template of the tiles of any open scene in this style; null if it has none. */
  tilesOf(scene: Scene): string | null
}

interface ShownScene {
  scene: Scene | null
  /** Further scenes on the map, from bottom to top; the scene itself can be one of them. */
  others: readonly Scene[]
  source: CatalogSource | null
  /** The style in the address: the ID of a visualization, or an expression with a colormap. */
  url: Readonly<Record<string, string>>
  /** Shown while no scene is. */
  backdrop: FoundItem | null
}

/** Open scenes on the map at full resolution, rendered from the files of their host. */
export function useSceneTiles({ scene, others, source, url, backdrop }: ShownScene): SceneTiles {
  const collection = source?.collections.find(({ id }) => id === scene?.collection) ?? null
  const isShown = scene?.tiles != null && collection !== null
  const listed = useOp(
    'visualization.list_for',
    { band_roles: bandRolesOf(collection?.bands ?? []), ...(collection ? { data_type: collection.data_type } : {}) },
    { enabled: isShown, staleTime: 300_000 },
  )
  const { style: requested, expr, cmap } = url
  const styles = isShown && listed.data ? stylesOf(listed.data) : []
  const custom = expr ? { id: '', label: 'Expression', expression: expr, colormap: cmap ?? null } : null
  const style = styles.length === 0 ? null : (custom ?? styles.find(({ id }) => id === requested) ?? styles[0]!)
  const styleKey = JSON.stringify(style)
  const tilesOf = useCallback(
    // Scenes of another collection have their own default, because their bands may differ.
    (other: Scene) => (other.tiles === null ? null : tilesIn(other.tiles, other.collection === scene?.collection ? style : null)),
    // oxlint-disable-next-line exhaustive-deps
    [styleKey, scene?.collection],
  )
  const tiles = scene?.tiles && style ? tilesIn(scene.tiles, style) : null
  const keys = others.map(({ key }) => key).join(' ')
  useEffect(() => {
    const layers = [...others.filter(({ key }) => key !== scene?.key), ...(scene && tiles ? [scene] : [])].flatMap((shown) => {
      const bounds = boxOf(shown.geometry)
      const template = shown === scene ? tiles : tilesOf(shown)
      if (!bounds || !template) return []
      const maxzoom = fullResolutionZoom(shown.gsd ?? collection?.gsd ?? null, (bounds[1] + bounds[3]) / 2)
      const id = shown === scene ? LAYER : `${LAYER} ${shown.key}`
      return [{ id, tiles: template, bounds, maxzoom, attribution: shown.terms.attribution }]
    })
    sharedMap().setRasters(layers.length === 0 && backdrop ? [backdropLayer(backdrop)] : layers)
    // oxlint-disable-next-line exhaustive-deps
  }, [tiles, keys, tilesOf, backdrop?.id])
  return { styles, style, state: useTileState(LAYER, tiles), tilesOf }
}

const backdropLayer = ({ id, bbox, properties }: FoundItem) => ({
  id: `newest-${id}`,
  tiles: tileUrl(id, ''),
  attribution: termsOf(properties).attribution,
  ...(bbox ? { bounds: bbox } : {}),
})
