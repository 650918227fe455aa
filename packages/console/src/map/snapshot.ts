/** What is on the map at this moment, as a picture with its place. */
import { distanceM } from './geodesic.ts'
import type { SharedMap } from './shared-map.ts'

export interface Snapshot {
  canvas: HTMLCanvasElement
  /** West, south, east and north in metres of Web Mercator. */
  bounds: readonly [number, number, number, number]
  /** On the ground, in the middle of the picture. */
  metresPerPixel: number
  /** Who must be named, as the map shows it. */
  attribution: string
}

const WORLD_M = 40_075_016.685_578_488
const TILE_PX = 512

/** Waits until everything in view is drawn. */
export async function takeSnapshot({ map, element }: SharedMap): Promise<Snapshot> {
  if (!map.areTilesLoaded() || map.isMoving()) await map.once('idle')
  const drawn = await new Promise<HTMLCanvasElement>((resolve) => {
    // The drawing is kept only until the frame ends.
    void map.once('render', () => resolve(copyOf(map.getCanvas())))
    map.triggerRepaint()
  })
  const { clientWidth: width, clientHeight: height } = map.getCanvas()
  const { lng, lat } = map.getCenter()
  const metresPerCssPixel = WORLD_M / (TILE_PX * 2 ** map.getZoom())
  const sine = Math.sin((lat * Math.PI) / 180)
  const [x, y] = [(lng / 360) * WORLD_M, (Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI)) * WORLD_M]
  const [halfX, halfY] = [(width / 2) * metresPerCssPixel, (height / 2) * metresPerCssPixel]
  const [left, right] = [map.unproject([width / 2 - 50, height / 2]), map.unproject([width / 2 + 50, height / 2])]
  return {
    canvas: drawn,
    bounds: [x - halfX, y - halfY, x + halfX, y + halfY],
    metresPerPixel: (distanceM([left.lng, left.lat], [right.lng, right.lat]) / 100) * (width / drawn.width),
    attribution: element.querySelector('.maplibregl-ctrl-attrib-inner')?.textContent?.trim() ?? '',
  }
}

function copyOf(source: HTMLCanvasElement): HTMLCanvasElement {
  const copy = document.createElement('canvas')
  copy.width = source.width
  copy.height = source.height
  copy.getContext('2d')!.drawImage(source, 0, 0)
  return copy
}
