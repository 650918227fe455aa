/** Paints rows of the ground: what covers each pixel at a date, lit by the sun. */
import { Canvas, lineCover } from './canvas.ts'
import { forestable, grassGreen, growingDay, seasonC, yearlyMeanC } from './climate.ts'
import { cropOf, appearanceOn, type FieldAppearance } from './crops.ts'
import { Crowns } from './crowns.ts'
import type { Palette } from './materials.ts'
import { chance, clamp01, EARTH_ROUND_M, fractal, mix, points, smooth, toLatitude, type Points } from './noise.ts'
import { parcels } from './parcels.ts'
import { placeRow } from './places.ts'
import type { Sun } from './sun.ts'
import type { Ground } from './terrain.ts'
import { TownPainter } from './town-painter.ts'
import type { World } from './world.ts'

interface SurfaceOptions {
  readonly width: number
  readonly gsdM: number
  readonly world: World
  readonly palette: Palette
  readonly bandCount: number
  readonly sun: Sun
  /** Day of the year, from 0. */
  readonly day: number
}

const SEEDS = { patch: 310, soil: 320, fine: 330, region: 340 } as const
/** Single trees and their shadows are visible below this pixel size. */
const CROWN_GSD_M = 5
const TREE_HEIGHT_M = 11
const HEDGE_HALF_M = 2.6
/** Larger pixels contain several fields: they show the mean of fields, and no villages. */
const FIELD_GSD_M = 100
const MEAN_OF_FIELDS = 24
const NO_ROAD_M = 1e5

/** What the painters of a pixel share. */
interface Spot {
  yearlyC: number
  nowC: number
  wet: number
  slope: number
  green: number
  forest: number
  isTreeShade: boolean
}

export class SurfacePainter {
  readonly canvas: Canvas
  readonly #o: SurfaceOptions
  readonly #parcels
  readonly #towns
  readonly #villages
  readonly #patch: Float64Array
  readonly #patchToSun: Float64Array
  readonly #soil: Float64Array
  readonly #fine: Float64Array
  readonly #region: Float64Array
  readonly #toSun: Points
  readonly #crowns = new Crowns()
  readonly #look: FieldAppearance = { green: 0, straw: 0, bloom: 0, rowM: 0 }
  readonly #spot: Spot = { yearlyC: 0, nowC: 0, wet: 0, slope: 0, green: 0, forest: 0, isTreeShade: false }
  readonly #town: TownPainter
  readonly #meanField: Float64Array
  #hasMeanField = false
  /** Unit vector to the sun on the ground, east and south, and the length of a shadow of one metre. */
  readonly #east: number
  readonly #south: number
  readonly #shadowM: number

  constructor(options: SurfaceOptions) {
    const { width, bandCount, sun } = options
    this.#o = options
    this.canvas = new Canvas(width, bandCount)
    this.#parcels = parcels(width)
    this.#towns = placeRow(width)
    this.#villages = placeRow(width)
    this.#patch = new Float64Array(width)
    this.#patchToSun = new Float64Array(width)
    this.#soil = new Float64Array(width)
    this.#fine = new Float64Array(width)
    this.#region = new Float64Array(width)
    this.#toSun = points(width)
    const azimuth = (sun.azimuthDeg * Math.PI) / 180
    this.#east = Math.sin(azimuth)
    this.#south = -Math.cos(azimuth)
    this.#shadowM = 1 / Math.tan((Math.max(12, sun.elevationDeg) * Math.PI) / 180)
    this.#meanField = new Float64Array(bandCount)
    this.#town = new TownPainter({
      ...options,
      canvas: this.canvas,
      crowns: this.#crowns,
      east: this.#east,
      south: this.#south,
      shadowM: this.#shadowM,
    })
  }

  /** `above` and `below` are the ground of the neighbouring rows, for slopes. */
  paint(at: Points, row: Ground, above: Ground, below: Ground): void {
    const { world, day, gsdM } = this.#o
    const latitude = toLatitude(at.v[at.count >> 1]!)
    this.#readNoise(at, latitude)
    world.towns.read(this.#towns, at, world.limit)
    this.#readFields(at, row)
    const season = seasonC(latitude, day)
    const growing = growingDay(latitude, day)
    for (let i = 0; i < at.count; i++) {
      const left = Math.max(0, i - 1)
      const right = Math.min(at.count - 1, i + 1)
      const slopeX = (row.heightM[right]! - row.heightM[left]!) / ((right - left || 1) * gsdM)
      const slopeY = (below.heightM[i]! - above.heightM[i]!) / (2 * gsdM)
      this.#readSpot(i, row, { latitude, season, slope: Math.hypot(slopeX, slopeY) })
      const sea = seaShare(row.coast, above.coast, below.coast, i)
      if (sea < 1) this.#paintLand(i, at, row, growing)
      if (sea < 1) this.canvas.light(i, this.#lightOn(slopeX, slopeY))
      this.#paintWater(i, row, sea)
    }
  }

  #readFields(at: Points, row: Ground): void {
    const { world, gsdM } = this.#o
    if (gsdM <= FIELD_GSD_M) {
      world.parcels.read(this.#parcels, at, world.limit)
      world.villages.read(this.#villages, at, world.limit)
      return
    }
    world.readFarmed(this.#parcels.farmed, at, row)
    this.#parcels.blockEdgeM.fill(FIELD_GSD_M * 10)
    this.#parcels.edgeM.fill(FIELD_GSD_M * 10)
    this.#villages.roadM.fill(NO_ROAD_M)
    this.#hasMeanField = false
  }

  #readNoise(at: Points, latitude: number): void {
    const { limit } = this.#o.world
    fractal(this.#patch, at, { from: 13, to: 21, seed: SEEDS.patch, gain: 0.5, roughness: 0.56 }, limit)
    fractal(this.#soil, at, { from: 14, to: 22, seed: SEEDS.soil, gain: 0.5, roughness: 0.58 }, limit)
    fractal(this.#fine, at, { from: 19, to: 26, seed: SEEDS.fine, gain: 0.5, roughness: 0.72 }, limit)
    fractal(this.#region, at, { from: 8, to: 12, seed: SEEDS.region, gain: 0.6 }, limit)
    if (this.#o.gsdM > CROWN_GSD_M) return
    const shift = (TREE_HEIGHT_M * this.#shadowM) / (EARTH_ROUND_M * Math.cos(latitude))
    this.#toSun.count = at.count
    for (let i = 0; i < at.count; i++) {
      this.#toSun.u[i] = at.u[i]! + this.#east * shift
      this.#toSun.v[i] = at.v[i]! + this.#south * shift
    }
    fractal(this.#patchToSun, this.#toSun, { from: 13, to: 21, seed: SEEDS.patch, gain: 0.5, roughness: 0.56 }, limit)
  }

  #readSpot(i: number, row: Ground, { latitude, season, slope }: { latitude: number; season: number; slope: number }): void {
    const spot = this.#spot
    spot.yearlyC = yearlyMeanC(latitude, row.heightM[i]!)
    spot.nowC = spot.yearlyC + season
    const valley = Math.exp(-Math.max(0, row.streamEdgeM[i]!) / 90)
    spot.wet = clamp01(row.wetness[i]! + 0.14 * valley + 0.05 * this.#soil[i]!)
    spot.slope = slope
    spot.green = grassGreen(spot.nowC, spot.wet)
    const isFarmed = this.#isFarmed(i)
    const wooded =
      forestable(spot.yearlyC, spot.wet) * (isFarmed ? 0.3 : 0.86) +
      0.22 * this.#region[i]! +
      0.22 * smooth(0.1, 0.4, slope) +
      (row.streamHalfWidthM[i]! > 2 ? 0.28 * valley : 0) -
      0.52
    const rim = 0.05
    spot.forest = forestable(spot.yearlyC, spot.wet) < 0.06 ? 0 : smooth(0, rim, wooded + this.#patch[i]!) * (1 - smooth(0.9, 1.5, slope))
    spot.isTreeShade = this.#o.gsdM <= CROWN_GSD_M && spot.forest < 0.5 && wooded + this.#patchToSun[i]! > rim
  }

  #paintLand(i: number, at: Points, row: Ground, growing: number): void {
    const spot = this.#spot
    this.#paintOpenGround(i, row)
    const isField = this.#isFarmed(i) && spot.slope < 0.3 && row.streamEdgeM[i]! > 4
    if (isField && this.#o.gsdM > FIELD_GSD_M) this.#paintMeanField(i, growing)
    else if (isField) this.#paintField(i, growing)
    else if (this.#o.gsdM <= CROWN_GSD_M && spot.forest < 0.5) this.#paintLoneTrees(i, at)
    if (spot.forest > 0) this.#paintForest(i, at, growing)
    if (isField && spot.forest < 0.5) this.#paintEdges(i, at)
    if (spot.isTreeShade) this.canvas.light(i, 0.55)
    this.#paintBeach(i, row)
    const town = this.#towns.density[i]!
    const village = this.#villages.density[i]!
    if (town + village > 0 && row.heightM[i]! > 1.5 && row.rugged[i]! < 0.95 && row.streamEdgeM[i]! > 6) {
      const places = town > 0 ? this.#towns : this.#villages
      const style = {
        i,
        u: at.u[i]!,
        v: at.v[i]!,
        bentU: places.u[i]!,
        bentV: places.v[i]!,
        fine: this.#fine[i]!,
        green: spot.green,
        warmth: spot.yearlyC,
      }
      if (town > 0) this.#town.paint(this.#o.world.towns, this.#towns.town[i]!, style)
      else this.#town.paint(this.#o.world.villages, this.#villages.town[i]!, style)
    }
    this.#paintSnow(i)
    this.#paintRoads(i)
  }

  /** Marginal farmland turns into woods and heath in places. */
  #isFarmed(i: number): boolean {
    return this.#parcels.farmed[i]! + 0.45 * Math.min(0, this.#patch[i]! + 0.15) > 0.5
  }

  #paintOpenGround(i: number, row: Ground): void {
    const { palette } = this.#o
    const { canvas } = this
    const { yearlyC, wet, slope, green } = this.#spot
    const soil = this.#soil[i]!
    const fine = this.#fine[i]!
    const arid = 1 - smooth(0.12, 0.3, wet)
    const gain = 1 + (0.16 + 0.14 * arid) * soil + 0.1 * fine + 0.16 * arid * this.#patch[i]!
    const hot = smooth(17, 24, yearlyC)
    canvas.over(i, palette.loam, 1, gain)
    canvas.over(i, palette.darkSoil, smooth(0.45, 0.85, wet + 0.2 * soil) * (1 - hot), gain)
    canvas.over(i, palette.redSoil, hot * smooth(-0.3, 0.5, this.#region[i]! + 0.4 * soil), gain)
    const sandy = smooth(-0.35, 0.25, this.#region[i]! + 0.7 * this.#patch[i]! + 0.4 * soil)
    canvas.over(
      i,
      palette.sand,
      sandy * (1 - smooth(0.1, 0.26, wet + 0.08 * soil)) * smooth(5, 14, yearlyC) * (1 - smooth(0.25, 0.6, slope)),
      gain,
    )
    const rocky = Math.max(
      smooth(0.42, 0.95, slope + 0.22 * fine + 0.1 * soil),
      0.85 * smooth(0, -5, yearlyC + 2 * soil),
      (1 - smooth(0.1, 0.3, wet)) * Math.max(smooth(0.3, 0.7, slope), 0.6 * smooth(0.1, -0.5, this.#patch[i]! + 0.3 * fine)),
    )
    const cover = smooth(0.12, 0.5, wet + 0.14 * soil + 0.08 * fine) * smooth(-7, 1, yearlyC)
    canvas.over(i, palette.dryGrass, cover * 0.85, gain)
    canvas.over(i, palette.grass, cover * green * 0.9, 0.92 + 0.2 * soil + 0.16 * fine)
    canvas.over(
      i,
      palette.scrub,
      smooth(0.05, 0.5, this.#patch[i]! + 0.25 * fine) * (1 - smooth(0.55, 0.7, wet)) * smooth(0.08, 0.25, wet) * 0.8,
      0.95 + 0.3 * fine,
    )
    canvas.over(i, palette.rock, rocky * (row.heightM[i]! > 3 ? 1 : 0), 1 + 0.18 * soil + 0.22 * fine)
  }

  /** The mean of many fields, computed once per row. */
  #paintMeanField(i: number, growing: number): void {
    const mean = this.#meanField
    const at = i * this.canvas.bandCount
    if (!this.#hasMeanField) {
      mean.fill(0)
      for (let k = 0; k < MEAN_OF_FIELDS; k++) {
        this.#parcels.id[i] = k * 7_919 + 1
        this.#paintField(i, growing)
        for (let b = 0; b < mean.length; b++) mean[b]! += this.canvas.values[at + b]! / MEAN_OF_FIELDS
      }
      this.#hasMeanField = true
    }
    this.canvas.over(i, mean, 1, 1 + 0.14 * this.#soil[i]! + 0.12 * this.#region[i]! + 0.1 * this.#patch[i]!)
  }

  #paintField(i: number, growing: number): void {
    const { palette, gsdM } = this.#o
    const { yearlyC } = this.#spot
    const id = this.#parcels.id[i]!
    const look = this.#look
    const crop = cropOf(chance(id, 1, 3))
    // In the tropics sowing follows the rain, not the sun: every district has its own calendar and two harvests.
    const isTropical = smooth(19, 23, yearlyC) > 0.5
    const later = (chance(id, 2, 3) - 0.5) * 22 + (11 - Math.min(20, yearlyC)) * 2
    if (isTropical) appearanceOn(look, crop, (growing * 2 + chance(id, 5, 3) * 120) % 365, 0)
    else appearanceOn(look, crop, growing, later)
    const soilTone = 0.86 + 0.3 * chance(id, 3, 3) + 0.14 * this.#soil[i]!
    const vigour = clamp01(look.green * (0.82 + 0.28 * chance(id, 4, 3) + 0.16 * this.#soil[i]!))
    const frost = smooth(-6, 3, this.#spot.nowC)
    const rows = gsdM < 1.4 && look.rowM > 0 ? 1 + 0.07 * Math.sin((2 * Math.PI * this.#parcels.acrossM[i]!) / Math.max(look.rowM, 1.4)) : 1
    const tram = gsdM < 4 && look.rowM > 0 ? lineCover(tramDistance(this.#parcels.acrossM[i]!, 24), 0.5, gsdM) : 0
    const gain = rows * (1 + 0.09 * this.#fine[i]!)
    this.canvas.over(i, chance(id, 6, 3) < 0.5 ? palette.loam : palette.darkSoil, 1, soilTone * gain * 1.05)
    if (yearlyC > 18) this.canvas.over(i, palette.redSoil, 0.5, soilTone * gain)
    this.canvas.over(i, palette.straw, look.straw * 0.9, gain * (0.9 + 0.2 * chance(id, 7, 3)))
    const leaf = crop.rowM === 0 ? palette.grass : palette.crop
    this.canvas.over(i, leaf, vigour * mix(0.4, 0.95, frost), gain * (0.75 + 0.45 * chance(id, 8, 3)))
    this.canvas.over(i, palette.dryGrass, vigour * 0.34 * chance(id, 9, 3), gain)
    this.canvas.over(i, palette.rape, look.bloom * 0.9, gain)
    this.canvas.over(i, palette.loam, tram * 0.6, 1.05)
  }

  #paintForest(i: number, at: Points, growing: number): void {
    const { palette, gsdM } = this.#o
    const { forest, yearlyC, nowC } = this.#spot
    const stand = 1 + 0.2 * this.#soil[i]! + 0.1 * this.#patch[i]!
    let gain = 0.95 + 0.16 * this.#fine[i]!
    let tree = 0.5 + 0.8 * this.#soil[i]!
    if (gsdM <= CROWN_GSD_M) {
      this.#crowns.find(at.u[i]!, at.v[i]!, this.#fine[i]!)
      const show = clamp01((CROWN_GSD_M + 1 - gsdM) / CROWN_GSD_M)
      gain = mix(gain, this.#crowns.light(this.#east, this.#south), show) * (1 + 0.2 * this.#fine[i]!)
      tree = mix(tree, chance(this.#crowns.key, 4, 1), 0.45)
    }
    gain *= stand
    const coniferShare = smooth(0.35, 0.65, smooth(13, 2, yearlyC) + 0.5 * (tree - 0.5) + 0.35 * this.#region[i]!)
    const isEvergreen = yearlyC > 18
    const leaves = isEvergreen ? 1 : smooth(6, 12, nowC + 3 * (tree - 0.5))
    const fading = isEvergreen || growing < 230 ? 0 : 1 - smooth(9, 15, nowC + 3 * (tree - 0.5))
    this.canvas.over(i, palette.bareWood, forest, gain)
    this.canvas.over(i, palette.broadleaf, forest * leaves, gain * (0.88 + 0.24 * tree))
    this.canvas.over(i, palette.autumn, forest * fading * leaves * 0.9, gain)
    this.canvas.over(i, palette.conifer, forest * coniferShare, gain)
  }

  /** Trees and bushes on open land, as in parks and pastures. */
  #paintLoneTrees(i: number, at: Points): void {
    const { palette, gsdM } = this.#o
    const { wet, yearlyC, nowC } = this.#spot
    const share = smooth(0.18, 0.5, wet) * smooth(-1, 5, yearlyC) * (0.06 + 0.3 * smooth(-0.2, 0.4, this.#patch[i]!))
    if (share < 0.01) return
    const crowns = this.#crowns
    crowns.find(at.u[i]!, at.v[i]!, 0.6 * this.#fine[i]!)
    if (!crowns.isTree(share)) return
    const gain = crowns.light(this.#east, this.#south)
    const cover = gsdM < 1 ? 1 : 0.7
    this.canvas.over(i, palette.bareWood, cover, gain)
    this.canvas.over(i, yearlyC < 4 ? palette.conifer : palette.broadleaf, cover * (yearlyC < 4 ? 1 : smooth(6, 12, nowC)), gain)
  }

  /** Grass verges between fields; tracks and hedges around blocks. */
  #paintEdges(i: number, at: Points): void {
    const { palette, gsdM } = this.#o
    const { edgeM, blockEdgeM, border } = this.#parcels
    const { green } = this.#spot
    const verge = lineCover(edgeM[i]!, 0.9, gsdM)
    this.canvas.over(i, palette.dryGrass, verge * 0.8, 0.95)
    this.canvas.over(i, palette.grass, verge * green * 0.8, 0.9)
    const isHedged = this.#region[i]! + 0.6 * this.#patch[i]! > 0.12
    if (border[i]! < 0.45) {
      this.canvas.over(i, palette.track, lineCover(blockEdgeM[i]!, 1.7, gsdM) * 0.85, 1)
      return
    }
    if (!isHedged) return
    const gap = smooth(-0.25, 0.05, this.#patch[i]! + 0.5 * this.#fine[i]!)
    const hedge = lineCover(blockEdgeM[i]!, HEDGE_HALF_M, gsdM) * gap
    if (hedge <= 0) return
    let gain = 0.9
    if (gsdM <= CROWN_GSD_M) {
      this.#crowns.find(at.u[i]!, at.v[i]!, this.#fine[i]!)
      gain = this.#crowns.light(this.#east, this.#south)
    }
    this.canvas.over(i, palette.bareWood, hedge, gain)
    this.canvas.over(i, palette.broadleaf, hedge * smooth(6, 12, this.#spot.nowC), gain)
  }

  #paintBeach(i: number, row: Ground): void {
    const height = row.heightM[i]!
    if (height > 4 || row.coast[i]! > 0.004) return
    const sandy = smooth(0.25, -0.25, this.#patch[i]! * 0.7) * (1 - smooth(1.3, 2.2, height + 0.5 * this.#fine[i]!))
    this.canvas.over(
      i,
      this.#o.palette.beach,
      sandy * (1 - smooth(0.15, 0.5, row.rugged[i]!)),
      mix(0.62, 1, smooth(0.3, 0.75, height)) + 0.05 * this.#fine[i]!,
    )
  }

  #paintRoads(i: number): void {
    const { palette, gsdM } = this.#o
    const { slope, wet } = this.#spot
    if (slope > 0.5) return
    const village = lineCover(this.#villages.roadM[i]! + 2.6, 2.6, gsdM)
    this.canvas.over(i, wet < 0.2 ? palette.track : palette.asphalt, village * 0.9, 1.1)
    this.canvas.over(
      i,
      palette.grass,
      lineCover(this.#towns.roadM[i]! + 5.5, 9, gsdM) * (this.#towns.density[i]! > 0 ? 0 : 0.6) * this.#spot.green,
      1,
    )
    if (this.#towns.density[i]! > 0) this.canvas.over(i, palette.concrete, lineCover(this.#towns.roadM[i]! + 5.5, 8, gsdM), 0.8)
    this.canvas.over(i, palette.asphalt, lineCover(this.#towns.roadM[i]! + 5.5, 5.5, gsdM), 1.12)
    if (gsdM < 1) this.canvas.over(i, palette.concrete, lineCover(this.#towns.roadM[i]! + 5.5, 0.18, gsdM), 1)
  }

  #paintSnow(i: number): void {
    const { nowC, yearlyC, wet, slope, forest } = this.#spot
    const cold = nowC + 1.3 * this.#soil[i]! + 0.35 * this.#fine[i]!
    const winter = smooth(-0.2, -3.2, cold) * smooth(0.06, 0.25, wet)
    const glacier = smooth(-7, -10, yearlyC + 1.5 * this.#soil[i]!)
    const lying = Math.max(winter, glacier) * (1 - smooth(0.7, 1.3, slope)) * (1 - 0.85 * forest)
    this.canvas.over(i, this.#o.palette.snow, lying, 0.97 + 0.05 * this.#soil[i]!)
  }

  #lightOn(slopeX: number, slopeY: number): number {
    const { elevationDeg } = this.#o.sun
    const elevation = (Math.max(6, elevationDeg) * Math.PI) / 180
    const up = Math.sin(elevation)
    const flat = Math.cos(elevation)
    const facing = (up - flat * (slopeX * this.#east + slopeY * this.#south)) / Math.sqrt(1 + slopeX * slopeX + slopeY * slopeY)
    return 0.28 + 0.72 * Math.max(0, Math.min(2.2, facing / up))
  }

  /** Sea, rivers and lakes: blue and dark with depth, bright over shallow sand. */
  #paintWater(i: number, row: Ground, sea: number): void {
    const { palette, gsdM } = this.#o
    const { nowC } = this.#spot
    const ripple = 1 + 0.05 * this.#fine[i]! + 0.04 * this.#soil[i]!
    if (sea > 0) {
      const depth = Math.max(0, -row.heightM[i]!) * (1 + 0.3 * this.#patch[i]!)
      const clear = Math.exp(-depth / 5.5)
      const frozen = smooth(-6, -12, nowC + 3 * this.#patch[i]!)
      this.canvas.over(i, palette.deepWater, sea, ripple)
      this.canvas.over(i, palette.shallow, sea * (0.12 * Math.exp(-depth / 40) + 0.88 * clear) * 0.9, ripple)
      this.canvas.over(
        i,
        palette.snow,
        sea * smooth(0.35, 0, depth) * smooth(0.1, 0.5, this.#fine[i]! + 0.25) * (gsdM < 2 ? 0.4 : 0.16),
        0.8,
      )
      this.canvas.over(i, palette.ice, sea * frozen, 1.1 + 0.2 * this.#patch[i]!)
      return
    }
    const half = row.streamHalfWidthM[i]!
    if (half <= 0) return
    const cover = lineCover(row.streamEdgeM[i]! + half, half, gsdM)
    if (cover <= 0) return
    const dry = 1 - smooth(0.1, 0.24, this.#spot.wet)
    const frozen = smooth(-5, -9, nowC)
    this.canvas.over(
      i,
      palette.beach,
      lineCover(row.streamEdgeM[i]! + half, half * 1.12 + 1, gsdM) * 0.5 * smooth(4, 20, half) * smooth(-0.1, 0.3, this.#patch[i]!),
      0.9,
    )
    this.canvas.over(i, dry > 0.5 ? palette.beach : palette.river, cover, ripple)
    this.canvas.over(i, palette.snow, cover * frozen, 0.95)
    const bridge = lineCover(this.#towns.roadM[i]! + 5.5, 5.5, gsdM)
    if (half < 120) this.canvas.over(i, palette.concrete, bridge * 0.9, 0.8)
  }
}

const tramDistance = (across: number, everyM: number): number => Math.abs(across / everyM - Math.round(across / everyM)) * everyM

/** The fraction of a pixel that is sea, from the gradient of the coast's field. */
function seaShare(coast: Float64Array, above: Float64Array, below: Float64Array, i: number): number {
  const here = coast[i]!
  const change = Math.max(Math.abs((coast[i + 1] ?? here) - here), Math.abs(below[i]! - above[i]!) / 2, 1e-9)
  return clamp01(0.5 - here / change)
}
