import * as maplibre from '/assets/maplibre-gl.mjs'
import { useEffect, useRef } from 'react'
import { addDetails, baseStyle } from '../../map/base-style.ts'
import { authorizeTiles, sharedMap } from '../../map/shared-map.ts'
import { currentTheme } from '../../ui/theme.ts'

const LAYER = 'b'

/** A second map that follows the shared one and draws one layer of tiles. Returns the ref of its element. */
export function useSecondMap(tiles: string | null) {
  const element = useRef<HTMLDivElement>(null)
  const map = useRef<maplibre.Map | null>(null)
  const ready = useRef<Promise<unknown>>(null)
  useEffect(() => {
    const { map: leader } = sharedMap()
    const follower = new maplibre.Map({
      container: element.current!,
      style: baseStyle(currentTheme()),
      center: leader.getCenter(),
      zoom: leader.getZoom(),
      interactive: false,
      attributionControl: false,
      transformRequest: authorizeTiles,
    })
    follower.getCanvas().setAttribute('aria-hidden', 'true')
    follower.getCanvas().tabIndex = -1
    follower.on('error', () => undefined) // A tile that fails is a gap; it must not fill the console.
    const follow = () => follower.jumpTo({ center: leader.getCenter(), zoom: leader.getZoom() })
    leader.on('move', follow)
    map.current = follower
    ready.current = follower.once('style.load') // Imagery does not wait for the base map.
    follower.once('idle', () => addDetails(follower, currentTheme()))
    return () => {
      leader.off('move', follow)
      follower.remove()
      map.current = null
    }
  }, [])
  useEffect(() => {
    const follower = map.current!
    let isStopped = false
    void ready.current!.then(() => {
      if (isStopped) return
      if (follower.getLayer(LAYER)) follower.removeLayer(LAYER)
      if (follower.getSource(LAYER)) follower.removeSource(LAYER)
      if (!tiles) return
      follower.addSource(LAYER, { type: 'raster', tiles: [tiles.replace('{y}.', '{y}@2x.')], tileSize: 512 })
      follower.addLayer({ id: LAYER, type: 'raster', source: LAYER }, 'above-rasters')
    })
    return () => {
      isStopped = true
    }
  }, [tiles])
  return element
}
