/**
 * The rough shape of the Earth as data, drawn by hand: land, mean height and dryness in rows of five degrees. It places
 * continents, mountains and deserts where people expect them; noise adds the coasts and all finer detail.
 */
import { addCurve, clamp01, knotsOf, toLatitude, toLongitude, type Points } from './noise.ts'

/** Runs `west:east:kind` for each row, from 90° N down. 1–6 are moist land by height, a–f the same heights but dry, i is ice. */
const ROWS: readonly string[] = [
  '',
  '-90:-65:2 -60:-25:i',
  '-110:-80:2 -70:-20:i 15:25:2 60:65:1 95:110:1',
  '-125:-105:1 -100:-75:1 -55:-25:i 52:57:1 70:80:1 80:115:2 115:140:1',
  '-165:-140:2 -140:-85:1 -75:-65:2 -52:-35:i -24:-14:2 14:40:2 45:60:1 60:65:3 65:90:1 90:120:2 120:150:3 150:180:2 -180:-172:1',
  '-165:-150:2 -150:-120:3 -120:-95:2 -78:-65:1 -50:-43:i -22:-15:2 5:13:3 13:18:2 22:30:1 30:58:1 58:62:3 62:90:1 ' +
    '90:130:2 130:165:3 165:175:1',
  '-160:-155:1 -135:-125:4 -125:-115:3 -115:-95:2 -77:-62:2 -6:-2:2 6:12:2 8:10:1 12:17:1 22:55:1 55:60:3 60:90:1 ' +
    '90:115:2 115:140:3 156:162:3',
  '-128:-118:4 -118:-100:2 -100:-80:1 -80:-57:2 -10:-6:1 -5:1:1 3:50:1 50:60:2 60:85:b 85:100:4 100:120:3 120:140:2 142:144:1 156:159:2',
  '-124:-118:3 -118:-110:4 -110:-100:3 -100:-90:2 -90:-65:2 -58:-54:1 -3:7:1 7:15:4 15:40:1 40:55:a 55:80:b 80:115:d 115:135:2',
  '-124:-120:3 -120:-110:d -110:-104:5 -104:-98:3 -98:-71:2 -9:-1:3 -1:4:4 4:10:2 11:15:3 16:28:3 30:36:3 40:48:4 ' +
    '53:70:a 70:80:e 80:112:c 112:125:2 126:131:3 140:145:2',
  '-122:-118:3 -118:-108:d -108:-104:5 -104:-98:3 -98:-85:2 -85:-79:3 -79:-75:1 -9:-1:3 12:16:2 20:24:3 27:50:4 ' +
    '50:56:d 56:62:a 62:75:e 75:100:f 100:112:4 112:122:1 126:130:2 136:141:3',
  '-117:-112:b -112:-104:d -104:-98:b -98:-80:1 -9:-2:d -2:8:c 8:24:b 25:34:a 35:45:c 43:48:a 48:70:d 70:76:1 ' +
    '76:80:6 80:100:f 100:105:5 105:110:3 110:121:1 130:136:2',
  '-114:-111:b -110:-105:c -105:-99:d -99:-97:1 -82:-80:1 -13:35:b 35:50:c 52:62:c 62:76:b 76:82:1 82:90:5 90:97:2 97:104:4 104:120:2',
  '-158:-155:2 -105:-98:4 -84:-76:1 -17:-5:a -5:3:b 3:10:c 10:36:b 38:58:b 70:88:2 88:92:1 92:98:2 98:106:3 106:116:2 120:122:3',
  '-102:-93:3 -92:-88:1 -73:-69:3 -16:-5:a -5:38:b 42:55:c 73:83:3 94:106:2 106:108:2 120:122:2',
  '-90:-84:3 -16:-5:1 -5:35:b 35:42:5 42:50:c 75:80:3 99:109:1 122:125:2',
  '-82:-78:2 -77:-72:4 -72:-60:2 -60:-55:1 -13:10:2 10:30:3 30:35:2 35:43:5 43:49:b 80:82:2 99:102:1 116:118:2 124:126:2',
  '-78:-70:3 -70:-50:1 10:30:2 30:36:4 36:42:c 42:46:b 97:103:2 110:118:2 120:124:2',
  '-80:-77:5 -77:-44:1 10:28:2 28:32:4 32:40:3 101:105:1 110:116:1 120:122:2 132:142:3',
  '-80:-78:b -78:-75:5 -75:-50:1 -50:-40:2 -40:-35:b 13:20:4 20:39:3 106:113:2 138:147:3',
  '-77:-73:6 -73:-45:2 -45:-38:3 13:33:4 33:40:2 131:136:1 142:144:1',
  '-71:-66:f -66:-48:2 -48:-40:3 12:25:c 25:33:3 33:37:1 45:49:3 123:140:b 140:146:2',
  '-70:-66:f -66:-62:2 -62:-54:1 -54:-42:3 14:27:c 27:35:2 44:48:3 114:143:b 143:150:2',
  '-71:-67:e -67:-63:c -63:-58:1 -58:-49:2 16:28:c 28:32:3 114:147:b 147:153:2',
  '-72:-70:c -70:-68:5 -68:-64:b -64:-52:1 18:20:2 20:28:3 115:120:1 120:143:a 143:148:1 148:152:3',
  '-73:-71:3 -71:-63:b -63:-57:1 141:150:2 174:178:2',
  '-74:-71:3 -71:-64:b 145:148:2 170:174:4',
  '-75:-72:4 -72:-66:b 167:170:3',
  '-74:-69:2',
  '',
  '-60:-56:i',
  '-68:-63:i 45:60:i 80:160:i',
  '-75:-60:i -10:165:i',
  '-160:-60:i -30:165:i',
  '-150:180:i',
  '-180:180:i',
]

const HEIGHTS_M: Readonly<Record<string, number>> = {
  1: 90,
  2: 300,
  3: 750,
  4: 1500,
  5: 2700,
  6: 4300,
  a: 90,
  b: 350,
  c: 750,
  d: 1400,
  e: 2700,
  f: 4300,
  i: 2200,
}

const COLUMN_DEGREES = 2.5
const ROW_DEGREES = 5
const COLUMNS = 360 / COLUMN_DEGREES
const ROW_COUNT = ROWS.length
/** Land, height and dryness are interleaved; height and dryness are premultiplied by land, so that seas do not dilute them. */
const FIELDS = 3

function drawGrid(): Float64Array {
  const grid = new Float64Array(COLUMNS * ROW_COUNT * FIELDS)
  ROWS.forEach((row, index) => {
    for (const run of row.split(' ').filter(Boolean)) {
      const [west = '', east = '', kind = ''] = run.split(':')
      const from = (Number(west) + 180) / COLUMN_DEGREES
      const to = (Number(east) + 180) / COLUMN_DEGREES
      for (let column = Math.floor(from); column < to; column++) {
        const share = Math.min(column + 1, to) - Math.max(column, from)
        const at = (index * COLUMNS + column) * FIELDS
        grid[at]! += share
        grid[at + 1]! += share * (HEIGHTS_M[kind] ?? 0)
        grid[at + 2]! += /[a-f]/.test(kind) ? share : 0
      }
    }
  })
  return grid
}

const GRID = drawGrid()

interface EarthShape {
  /** About 1 inland, about 0 at sea. */
  readonly land: Float64Array
  readonly reliefM: Float64Array
  readonly dryness: Float64Array
}

export const earthShape = (capacity: number): EarthShape => ({
  land: new Float64Array(capacity),
  reliefM: new Float64Array(capacity),
  dryness: new Float64Array(capacity),
})

/** The table is smooth over many pixels, so a row samples it only now and then. */
const DIRECT_BELOW = 32

export function readShape(out: EarthShape, at: Points): void {
  if (at.count < DIRECT_BELOW) return readSpline(out, at)
  const knots = knotsOf(at)
  const shape = earthShape(knots.count)
  readSpline(shape, knots)
  for (const field of ['land', 'reliefM', 'dryness'] as const) addCurve(out[field].fill(0, 0, at.count), shape[field], at.count)
}

/** A cubic B-spline through the table, with continuous second derivatives, so that no cell of the table shows. */
function readSpline(out: EarthShape, at: Points): void {
  const wx = new Float64Array(4)
  const wy = new Float64Array(4)
  for (let i = 0; i < at.count; i++) {
    const x = (toLongitude(at.u[i]!) + 180) / COLUMN_DEGREES - 0.5
    const y = (90 - (toLatitude(at.v[i]!) * 180) / Math.PI) / ROW_DEGREES - 0.5
    const column = Math.floor(x)
    const row = Math.floor(y)
    splineWeights(wx, x - column)
    splineWeights(wy, y - row)
    let land = 0
    let relief = 0
    let dry = 0
    for (let j = 0; j < 4; j++) {
      const start = Math.max(0, Math.min(ROW_COUNT - 1, row + j - 1)) * COLUMNS
      for (let k = 0; k < 4; k++) {
        const weight = wy[j]! * wx[k]!
        const cell = (start + ((column + k - 1 + COLUMNS * 2) % COLUMNS)) * FIELDS
        land += weight * GRID[cell]!
        relief += weight * GRID[cell + 1]!
        dry += weight * GRID[cell + 2]!
      }
    }
    out.land[i] = clamp01(land)
    out.reliefM[i] = relief
    out.dryness[i] = dry / Math.max(land, 0.05)
  }
}

function splineWeights(out: Float64Array, t: number): void {
  const s = 1 - t
  out[0] = (s * s * s) / 6
  out[1] = (3 * t * t * t - 6 * t * t + 4) / 6
  out[2] = (3 * s * s * s - 6 * s * s + 4) / 6
  out[3] = (t * t * t) / 6
}
