/** Computes the pixels of a described scene, row by row. */
import type { Canvas } from './canvas.ts'
import { gridOfScene, type SceneDescription } from './describe.ts'
import { footprintMask } from './footprint.ts'
import { readLine, type Grid } from './grid.ts'
import { paletteFor, type Palette } from './materials.ts'
import { hash, levelLimit, points, toU, toV, type Points } from './noise.ts'
import { SENSORS } from './sensors.ts'
import { dayOfYear } from './sun.ts'
import { SurfacePainter } from './surface.ts'
import { ground, type Ground } from './terrain.ts'
import { CLOUD_THRESHOLD, hazeAt, sky, Weather } from './weather.ts'
import { createWorld, type World } from './world.ts'

export type SceneSamples = Uint16Array | Uint8Array | Float32Array

interface RowPainter {
  /** The samples of the next rows, interleaved; `paintRow` fills them. */
  begin(y: number, rows: number): SceneSamples
  paintRow(row: number, at: number): void
}

export const rowPainter = (scene: SceneDescription): RowPainter =>
  scene.bands[0]?.name === CLASSIFICATION.name
    ? new MaskRows(scene)
    : scene.dataType === 'float32'
      ? new ElevationRows(scene)
      : new OpticalRows(scene)

/** The ground of a row and of its two neighbours, each computed once. */
class GroundRows {
  readonly #grid: Grid
  readonly #width: number
  readonly #world: World
  readonly #slots: { row: number; at: Points; ground: Ground }[]

  constructor(scene: SceneDescription, world: World) {
    this.#grid = gridOfScene(scene)
    this.#width = scene.width
    this.#world = world
    this.#slots = [0, 1, 2].map(() => ({ row: NaN, at: points(scene.width), ground: ground(scene.width) }))
  }

  read(row: number): { at: Points; ground: Ground } {
    const slot = this.#slots[(row + 3) % 3]!
    if (slot.row !== row) {
      readLine(slot.at, this.#grid, { column: 0.5, row: row + 0.5, stepX: 1, stepY: 0, count: this.#width })
      this.#world.terrain.read(slot.ground, slot.at)
      slot.row = row
    }
    return slot
  }
}

class ElevationRows implements RowPainter {
  readonly #rows: GroundRows
  readonly #width: number
  #samples = new Float32Array(0)

  constructor(scene: SceneDescription) {
    this.#width = scene.width
    this.#rows = new GroundRows(scene, createWorld(scene.width, scene.gsdM, scene.latitude))
  }

  begin(_y: number, rows: number): Float32Array {
    this.#samples = new Float32Array(rows * this.#width)
    return this.#samples
  }

  /** The sea is at zero. */
  paintRow(row: number, at: number): void {
    const { heightM, coast } = this.#rows.read(row).ground
    for (let i = 0; i < this.#width; i++) this.#samples[at * this.#width + i] = coast[i]! > 0 ? heightM[i]! : 0
  }
}

/** The scene classification of Sentinel-2: 0 outside the footprint, 4 vegetation for all ground, 9 clouds. */
export const CLASSIFICATION = { name: 'scl', role: null, wavelengthUm: null } as const
const CLEAR = 4
const CLOUD = 9

class MaskRows implements RowPainter {
  readonly #scene: SceneDescription
  readonly #grid: Grid
  readonly #weather: Weather
  readonly #at: Points
  readonly #cloud: Float64Array
  #samples = new Uint8Array(0)
  #mask = new Uint8Array(0)

  constructor(scene: SceneDescription) {
    const { width, gsdM, latitude } = scene
    this.#scene = scene
    this.#grid = gridOfScene(scene)
    this.#weather = new Weather({
      capacity: width,
      timeMs: Date.parse(scene.datetime),
      limit: levelLimit(gsdM, latitude),
      sun: { azimuthDeg: scene.sunAzimuthDeg, elevationDeg: scene.sunElevationDeg },
    })
    this.#at = points(width)
    this.#cloud = new Float64Array(width)
  }

  begin(y: number, rows: number): Uint8Array {
    const { width, footprint } = this.#scene
    this.#samples = new Uint8Array(rows * width)
    this.#mask = footprintMask(footprint, this.#grid, { y, count: rows, width }) as Uint8Array<ArrayBuffer>
    return this.#samples
  }

  paintRow(row: number, at: number): void {
    const { width } = this.#scene
    readLine(this.#at, this.#grid, { column: 0.5, row: row + 0.5, stepX: 1, stepY: 0, count: width })
    this.#weather.readClouds(this.#cloud, this.#at)
    for (let i = at * width, column = 0; column < width; i++, column++)
      if (this.#mask[i] !== 0) this.#samples[i] = this.#cloud[column]! > CLOUD_THRESHOLD ? CLOUD : CLEAR
  }
}

const SCALE = 10_000
const MAX_SAMPLE = 16_000
/** The reflectance that is shown as white, and the gamma for dark tones. */
const WHITE = 0.42
const EYE_GAMMA = 0.62

const between = (sample: number, last: number): number => (sample < 1 ? 1 : sample > last ? last : sample)
const encodeReflectance = (reflectance: number): number => between(Math.round(reflectance * SCALE), MAX_SAMPLE)
const encodeForEyes = (reflectance: number): number =>
  between(Math.round(255 * (reflectance <= 0 ? 0 : reflectance / WHITE) ** EYE_GAMMA), 255)

/** Light that remains in the shadow of a cloud. */
const CLOUD_SHADE = 0.36

class OpticalRows implements RowPainter {
  readonly #scene: SceneDescription
  readonly #rows: GroundRows
  readonly #painter: SurfacePainter
  readonly #weather: Weather
  readonly #sky
  readonly #palette: Palette
  readonly #haze: number
  readonly #noise: readonly [number, number]
  readonly #encode: (reflectance: number) => number
  /** The canvas has all bands of the sensor; a scene can be a file with some of them. */
  readonly #sensorBands: number
  readonly #positions: readonly number[]
  readonly #origin: readonly [column: number, row: number]
  #samples: Uint16Array | Uint8Array = new Uint16Array(0)
  #mask = new Uint8Array(0)

  constructor(scene: SceneDescription) {
    const { width, gsdM, latitude, longitude } = scene
    const sensor = SENSORS[scene.sensor]
    const timeMs = Date.parse(scene.datetime)
    const sun = { azimuthDeg: scene.sunAzimuthDeg, elevationDeg: scene.sunElevationDeg }
    const world = createWorld(width, gsdM, latitude)
    this.#scene = scene
    this.#palette = paletteFor(sensor.bands)
    this.#rows = new GroundRows(scene, world)
    this.#painter = new SurfacePainter({
      width,
      gsdM,
      world,
      palette: this.#palette,
      bandCount: sensor.bands.length,
      sun,
      day: dayOfYear(timeMs),
    })
    this.#weather = new Weather({ capacity: width, timeMs, limit: world.limit, sun })
    this.#sky = sky(width)
    this.#haze = hazeAt(toU(longitude), toV(latitude), timeMs)
    this.#noise = sensor.noise
    this.#encode = scene.dataType === 'uint8' ? encodeForEyes : encodeReflectance
    this.#sensorBands = sensor.bands.length
    this.#positions = scene.bands.map(({ name }) => sensor.bands.findIndex((band) => band === name))
    this.#origin = [Math.round(scene.transform[0] / gsdM), Math.round(-scene.transform[3] / gsdM)]
  }

  begin(y: number, rows: number): Uint16Array | Uint8Array {
    const { width, bands, footprint, dataType } = this.#scene
    this.#samples = new (dataType === 'uint8' ? Uint8Array : Uint16Array)(rows * width * bands.length)
    this.#mask = footprintMask(footprint, gridOfScene(this.#scene), { y, count: rows, width }) as Uint8Array<ArrayBuffer>
    return this.#samples
  }

  paintRow(row: number, at: number): void {
    const { width } = this.#scene
    if (!this.#mask.subarray(at * width, (at + 1) * width).includes(255)) return
    const above = this.#rows.read(row - 1)
    const here = this.#rows.read(row)
    const below = this.#rows.read(row + 1)
    this.#painter.paint(here.at, here.ground, above.ground, below.ground)
    this.#weather.read(this.#sky, here.at)
    this.#paintSky(this.#painter.canvas)
    this.#store(this.#painter.canvas, row, at)
  }

  #paintSky(canvas: Canvas): void {
    const { cloud, shade, tops } = this.#sky
    for (let i = 0; i < this.#scene.width; i++) {
      if (shade[i]! > 0) canvas.light(i, 1 - (1 - CLOUD_SHADE) * shade[i]!)
      canvas.over(i, this.#palette.haze, this.#haze, 1)
      if (cloud[i]! > 0) canvas.over(i, this.#palette.cloud, cloud[i]! * 0.985, tops[i]!)
    }
  }

  /** Adds sensor noise and scales as vendors do. Zero is reserved for pixels outside the footprint. */
  #store(canvas: Canvas, row: number, at: number): void {
    const { width, bands, seed } = this.#scene
    const [floor, share] = this.#noise
    const [column, line] = this.#origin // Noise is tied to the ground: a part of a scene has the same noise as the whole.
    const bandCount = bands.length
    const sensorBands = this.#sensorBands
    const start = at * width
    for (let i = 0; i < width; i++) {
      if (this.#mask[start + i] === 0) continue
      for (let b = 0; b < bandCount; b++) {
        const position = this.#positions[b]!
        const value = canvas.values[i * sensorBands + position]!
        const h = hash((column + i) * sensorBands + position, line + row, seed)
        // The sum of two uniform numbers is close enough to a normal distribution, with a deviation of 0.41.
        const bell = ((h & 0xffff) + (h >>> 16)) / 65536 - 1
        this.#samples[(start + i) * bandCount + b] = this.#encode(value + (floor + share * value) * bell * 2.45)
      }
    }
  }
}
