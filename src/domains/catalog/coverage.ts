import Type from 'typebox'
import { sqKmOf } from '#core/area.ts'
import { GeoJsonArea } from '#core/geojson-shapes.ts'
import { requireArea } from '#core/geometry.ts'
import { Closed, Described, Nullable } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_FEATURE } from './wire.ts'

const MAX_FOOTPRINTS = 100

/** Returns how much of an area footprints cover together, as the scenes of an order do. */
export default operation({
  id: 'catalog.coverage',
  scope: 'catalog:read',
  tier: 'read',
  input: Closed({
    area: Described(GeoJsonArea, 'Area of interest: GeoJSON Polygon or MultiPolygon'),
    footprints: Type.Array(GeoJsonArea, {
      maxItems: MAX_FOOTPRINTS,
      description: 'Footprints of scenes: GeoJSON Polygons or MultiPolygons, at most 100; where they overlap, the area counts once',
    }),
  }),
  output: Closed(
    {
      area_km2: Type.Number({ description: 'Size of the area in km²' }),
      covered_km2: Type.Number({ description: 'Part of the area that the footprints cover, in km²' }),
      covered_percent: Type.Number({ minimum: 0, maximum: 100, description: 'The same in percent of the area' }),
      covered: Described(Nullable(GeoJsonArea), 'Covered part of the area; null if none'),
      rest: Described(Nullable(GeoJsonArea), 'Part of the area that no footprint covers; null if none'),
    },
    { description: 'Covered and uncovered parts of the area' },
  ),
  example: {
    input: { area: EXAMPLE_FEATURE.geometry!, footprints: [EXAMPLE_FEATURE.geometry!] },
    output: { area_km2: 410.8, covered_km2: 410.8, covered_percent: 100, covered: EXAMPLE_FEATURE.geometry!, rest: null },
  },
}).handle({
  async check(_context, input) {
    const area = requireArea(input.area, 'area')
    return { area, footprints: input.footprints.map((footprint, index) => requireArea(footprint, `footprints.${index}`)) }
  },
  async execute({ overlays, principal }, _input, { area, footprints }) {
    const areaSqKm = sqKmOf(area)
    const { covered, rest } =
      footprints.length === 0
        ? { covered: null, rest: area }
        : await overlays.coverage(area, footprints, { organizationId: principal.organizationId ?? '', field: 'footprints' })
    const coveredSqKm = covered ? Math.min(areaSqKm, sqKmOf(covered)) : 0
    return {
      area_km2: areaSqKm,
      covered_km2: coveredSqKm,
      covered_percent: areaSqKm === 0 ? 0 : Math.min(100, (100 * coveredSqKm) / areaSqKm),
      covered: covered as Record<string, unknown> | null,
      rest: rest as Record<string, unknown> | null,
    }
  },
})
