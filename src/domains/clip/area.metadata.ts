import Type from 'typebox'
import { sqKmOf } from '#core/area.ts'
import { Closed } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { requireProcess } from '#services/processing/catalogue.ts'
import { CLIP_PROCESS, requireArea } from './clips.lib.ts'
import { AreaId, AreaSummary, EXAMPLE_AREA, toArea } from './wire.ts'

/** One area: its description, size and attribution, and the price of a clip. */
export default operation({
  id: 'clip.area.metadata',
  scope: 'clip:read',
  tier: 'read',
  input: Closed({ area: AreaId }),
  output: Closed(
    {
      ...AreaSummary.properties,
      description: Type.String({ description: 'Description of the area' }),
      attribution: Type.String({ description: 'Attribution to display with the imagery' }),
      area_sq_km: Type.Number({ description: 'Area of the bounding box in km²' }),
      mosaic_types: Type.Array(Type.String(), { description: 'Mosaic types that can be clipped' }),
      price: Closed(
        {
          credits_per_km2: Type.Number({ description: 'Credits per km²' }),
          minimum_credits: Type.Integer({ description: 'Minimum price in credits' }),
        },
        { description: 'Price of a clip, independent of the number of mosaics' },
      ),
    },
    { description: 'The area and its prices' },
  ),
  example: {
    input: { area: EXAMPLE_AREA.id },
    output: {
      ...EXAMPLE_AREA,
      description: 'A simulated coast',
      attribution: 'Groundtrack',
      area_sq_km: 10_480,
      mosaic_types: ['rgb', 'dem'],
      price: { credits_per_km2: 0.02, minimum_credits: 5 },
    },
  },
}).handle({
  async execute(context, { area: areaId }) {
    const area = requireArea(context, areaId)
    const { price } = requireProcess(CLIP_PROCESS)
    const [west, south, east, north] = area.bbox
    const ring: [number, number][] = [
      [west, south],
      [east, south],
      [east, north],
      [west, north],
      [west, south],
    ]
    return {
      ...toArea(area),
      description: area.description,
      attribution: area.attribution,
      area_sq_km: Math.round(sqKmOf({ type: 'Polygon', coordinates: [ring] })),
      mosaic_types: area.mosaics.map(({ type }) => type),
      price: { credits_per_km2: price.creditsPerKm2, minimum_credits: price.minimumCredits },
    }
  },
})
