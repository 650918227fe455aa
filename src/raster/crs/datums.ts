/**
 * Direct transformations between two datums. Most conversions go through WGS 84, with each datum's published shift
 * (`data/epsg.txt.br`). If the shifts to WGS 84 are less accurate than a published one between the two datums, accuracy is lost:
 * GDA94 and GDA2020 both equal WGS 84 within 3 m, and are up to 1.8 m apart.
 */
import type { Crs } from '#raster/types.ts'

interface Direct {
  readonly datums: readonly number[]
  /** Datums that the shift leads to, or whose own shift leads there. */
  readonly partners: readonly number[]
  /** Like proj4's `towgs84`: metres, arc seconds and parts per million, from a datum to its partners. */
  readonly shift: string
}

const GDA94 = 4283
const GDA2020 = 7844
const AGD66 = 4202
const AGD84 = 4203
/** The 2021 realization of WGS 84, which equals ITRF2014 and so GDA2020. */
const WGS84_G2139 = 9755

const DIRECT: readonly Direct[] = [
  // EPSG:8048, inverted. The shifts of AGD66 and AGD84 lead to GDA94.
  {
    datums: [GDA2020, WGS84_G2139],
    partners: [GDA94, AGD66, AGD84],
    shift: '-0.06155,0.01087,0.04019,-0.0394924,-0.0327221,-0.0328979,0.009994',
  },
]

/** Datums by the name prefix of their systems. */
const NAMES: Readonly<Record<string, number>> = {
  GDA94,
  GDA2020,
  AGD66,
  AGD84,
  'WGS 84 (G2139)': WGS84_G2139,
}

/** The definition of a system, with the datum's code as its `title`, which the library ignores. */
export function titled(figure: string, systemName: string): string {
  const code = NAMES[systemName.split(' / ')[0] ?? '']
  return code === undefined ? figure : `${figure} +title=${code}`
}

const titleOf = ({ proj4 }: Crs): number => Number(/\+title=(\d+)/.exec(proj4)?.[1] ?? 0)

/** The definitions to convert with between two systems. */
export function definitionsOf(from: Crs, to: Crs): readonly [from: string, to: string] {
  const [source, target] = [titleOf(from), titleOf(to)]
  if (source === 0 || target === 0) return [from.proj4, to.proj4]
  for (const { datums, partners, shift } of DIRECT) {
    if (datums.includes(source) && partners.includes(target)) return [shifted(from.proj4, shift), to.proj4]
    if (datums.includes(target) && partners.includes(source)) return [from.proj4, shifted(to.proj4, shift)]
  }
  return [from.proj4, to.proj4]
}

const shifted = (definition: string, shift: string): string => definition.replace(/\+towgs84=\S+/, `+towgs84=${shift}`)
