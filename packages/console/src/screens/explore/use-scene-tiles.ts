import { useEffect } from 'react'
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

interface SceneTiles {
  styles: readonly SceneStyle[]
  /** Null if the scene cannot be rendered. */
  style: SceneStyle | null
  state: TileState
}

interface ShownScene {
  scene: Scene | null
  source: CatalogSource | null
  /** The ID of a style, from the address. */
  requested: string | undefined
  /** Shown while no scene is. */
  backdrop: FoundItem | null
}

/** The selected scene on the map at full resolution, rendered from the files of its host. */
export function useSceneTiles({ scene, source, requested, backdrop }: ShownScene): SceneTiles {
  const collection = source?.collections.find(({ id }) => id === scene?.collection) ?? null
  const isShown = scene?.tiles != null && collection !== null
  const listed = useOp(
    'visualization.list_for',
    { band_roles: bandRolesOf(collection?.bands ?? []), ...(collection ? { data_type: collection.data_type } : {}) },
    { enabled: isShown, staleTime: 300_000 },
  )
  const styles = isShown && listed.data ? stylesOf(listed.data) : []
  const style = styles.find(({ id }) => id === requested) ?? styles[0] ?? null
  const tiles = scene?.tiles && style ? tilesIn(scene.tiles, style) : null
  useEffect(() => {
    const bounds = boxOf(scene?.geometry)
    if (!tiles || !scene || !bounds) return sharedMap().setRasters(backdrop ? [backdropLayer(backdrop)] : [])
    const maxzoom = fullResolutionZoom(scene.gsd ?? collection?.gsd ?? null, (bounds[1] + bounds[3]) / 2)
    sharedMap().setRasters([{ id: LAYER, tiles, bounds, maxzoom, attribution: scene.terms.attribution }])
    // oxlint-disable-next-line exhaustive-deps
  }, [tiles, backdrop?.id])
  return { styles, style, state: useTileState(LAYER, tiles) }
}

const backdropLayer = ({ id, bbox, properties }: FoundItem) => ({
  id: `backdrop-${id}`,
  tiles: tileUrl(id, ''),
  attribution: termsOf(properties).attribution,
  ...(bbox ? { bounds: bbox } : {}),
})
