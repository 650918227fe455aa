import { useEffect } from 'react'
import { cornersOf, type AreaShape } from '../../map/geo.ts'
import { sharedMap } from '../../map/shared-map.ts'
import { useCart } from '../../state/cart.ts'
import type { Scene } from '../../state/scene.ts'
import { pictureOf } from '../../ui/auth-image.tsx'

interface SceneLayer {
  scenes: readonly Scene[]
  selected: Scene | null
  hovered: string | null
  area: AreaShape | null
  setHovered(key: string | null): void
  pick(scene: Scene | null): void
}

/** Footprints, the area and the quicklook of the selected scene; pointing and clicking select scenes. */
export function useScenesOnMap({ scenes, selected, hovered, area, setHovered, pick }: SceneLayer): void {
  const cart = useCart()
  const keys = scenes.map(({ key }) => key).join()
  // oxlint-disable-next-line exhaustive-deps
  useEffect(
    () =>
      sharedMap().setFootprints(
        scenes.map(({ key, geometry }) => ({ id: key, geometry })),
        { isHeatMap: true },
      ),
    [keys],
  )
  useEffect(() => sharedMap().setArea(area), [area])
  useEffect(() => {
    if (area && !new URLSearchParams(location.search).has('map')) sharedMap().fitGeometry(area)
  }, [area])
  useEffect(() => sharedMap().setHovered(hovered), [hovered])
  useEffect(() => sharedMap().setSelected([...(selected ? [selected.key] : []), ...cart.map(({ key }) => key)]), [selected, cart])
  useEffect(() => {
    const corners = selected ? cornersOf(selected.geometry) : null
    // A scene whose tiles are on the map needs no preview.
    const path = selected?.tiles ? null : (selected?.quicklook ?? (selected?.kind === 'catalog' ? selected.thumbnail : null))
    if (!selected || !corners || !path) return sharedMap().setPictures([])
    let stopped = false
    pictureOf(path)
      .then((picture) => {
        if (!stopped) sharedMap().setPictures([{ id: selected.key, url: picture, corners }])
      })
      .catch(() => undefined)
    return () => {
      stopped = true
    }
  }, [selected])
  useEffect(() => {
    const { map } = sharedMap()
    const onMove = ({ point }: { point: { x: number; y: number } }) => setHovered(sharedMap().footprintsAt([point.x, point.y])[0] ?? null)
    const onClick = ({ point }: { point: { x: number; y: number } }) => {
      const under = sharedMap().footprintsAt([point.x, point.y])
      const next = under[(under.indexOf(selected?.key ?? '') + 1) % Math.max(1, under.length)]
      const scene = scenes.find(({ key }) => key === next)
      if (scene) pick(scene)
    }
    map.on('mousemove', onMove)
    map.on('click', onClick)
    return () => {
      map.off('mousemove', onMove)
      map.off('click', onClick)
    }
  }, [scenes, selected, setHovered, pick])
}
