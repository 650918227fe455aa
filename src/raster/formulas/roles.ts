/** Band roles: what a band measures, independent of its number. The common names in upper case. */
export const BAND_ROLES = [
  'COASTAL',
  'BLUE',
  'GREEN',
  'YELLOW',
  'RED',
  'REDEDGE1',
  'REDEDGE2',
  'REDEDGE3',
  'NIR',
  'NIR08',
  'SWIR1',
  'SWIR2',
  'THERMAL',
  'VV',
  'VH',
  'HH',
  'HV',
  'PAN',
  'ALPHA',
  'ELEVATION',
] as const
export type BandRole = (typeof BAND_ROLES)[number]

/** Maps roles, in any spelling, to 1-based band numbers. */
export type BandRoles = Readonly<Record<string, number>>

const ALIASES: Readonly<Record<string, BandRole>> = {
  AEROSOL: 'COASTAL',
  COASTALAEROSOL: 'COASTAL',
  A: 'COASTAL',
  B: 'BLUE',
  G: 'GREEN',
  Y: 'YELLOW',
  R: 'RED',
  N: 'NIR',
  N2: 'NIR08',
  REDEDGE: 'REDEDGE1',
  RE: 'REDEDGE1',
  RE1: 'REDEDGE1',
  RE2: 'REDEDGE2',
  RE3: 'REDEDGE3',
  REDEDGE071: 'REDEDGE1',
  REDEDGE075: 'REDEDGE2',
  REDEDGE078: 'REDEDGE3',
  REDEDGE783: 'REDEDGE3',
  NIR1: 'NIR',
  NEARINFRARED: 'NIR',
  INFRARED: 'NIR',
  NIRNARROW: 'NIR08',
  NIR2: 'NIR08',
  SWIR: 'SWIR1',
  SWIR16: 'SWIR1',
  SWIR22: 'SWIR2',
  S1: 'SWIR1',
  S2: 'SWIR2',
  LWIR: 'THERMAL',
  LWIR11: 'THERMAL',
  TIR: 'THERMAL',
  T: 'THERMAL',
  PANCHROMATIC: 'PAN',
  DEM: 'ELEVATION',
  HEIGHT: 'ELEVATION',
  DSM: 'ELEVATION',
  DTM: 'ELEVATION',
}

const KNOWN: ReadonlySet<string> = new Set(BAND_ROLES)

/** Converts a mapping in any common spelling (`red_edge1`, `swir16`, `N`) to roles; unknown names are omitted. */
export function normalizeRoles(roles: BandRoles): Map<BandRole, number> {
  const known = new Map<BandRole, number>()
  for (const [name, band] of Object.entries(roles)) {
    const plain = name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '')
    const role = KNOWN.has(plain) ? (plain as BandRole) : Object.hasOwn(ALIASES, plain) ? ALIASES[plain] : undefined
    if (role !== undefined && Number.isInteger(band) && band >= 1 && !known.has(role)) known.set(role, band)
  }
  return known
}
