/** Parts and coarser copies of a scene: the same ground, clouds and sun in other pixels. */
import { rasterizeMask } from '#raster/geometry/rasterize.ts'
import type { Position } from '#raster/geometry/polygon.ts'
import { gridOfScene, type SceneDescription } from './describe.ts'
import { bboxOf, polygonsOf, type Footprint } from './footprint.ts'
import { readLine } from './grid.ts'
import { levelLimit, points } from './noise.ts'
import { CLOUD_THRESHOLD, Weather } from './weather.ts'

export interface Window {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** A window of the scene. With a factor, a window of its copy with pixels that many times larger, in pixels of the copy. */
export function windowOf(scene: SceneDescription, { x, y, width, height }: Window, factor = 1): SceneDescription {
  const gsdM = scene.gsdM * factor
  const [west, , , north] = scene.transform
  return { ...scene, gsdM, width, height, transform: [west + x * gsdM, gsdM, 0, north - y * gsdM, 0, -gsdM] }
}

/** The whole scene with at most this many pixels per side. */
export function coarseCopy(scene: SceneDescription, sidePx: number): SceneDescription {
  const factor = Math.max(1, Math.max(scene.width, scene.height) / sidePx)
  return windowOf(scene, { x: 0, y: 0, width: Math.round(scene.width / factor), height: Math.round(scene.height / factor) }, factor)
}

/**
 * The pixels that an area touches, without anything outside the area, and the cloud cover of the area. Above the maximum
 * number of pixels, they become larger. A view that is not limited to the scene shows the surrounding ground as well.
 */
export function cropOf(
  scene: SceneDescription,
  area: Footprint,
  { maxPx = Infinity, isBounded = true }: { maxPx?: number; isBounded?: boolean } = {},
): SceneDescription {
  const positions = inPixels(scene, area).flat(2)
  const spanOf = (axis: 0 | 1, size: number): { from: number; to: number } => {
    const [from, to] = [Math.floor(least(positions, axis)), Math.ceil(-least(positions, axis, -1))]
    if (!isBounded) return { from, to: Math.max(from + 1, to) }
    return { from: Math.max(0, Math.min(size - 1, from)), to: Math.max(1, Math.min(size, to)) }
  }
  const [across, down] = [spanOf(0, scene.width), spanOf(1, scene.height)]
  const [width, height] = [across.to - across.from, down.to - down.from]
  const factor = Math.max(1, Math.ceil(4 * Math.sqrt((width * height) / maxPx)) / 4)
  const x = Math.floor(across.from / factor)
  const y = Math.floor(down.from / factor)
  const window = { x, y, width: Math.ceil(across.to / factor) - x, height: Math.ceil(down.to / factor) - y }
  const shown = { ...windowOf(scene, window, factor), footprint: area, bbox: bboxOf(area) }
  return { ...shown, cloudCover: scene.cloudCover === null ? null : cloudCoverOf(shown) }
}

const least = (positions: readonly Position[], axis: 0 | 1, sign: 1 | -1 = 1): number =>
  positions.reduce((least, at) => Math.min(least, sign * at[axis]), Infinity)

function inPixels(scene: SceneDescription, area: Footprint): Position[][][] {
  const { transform, crs } = gridOfScene(scene)
  return polygonsOf(area).map((polygon) =>
    polygon.map((ring) =>
      ring.map(([east, north]): Position => {
        const [x, y] = crs.forward(east, north)
        return [(x - transform[0]) / transform[1], (y - transform[3]) / transform[5]]
      }),
    ),
  )
}

/** Sample points on the longer side for measuring the cloud cover. */
const CLOUD_SAMPLES = 96

function cloudCoverOf(scene: SceneDescription): number {
  const lattice = coarseCopy(scene, CLOUD_SAMPLES)
  const { width, height, latitude } = lattice
  const sun = { azimuthDeg: scene.sunAzimuthDeg, elevationDeg: scene.sunElevationDeg }
  const weather = new Weather({ capacity: width, timeMs: Date.parse(scene.datetime), limit: levelLimit(scene.gsdM, latitude), sun })
  const inside = rasterizeMask(inPixels(lattice, scene.footprint), { width, height })
  const at = points(width)
  const cover = new Float64Array(width)
  const grid = gridOfScene(lattice)
  let seen = 0
  let cloudy = 0
  for (let row = 0; row < height; row++) {
    readLine(at, grid, { column: 0.5, row: row + 0.5, stepX: 1, stepY: 0, count: width })
    weather.readClouds(cover, at)
    for (let column = 0; column < width; column++) {
      if (inside[row * width + column] === 0) continue
      seen++
      if (cover[column]! > CLOUD_THRESHOLD) cloudy++
    }
  }
  return seen === 0 ? (scene.cloudCover ?? 0) : Math.round((1000 * cloudy) / seen) / 10
}
