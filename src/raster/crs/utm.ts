/**
 * UTM systems follow a pattern of codes for each datum, so they are made by rule. Only datums that are
 * WGS 84 to within a few metres are here: the others (NAD27, ED50, SAD69) need a shift for each zone
 * and are rows of the table.
 */

interface UtmSystem {
  readonly name: string
  readonly zone: number
  readonly south: boolean
  readonly geographicCode: number
}

interface UtmSeries {
  readonly datum: string
  readonly geographicCode: number
  /** The code of zone z is base + z. */
  readonly base: number
  readonly zones: readonly [number, number]
  readonly south: boolean
}

const north = false
const south = true

function series(
  datum: string,
  geographicCode: number,
  base: number,
  span: { zones: readonly [number, number]; south: boolean },
): UtmSeries {
  return { datum, geographicCode, base, ...span }
}

const SERIES: readonly UtmSeries[] = [
  series('WGS 84', 4326, 32600, { zones: [1, 60], south: north }),
  series('WGS 84', 4326, 32700, { zones: [1, 60], south }),
  series('ETRS89', 4258, 25800, { zones: [28, 38], south: north }),
  series('NAD83', 4269, 26900, { zones: [1, 23], south: north }),
  series('NAD83(2011)', 6318, 6329, { zones: [1, 19], south: north }),
  series('GDA94', 4283, 28300, { zones: [48, 58], south }),
  series('GDA2020', 7844, 7800, { zones: [46, 59], south }),
  series('SIRGAS 2000', 4674, 31954, { zones: [11, 22], south: north }),
  series('SIRGAS 2000', 4674, 31960, { zones: [17, 25], south }),
  series('JGD2000', 4612, 3046, { zones: [51, 55], south: north }),
  series('JGD2011', 6668, 6637, { zones: [51, 55], south: north }),
]

export function utmSystem(code: number): UtmSystem | null {
  for (const { datum, geographicCode, base, zones, south: isSouth } of SERIES) {
    const zone = code - base
    if (zone < zones[0] || zone > zones[1] || zone < 1) continue
    return { name: `${datum} / UTM zone ${zone}${isSouth ? 'S' : 'N'}`, zone, south: isSouth, geographicCode }
  }
  return null
}
