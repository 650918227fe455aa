/** Crops, and their appearance through the year. */
import { smooth } from './noise.ts'

interface Crop {
  readonly name: string
  /** Fraction of all fields. */
  readonly share: number
  /** Days of a northern year: emergence, closed canopy, ripening, harvest. */
  readonly days: readonly [number, number, number, number]
  /** Days in bloom, for crops with yellow flowers. */
  readonly bloom?: readonly [number, number]
  /** Greenness that stays all year, as on meadows. */
  readonly evergreen?: number
  /** Distance between its rows. */
  readonly rowM: number
}

const CROPS: readonly Crop[] = [
  { name: 'winter wheat', share: 0.3, days: [65, 115, 180, 205], rowM: 1.6 },
  { name: 'barley', share: 0.1, days: [60, 108, 160, 185], rowM: 1.6 },
  { name: 'rapeseed', share: 0.1, days: [55, 100, 170, 195], bloom: [112, 138], rowM: 1.8 },
  { name: 'maize', share: 0.2, days: [140, 190, 250, 275], rowM: 3 },
  { name: 'sugar beet', share: 0.08, days: [130, 175, 285, 300], rowM: 2.2 },
  { name: 'meadow', share: 0.17, days: [50, 100, 330, 360], evergreen: 0.45, rowM: 0 },
  { name: 'fallow', share: 0.05, days: [90, 150, 200, 260], evergreen: 0.15, rowM: 0 },
]

export interface FieldAppearance {
  green: number
  straw: number
  bloom: number
  rowM: number
}

/** The crop of a field, from the field's random number between 0 and 1. */
export function cropOf(pick: number): Crop {
  let rest = pick
  for (const crop of CROPS) {
    rest -= crop.share
    if (rest < 0) return crop
  }
  return CROPS[0] as Crop
}

const YEAR_DAYS = 365.25

/** Writes the appearance of a field on a day; `delay` shifts its calendar by some days. */
export function appearanceOn(out: FieldAppearance, crop: Crop, day: number, delay: number): void {
  const at = (day - delay + YEAR_DAYS) % YEAR_DAYS
  const [shoots, closed, ripens, cut] = crop.days
  const grown = smooth(shoots, closed, at)
  const ripe = smooth(ripens - 12, ripens + 12, at)
  const gone = smooth(cut - 1, cut + 1, at)
  const stubble = crop.evergreen ? 0 : gone * (1 - smooth(cut + 15, cut + 45, at))
  out.green = Math.max(crop.evergreen ?? 0, grown * (1 - ripe))
  out.straw = crop.evergreen ? 0 : Math.max(grown * ripe * (1 - gone), stubble * 0.75)
  out.bloom = crop.bloom ? smooth(crop.bloom[0], crop.bloom[0] + 8, at) * (1 - smooth(crop.bloom[1] - 8, crop.bloom[1], at)) : 0
  out.rowM = crop.rowM
}
