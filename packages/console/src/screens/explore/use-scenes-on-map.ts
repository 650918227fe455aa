import { useEffect } from 'react'
import type { AreaShape } from '../../map/geo.ts'
import { sharedMap, type Picture } from '../../map/shared-map.ts'
import { useCart } from '../../state/cart.ts'
import type { Scene } from '../../state/scene.ts'

interface SceneLayer {
  scenes: readonly Scene[]
  selected: Scene | null
  hovered: string | null
  area: AreaShape | null
  setHovered(key: string | null): void
  pick(scene: Scene | null): void
  /** Previews of scenes without tiles. */
  pictures: readonly Picture[]
}

/** Footprints, the area and the previews that are shown; pointing and clicking select scenes. */
export function useScenesOnMap({ scenes, selected, hovered, area, setHovered, pick, pictures }: SceneLayer): void {
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
  useEffect(() => sharedMap().setPictures(pictures), [pictures])
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
