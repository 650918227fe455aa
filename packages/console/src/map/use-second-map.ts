import * as maplibre from '/assets/maplibre-gl.mjs'
import { useEffect, useRef } from 'react'
import { currentTheme } from '../ui/theme.ts'
import { currentBackdrop, onBackdrop } from './backdrop.ts'
import { BackdropLayers } from './backdrop-layers.ts'
import { addDetails, baseStyle } from './base-style.ts'
import { authorizeTiles, sharedMap, type Picture } from './shared-map.ts'

const LAYER = 'b'

/** A second map that follows the shared one and draws one layer of tiles, or one picture. Returns the ref of its element. */
export function useSecondMap(tiles: string | null, picture: Picture | null = null) {
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
    const backdrop = new BackdropLayers(follower)
    const follow = () => follower.jumpTo({ center: leader.getCenter(), zoom: leader.getZoom() })
    leader.on('move', follow)
    map.current = follower
    const started = follower.once('style.load') // Imagery does not wait for the base map.
    ready.current = started
    const showBackdrop = () =>
      void started.then(async () => {
        if (map.current === follower) await backdrop.show(currentBackdrop())
      })
    const stop = onBackdrop(showBackdrop)
    if (currentBackdrop()) showBackdrop()
    follower.once('idle', () => {
      addDetails(follower, currentTheme())
      backdrop.hideBuiltIn()
    })
    return () => {
      stop()
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
      if (tiles) follower.addSource(LAYER, { type: 'raster', tiles: [tiles.replace('{y}.', '{y}@2x.')], tileSize: 512 })
      else if (picture) follower.addSource(LAYER, { type: 'image', url: picture.url, coordinates: picture.corners })
      else return
      follower.addLayer({ id: LAYER, type: 'raster', source: LAYER }, 'above-rasters')
    })
    return () => {
      isStopped = true
    }
  }, [tiles, picture])
  return element
}
