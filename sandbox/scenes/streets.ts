/** What is at a place in a town: street, roof, yard or park. All in metres in the town's own frame. */
import { chance, hash } from './noise.ts'
import { boundary, cut, cutDistance } from './parcels.ts'

type UrbanKind = 'open' | 'street' | 'car' | 'roof' | 'yard' | 'tree' | 'park' | 'paved' | 'pool'

export interface UrbanSpot {
  kind: UrbanKind
  /** 0–1, random colour of the building or lot. */
  tone: number
  /** The side of a gable roof, -1 or 1; 0 for flat roofs. */
  side: number
  isLarge: boolean
  /** Whether the ridge of the roof is along the frame's y axis. */
  alongY: boolean
}

export const urbanSpot = (): UrbanSpot => ({ kind: 'yard', tone: 0, side: 0, isLarge: false, alongY: true })

const BLOCK_X_M = 78
const BLOCK_Y_M = 120
const STREET_HALF_M = 3.6
const PAVEMENT_M = 1.8
const LOT_M = 21
const PARKING_M = 6.4
const CAR_M = 4.4
const SEED = 600
/** Blocks with a lower density are not built up. */
const RIM = 0.05

/** Writes what is at (x, y). A block or lot is entirely inside or outside the town, by its centre. */
export function readSpot(out: UrbanSpot, { key, radiusM }: { key: number; radiusM: number }, x: number, y: number): void {
  const column = cut(x / BLOCK_X_M, key)
  const row = cut(y / BLOCK_Y_M, key + 1)
  const edgeX = cutDistance(x / BLOCK_X_M, column, key) * BLOCK_X_M
  const edgeY = cutDistance(y / BLOCK_Y_M, row, key + 1) * BLOCK_Y_M
  const edge = Math.min(edgeX, edgeY)
  const middleX = ((boundary(column, key) + boundary(column + 1, key)) / 2) * BLOCK_X_M
  const startY = boundary(row, key + 1) * BLOCK_Y_M
  const block = hash(column, row, key)
  const density = 1 - Math.hypot(middleX, startY + BLOCK_Y_M / 2) / radiusM + 0.2 * (chance(block, 9, SEED) - 0.5)
  out.side = 0
  out.isLarge = false
  if (edge < STREET_HALF_M) return density > RIM ? readStreet(out, block, edge, edge === edgeX ? y : x) : setKind(out, 'open', 0)
  if (density < RIM) return setKind(out, 'open', 0)
  if (edge < STREET_HALF_M + PAVEMENT_M && density > 0.3) return setKind(out, 'paved', 0.6)
  const use = chance(block, 1, SEED)
  if (use < 0.05) return setKind(out, 'park', chance(block, 2, SEED))
  if (use < 0.05 + 0.16 * (1 - density)) return readHall(out, block, { x, y, edgeX, edgeY })
  const isFirstHalf = x < middleX
  readLot(out, block + (isFirstHalf ? 1 : 0), { x, y: y - startY, edgeX, edgeY, density })
}

/** Cars are parked at the kerb. */
function readStreet(out: UrbanSpot, block: number, edge: number, along: number): void {
  const space = Math.floor(along / PARKING_M)
  const isCar =
    edge > STREET_HALF_M - 2.2 && edge < STREET_HALF_M - 0.4 && along - space * PARKING_M < CAR_M && chance(space, block, SEED + 2) < 0.3
  setKind(out, isCar ? 'car' : 'street', chance(space, block, SEED + 3))
}

function setKind(out: UrbanSpot, kind: UrbanKind, tone: number): void {
  out.kind = kind
  out.tone = tone
}

interface InBlock {
  readonly x: number
  readonly y: number
  readonly edgeX: number
  readonly edgeY: number
}

/** Factories and markets: one or two large flat roofs on paved ground. */
function readHall(out: UrbanSpot, block: number, { y, edgeX, edgeY }: InBlock): void {
  const gap = 9 + 10 * chance(block, 3, SEED)
  const half = Math.floor(y / 55)
  const isRoof = edgeX > gap && edgeY > gap && Math.abs(y / 55 - half - 0.5) < 0.42
  out.isLarge = isRoof
  setKind(out, isRoof ? 'roof' : chance(block, 5, SEED) < 0.3 ? 'yard' : 'paved', chance(block, half, SEED + 1))
}

/** Houses on lots along the long streets, with gardens; at the edge many lots are still fields. */
function readLot(out: UrbanSpot, block: number, { y, edgeX: depth, edgeY, density }: InBlock & { density: number }): void {
  const lot = Math.floor((y - STREET_HALF_M) / LOT_M)
  const within = y - STREET_HALF_M - (lot + 0.5) * LOT_M
  const key = hash(lot, 1, block)
  const tone = chance(key, 1, SEED)
  const isRow = density > 0.55
  const frontM = STREET_HALF_M + (isRow ? 2.2 : 4 + 5 * chance(key, 2, SEED))
  const depthM = 8 + 5 * chance(key, 3, SEED) + (isRow ? 3 : 0)
  const halfM = isRow ? LOT_M * 0.49 : 4 + 3.4 * chance(key, 4, SEED)
  const shiftM = isRow ? 0 : (chance(key, 5, SEED) - 0.5) * 5
  const isBuilt = chance(key, 6, SEED) < 0.35 + 0.9 * density
  if (!isBuilt && density < 0.4) return setKind(out, 'open', tone)
  // A house that would extend into the cross street is omitted.
  const hasRoom = edgeY > 2 + STREET_HALF_M + Math.max(0, halfM - Math.abs(within - shiftM)) * 0.2
  if (isBuilt && hasRoom && depth > frontM && depth < frontM + depthM && Math.abs(within - shiftM) < halfM) {
    out.side = depth - frontM < depthM / 2 ? 1 : -1
    out.alongY = true
    return setKind(out, 'roof', tone)
  }
  if (
    isBuilt &&
    !isRow &&
    chance(key, 7, SEED) < 0.07 &&
    depth > frontM + depthM + 4 &&
    depth < frontM + depthM + 8 &&
    Math.abs(within) < 4.5
  )
    return setKind(out, 'pool', tone)
  if (isBuilt && depth < frontM && Math.abs(within - shiftM - halfM + 2) < 1.6) return setKind(out, 'paved', tone)
  setKind(out, isRow && tone < 0.45 && depth < 24 ? 'paved' : 'yard', tone)
}
