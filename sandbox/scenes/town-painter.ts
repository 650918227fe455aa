/** Paints the pixels of towns: streets, roofs with a sunny side, yards with trees, and the shadows of houses. */
import type { Canvas } from './canvas.ts'
import type { Crowns } from './crowns.ts'
import type { Palette } from './materials.ts'
import { chance } from './noise.ts'
import type { Places, Town } from './places.ts'
import { readSpot, urbanSpot, type UrbanSpot } from './streets.ts'

interface TownOptions {
  readonly palette: Palette
  readonly bandCount: number
  readonly gsdM: number
  readonly canvas: Canvas
  readonly crowns: Crowns
  readonly east: number
  readonly south: number
  readonly shadowM: number
}

interface TownStyle {
  readonly i: number
  readonly u: number
  readonly v: number
  /** The position in which the town's streets are straight. */
  readonly bentU: number
  readonly bentV: number
  /** Fine texture, about -1 to 1. */
  readonly fine: number
  readonly green: number
  readonly warmth: number
}

const HOUSE_M = 6
const HALL_M = 8
/** Single trees are drawn at this resolution, shadows at the second. */
const TREE_GSD_M = 1.5
const SHADOW_GSD_M = 4

export class TownPainter {
  readonly #o: TownOptions
  readonly #at: [number, number] = [0, 0]
  readonly #spot: UrbanSpot = urbanSpot()
  readonly #toSun: UrbanSpot = urbanSpot()
  readonly #sum: Float64Array
  #covered = 0

  constructor(options: TownOptions) {
    this.#o = options
    this.#sum = new Float64Array(options.bandCount)
  }

  /** A coarse pixel is the mean of several places in it, so that towns look the same at every resolution. */
  paint(places: Places, index: number, style: TownStyle): void {
    const town = places.towns[index]
    if (!town) return
    const { gsdM, canvas } = this.#o
    const perSide = gsdM <= 1 ? 1 : gsdM <= 4 ? 2 : 4
    places.toStreets(this.#at, town, style.bentU, style.bentV)
    const [x, y] = this.#at
    this.#sum.fill(0)
    this.#covered = 0
    for (let k = 0; k < perSide * perSide; k++) {
      const dx = (((k % perSide) + 0.5) / perSide - 0.5) * gsdM
      const dy = ((Math.floor(k / perSide) + 0.5) / perSide - 0.5) * gsdM
      this.#addSpot(town, x + dx, y + dy, style)
    }
    if (this.#covered > 0) canvas.over(style.i, this.#sum, this.#covered / perSide ** 2, 1 / this.#covered)
  }

  #addSpot(town: Town, x: number, y: number, style: TownStyle): void {
    const { gsdM, shadowM, east, south } = this.#o
    const spot = this.#spot
    readSpot(spot, town, x, y)
    if (spot.kind === 'open') return
    this.#covered++
    const sunX = east * town.cos + south * town.sin
    const sunY = south * town.cos - east * town.sin
    let gain = 1
    if (spot.kind === 'roof') gain = spot.side === 0 ? 1 : 1 + 0.22 * spot.side * (spot.alongY ? sunX : sunY)
    else if (gsdM <= SHADOW_GSD_M) {
      for (let share = 0.45; share < 1; share += 0.5) {
        const reach = shadowM * HOUSE_M * share
        readSpot(this.#toSun, town, x + sunX * reach, y + sunY * reach)
        if (this.#toSun.kind === 'roof') gain = this.#toSun.isLarge && share * HALL_M > HOUSE_M ? 0.45 : 0.5
      }
    }
    this.#add(spot, gain * (1 + (spot.kind === 'roof' ? 0.06 : 0.13) * style.fine), style)
  }

  #add(spot: UrbanSpot, gain: number, style: TownStyle): void {
    const { palette, crowns, gsdM, east, south } = this.#o
    const { kind, tone } = spot
    if (kind === 'street') return this.#mixIn(palette.asphalt, gain * 1.1)
    if (kind === 'car')
      return this.#mixIn(tone < 0.45 ? palette.metalRoof : tone < 0.6 ? palette.tileRoof : palette.slateRoof, gain * (0.55 + tone * 0.6))
    if (kind === 'paved') return this.#mixIn(tone < 0.3 ? palette.track : palette.concrete, gain * 0.8)
    if (kind === 'pool') return this.#mixIn(palette.pool, gain)
    if (kind === 'roof') return this.#mixIn(roofOf(spot, style.warmth, palette), gain * (0.8 + 0.4 * chance(Math.floor(tone * 1e6), 1, 9)))
    const share = kind === 'park' ? 0.5 : 0.22
    if (gsdM <= TREE_GSD_M) {
      crowns.find(style.u, style.v, style.fine)
      if (crowns.isTree(share)) return this.#mixIn(style.green > 0.25 ? palette.broadleaf : palette.bareWood, crowns.light(east, south))
      return this.#yard(style.green, gain * (0.85 + 0.3 * tone))
    }
    this.#yard(style.green, gain * (0.75 + 0.25 * tone))
  }

  /** Lawn as green as the season allows. */
  #yard(green: number, gain: number): void {
    const { palette } = this.#o
    for (let b = 0; b < this.#sum.length; b++)
      this.#sum[b]! += gain * (palette.dryGrass[b]! * (1 - green) * 0.8 + palette.grass[b]! * green)
  }

  #mixIn(spectrum: Float64Array, gain: number): void {
    for (let b = 0; b < this.#sum.length; b++) this.#sum[b]! += spectrum[b]! * gain
  }
}

function roofOf({ isLarge, tone }: UrbanSpot, warmth: number, palette: Palette): Float64Array {
  if (isLarge) return tone < 0.45 ? palette.metalRoof : tone < 0.75 ? palette.concrete : palette.slateRoof
  if (warmth > 21) return tone < 0.4 ? palette.metalRoof : tone < 0.7 ? palette.concrete : palette.tileRoof
  return tone < 0.62 ? palette.tileRoof : tone < 0.9 ? palette.slateRoof : palette.concrete
}
