/** Temperatures, growing seasons and farmland. */
import { clamp01, mix, smooth } from './noise.ts'

const YEAR_DAYS = 365.25
const WARMEST_DAY = 203

/** Yearly mean at a height, in °C. */
export function yearlyMeanC(latitudeRad: number, heightM: number): number {
  const sin = Math.abs(Math.sin(latitudeRad))
  return 28 - 34 * sin ** 2.6 - 8 * sin ** 10 - 0.0062 * Math.max(0, heightM)
}

/** Difference of a day from the yearly mean. The southern hemisphere is half a year apart. */
export function seasonC(latitudeRad: number, day: number): number {
  const swing = 1 + 9.5 * Math.sin(Math.min(Math.abs(latitudeRad) * 1.25, Math.PI / 2))
  const phase = Math.cos((2 * Math.PI * (day - WARMEST_DAY)) / YEAR_DAYS)
  return (latitudeRad < 0 ? -phase : phase) * swing
}

/** Day of the year, shifted by half a year in the southern hemisphere. */
export const growingDay = (latitudeRad: number, day: number): number => (latitudeRad < 0 ? (day + YEAR_DAYS / 2) % YEAR_DAYS : day)

/** How green grass is: it needs warmth and water, and dries out in hot summers with little rain. */
export const grassGreen = (temperatureC: number, wetness: number): number =>
  smooth(-2, 9, temperatureC) * mix(1 - smooth(20, 32, temperatureC) * 0.8, 1, smooth(0.35, 0.75, wetness)) * smooth(0.12, 0.5, wetness)

/** How suitable land is for fields, before regional variation. */
export function farmable(yearlyC: number, wetness: number, rugged: number): number {
  return (
    smooth(1, 6, yearlyC) *
    smooth(0.22, 0.42, wetness) *
    (1 - 0.55 * smooth(0.85, 1, wetness)) *
    (1 - smooth(0.25, 0.75, rugged)) *
    // Rain forest is cleared only in places.
    (1 - 0.7 * smooth(0.6, 0.78, wetness) * smooth(21, 25, yearlyC))
  )
}

export function forestable(yearlyC: number, wetness: number): number {
  return clamp01(smooth(-4, 1.5, yearlyC) * smooth(0.2, 0.75, wetness))
}
