/** The shared map inside a card. Everything on it is also in the list beside it. */
import { useEffect, type ReactElement, type ReactNode } from 'react'
import { boxOf, type Box, type Position } from '../../map/geo.ts'
import { MapSlot } from '../../map/map-slot.tsx'
import { sharedMap } from '../../map/shared-map.ts'
import { classes } from '../../ui/classes.ts'
import styles from './card-map.module.css'

interface Shape {
  id: string
  geometry: GeoJSON.Geometry | null
  colour?: string
}

interface CardMapParts {
  label: string
  /** The area of interest, in amber. */
  area?: GeoJSON.Geometry | null
  shapes?: readonly Shape[]
  /** Items whose tiles lie under the shapes. */
  items?: readonly { id: string; box: Box }[]
  pictures?: readonly { id: string; url: string; corners: [Position, Position, Position, Position] }[]
  className?: string
  /** Floats over the map, for example tools. */
  children?: ReactNode
}

const PADDING = { top: 26, left: 26, right: 52, bottom: 30 }
/** The height of the tools at the upper edge. */
const TOOLS_PX = 62

export const collectionOf = (geometries: readonly (GeoJSON.Geometry | null | undefined)[]): GeoJSON.Geometry => ({
  type: 'GeometryCollection',
  geometries: geometries.filter((geometry) => geometry != null),
})

export function CardMap({ label, children, className = styles.wide, ...layers }: CardMapParts): ReactElement {
  const { area = null, shapes = [], items = [], pictures = [] } = layers
  const shapeKey = JSON.stringify(shapes)
  const itemKey = items.map(({ id }) => id).join()
  const areaKey = JSON.stringify(area)
  const box = boxOf(collectionOf([area, ...shapes.map(({ geometry }) => geometry)]))
  const boxKey = box?.map((value) => value.toFixed(4)).join()
  useEffect(() => {
    const { map } = sharedMap()
    const isTouch = matchMedia('(pointer: coarse)').matches
    map.scrollZoom.disable() // Scrolling the page must not zoom the map.
    if (isTouch) map.dragPan.disable()
    return () => {
      map.scrollZoom.enable()
      map.dragPan.enable()
    }
  }, [])
  // oxlint-disable-next-line exhaustive-deps
  useEffect(() => sharedMap().setFootprints(shapes), [shapeKey])
  // oxlint-disable-next-line exhaustive-deps
  useEffect(() => sharedMap().setArea(area), [areaKey])
  // oxlint-disable-next-line exhaustive-deps
  useEffect(() => sharedMap().setPictures([...pictures]), [pictures.map(({ url }) => url).join()])
  useEffect(() => {
    sharedMap().setRasters(
      items.map(({ id, box: bounds }) => ({
        id: `item-${id}`,
        tiles: `${location.origin}/api/v1/items/${encodeURIComponent(id)}/tiles/{z}/{x}/{y}.webp`,
        bounds,
      })),
    )
    // oxlint-disable-next-line exhaustive-deps
  }, [itemKey])
  useEffect(() => {
    sharedMap().map.resize()
    sharedMap().fit(box, { animate: false, padding: children ? { ...PADDING, top: TOOLS_PX } : PADDING, maxZoom: 15 })
    // oxlint-disable-next-line exhaustive-deps
  }, [boxKey])
  return (
    <div className={classes(styles.cardMap, className)} role="region" aria-label={label}>
      <MapSlot className={styles.mapSlot}>{children}</MapSlot>
    </div>
  )
}
