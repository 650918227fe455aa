import Type from 'typebox'
import { Closed, Nullable } from '#core/shapes.ts'

const Share = Closed({
  sqKmArea: Type.Number({ description: 'Square kilometres' }),
  percentage: Type.Number({ description: 'Of the area that was ordered' }),
  geometry: Nullable(Type.Unsafe<object>({ type: 'object', additionalProperties: true, description: 'GeoJSON; null for nothing' })),
})

export const Coverage = {
  covered: Type.With(Share, { description: 'What the delivered items show' }),
  remainder: Type.With(Share, { description: 'What they do not' }),
}

export const EXAMPLE_COVERAGE = {
  covered: { sqKmArea: 3.625, percentage: 100, geometry: null },
  remainder: { sqKmArea: 0, percentage: 0, geometry: null },
}
