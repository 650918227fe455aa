import Type from 'typebox'
import { GeoJsonGeometry } from '#core/geojson-shapes.ts'
import { Closed, Described, Nullable } from '#core/shapes.ts'

const Share = Closed(
  {
    sqKmArea: Type.Number({ description: 'Area in km²' }),
    percentage: Type.Number({ description: 'Percentage of the ordered area' }),
    geometry: Described(Nullable(GeoJsonGeometry), 'Covered or missing area; null if empty'),
  },
  { $id: 'CoverageShare', description: 'A share of the ordered area' },
)

export const Coverage = {
  covered: Described(Share, 'Area covered by delivered items'),
  remainder: Described(Share, 'Area not yet delivered'),
}

export const EXAMPLE_COVERAGE = {
  covered: { sqKmArea: 3.625, percentage: 100, geometry: null },
  remainder: { sqKmArea: 0, percentage: 0, geometry: null },
}
