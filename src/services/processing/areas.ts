import { requireArea } from '#core/geometry.ts'
import { mapInTime } from '#core/in-parts.ts'

interface WithAreas {
  geometry?: unknown
  zones?: { features: readonly { geometry: unknown }[] }
}

/** The parameters with normalized areas, as they are measured, clipped with and stored; 422 for an invalid one. */
export async function withValidAreas(params: unknown): Promise<unknown> {
  const { geometry, zones } = params as WithAreas
  return {
    ...(params as object),
    ...(geometry === undefined ? {} : { geometry: requireArea(geometry, 'geometry') }),
    ...(zones === undefined ? {} : { zones: { ...zones, features: await mapInTime(zones.features, zoneOf) } }),
  }
}

const zoneOf = (feature: { geometry: unknown }, index: number) => ({
  ...feature,
  geometry: requireArea(feature.geometry, `zones.features[${index}].geometry`),
})
