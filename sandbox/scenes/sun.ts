/** Position of the sun, to about a tenth of a degree. */
import { DAY_MS } from '#core/time.ts'

export interface Sun {
  /** Clockwise from north. */
  readonly azimuthDeg: number
  readonly elevationDeg: number
}

const J2000_MS = Date.UTC(2000, 0, 1, 12)
const RADIANS = Math.PI / 180

export function sunAt(longitude: number, latitude: number, timeMs: number): Sun {
  const days = (timeMs - J2000_MS) / DAY_MS
  const anomaly = (357.529 + 0.98560028 * days) * RADIANS
  const meanLongitude = 280.459 + 0.98564736 * days
  const ecliptic = (meanLongitude + 1.915 * Math.sin(anomaly) + 0.02 * Math.sin(2 * anomaly)) * RADIANS
  const tilt = 23.439 * RADIANS
  const declination = Math.asin(Math.sin(tilt) * Math.sin(ecliptic))
  const ascension = Math.atan2(Math.cos(tilt) * Math.sin(ecliptic), Math.cos(ecliptic))
  const siderealDeg = 280.46062 + 360.98564737 * days
  const hourAngle = (siderealDeg + longitude) * RADIANS - ascension
  const phi = latitude * RADIANS
  const elevation = Math.asin(Math.sin(phi) * Math.sin(declination) + Math.cos(phi) * Math.cos(declination) * Math.cos(hourAngle))
  const azimuth = Math.atan2(-Math.sin(hourAngle), Math.tan(declination) * Math.cos(phi) - Math.sin(phi) * Math.cos(hourAngle))
  return { azimuthDeg: (azimuth / RADIANS + 360) % 360, elevationDeg: elevation / RADIANS }
}

/** Day of the year from 0, with fractions. */
export const dayOfYear = (timeMs: number): number => (timeMs - Date.UTC(new Date(timeMs).getUTCFullYear(), 0, 1)) / DAY_MS
