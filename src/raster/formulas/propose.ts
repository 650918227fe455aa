/** Infers the roles of a raster's bands: from the file, from a catalogue, from its colour interpretation, or from the band count. */
import type { ColorInterpretation, DataType, RasterInfo } from '#raster/types.ts'
import { normalizeRoles, type BandRole } from './roles.ts'

interface ProposedBand {
  /** 1-based. */
  index: number
  name: string
  role: BandRole | null
  dataType: string | null
}

/** A band as a catalogue describes it. */
interface StatedBand {
  name: string | null
  commonName: string | null
  dataType: string | null
}

type ProposalSource = 'file' | 'stac' | 'color' | 'band_count'

/** The usual band order of sensors with that many bands. */
const USUAL: Readonly<Record<number, readonly string[]>> = {
  3: ['red', 'green', 'blue'],
  4: ['blue', 'green', 'red', 'nir'],
  5: ['blue', 'green', 'red', 'rededge1', 'nir'],
  6: ['blue', 'green', 'red', 'nir', 'swir1', 'swir2'],
  7: ['coastal', 'blue', 'green', 'red', 'nir', 'swir1', 'swir2'],
  8: ['coastal', 'blue', 'green_i', 'green', 'yellow', 'red', 'rededge1', 'nir'],
  10: ['blue', 'green', 'red', 'rededge1', 'rededge2', 'rededge3', 'nir', 'nir08', 'swir1', 'swir2'],
  12: ['coastal', 'blue', 'green', 'red', 'rededge1', 'rededge2', 'rededge3', 'nir', 'nir08', 'nir09', 'swir1', 'swir2'],
  13: ['coastal', 'blue', 'green', 'red', 'rededge1', 'rededge2', 'rededge3', 'nir', 'nir08', 'nir09', 'cirrus', 'swir1', 'swir2'],
}
/** Aerial cameras have the colours first and the infrared last. */
const USUAL_OF_BYTES: Readonly<Record<number, readonly string[]>> = { 4: ['red', 'green', 'blue', 'nir'] }

const COLORS: readonly ColorInterpretation[] = ['red', 'green', 'blue', 'alpha']

export function proposeBands(
  info: Pick<RasterInfo, 'bands' | 'dataType'> | null,
  stated: readonly StatedBand[] | null,
): { bands: ProposedBand[]; source: ProposalSource } | null {
  const count = info?.bands.length ?? stated?.length ?? 0
  if (count === 0) return null
  const declared = stated?.length === count ? stated : null
  const fromFile = info && info.bands.every(({ name }) => name) ? info.bands.map(({ name }) => name!) : null
  const fromStac = declared && declared.every(({ name }) => name) ? declared.map(({ name }) => name!) : null
  const fromColors =
    info && info.bands.filter(({ color }) => COLORS.includes(color)).length >= 3
      ? info.bands.map(({ color }, index) => (COLORS.includes(color) ? color : `band_${index + 1}`))
      : null
  const [names, source]: [readonly string[], ProposalSource] = fromFile
    ? [fromFile, 'file']
    : fromStac
      ? [fromStac, 'stac']
      : fromColors
        ? [fromColors, 'color']
        : [guessed(count, info), 'band_count']
  const roles = rolesOf(names, declared)
  return {
    bands: names.map((name, index) => ({
      index: index + 1,
      name,
      role: roles[index] ?? null,
      dataType: info?.dataType ?? declared?.[index]?.dataType ?? null,
    })),
    source,
  }
}

/** The alpha band of a file is known; only the others are guessed. */
function guessed(count: number, info: Pick<RasterInfo, 'bands' | 'dataType'> | null): readonly string[] {
  const alpha = info?.bands.findIndex(({ color }) => color === 'alpha') ?? -1
  const colours = alpha === -1 ? count : count - 1
  const usual =
    (isByte(info?.dataType) ? USUAL_OF_BYTES[colours] : undefined) ??
    USUAL[colours] ??
    Array.from({ length: colours }, (_, index) => `band_${index + 1}`)
  return alpha === -1 ? usual : usual.toSpliced(alpha, 0, 'alpha')
}

const isByte = (dataType: DataType | undefined): boolean => dataType === 'uint8'

/** The role that the band's name spells, otherwise that of the catalogue. The first band with a role keeps it. */
function rolesOf(names: readonly string[], said: readonly StatedBand[] | null): (BandRole | null)[] {
  const taken = new Set<BandRole>()
  return names.map((name, index) => {
    const role = roleOf(name) ?? roleOf(said?.[index]?.commonName ?? '')
    if (role === null || taken.has(role)) return null
    taken.add(role)
    return role
  })
}

const roleOf = (name: string): BandRole | null =>
  normalizeRoles({ [name]: 1 })
    .keys()
    .next().value ?? null
