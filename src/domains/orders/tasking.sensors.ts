import Type from 'typebox'
import { Closed, Described, FreeForm, Nullable } from '#core/shapes.ts'
import { operation } from '#operation.ts'

const SensorRecord = Closed({
  id: Type.String({ description: 'Sensor ID, which is its collection name' }),
  title: Type.String({ description: 'Display name' }),
  provider: Type.String({ description: 'Provider name from `glossary.providers.list`' }),
  host: Type.String({ description: 'Host name of the vendor' }),
  resolution: Type.Number({ description: 'Ground resolution in metres per pixel' }),
  satellites: Type.Array(
    Closed({
      name: Type.String({ description: 'Satellite name' }),
      noradId: Type.Integer({ description: 'NORAD catalogue number' }),
    }),
    { description: 'Satellites with this sensor' },
  ),
  dataProducts: Type.Array(
    Closed({
      id: Type.String({ description: 'Data product ID' }),
      name: Type.String({ description: 'Data product name, which orders also accept' }),
      title: Type.String({ description: 'Display name' }),
      steps: Type.Array(Type.String(), { description: 'Decisions required before acquisition: `feasibility`, `quotation`' }),
      maxSqKm: Nullable(Type.Number({ description: 'Maximum area of one feature in km²; null if there is no limit' })),
      constraints: Described(FreeForm, "JSON Schema of the order's `params`"),
    }),
    { description: 'Data products on offer' },
  ),
})

/** Lists the sensors that can be tasked, with their data products. */
export default operation({
  id: 'orders.tasking.sensors',
  scope: 'orders:read',
  tier: 'read',
  input: Closed({}),
  output: Closed({ sensors: Type.Array(SensorRecord, { description: 'Sensors available for tasking' }) }),
  example: {
    input: {},
    output: {
      sensors: [
        {
          id: 'sandbox-vhr',
          title: 'Sandbox very high resolution',
          provider: 'groundtrack-sandbox',
          host: 'sandbox-vhr',
          resolution: 0.5,
          satellites: [{ name: 'Sandbox 1', noradId: 39_418 }],
          dataProducts: [
            {
              id: 'vhr',
              name: 'sandbox-vhr-tasking',
              title: 'Tasking, 0.5 m',
              steps: ['feasibility'],
              maxSqKm: 400,
              constraints: { type: 'object' },
            },
          ],
        },
      ],
    },
  },
}).handle({
  async execute({ vendors }) {
    const productsBySensor = Map.groupBy(
      vendors.products.filter(({ type }) => type === 'TASKING'),
      ({ hostName, collection }) => JSON.stringify([hostName, collection]),
    )
    return {
      sensors: [...productsBySensor.values()].map((products) => {
        const [{ hostName, collection, gsdM }] = products as [(typeof products)[number]]
        const source = vendors.source(hostName)!
        return {
          id: collection,
          title: source.title,
          provider: source.provider,
          host: hostName,
          resolution: gsdM,
          satellites: distinct(products.flatMap(({ satellites }) => satellites)),
          dataProducts: products.map(({ id, name, title, steps, maxSqKm, paramsSchema }) => ({
            id,
            name,
            title,
            maxSqKm,
            steps: [...steps],
            constraints: { ...paramsSchema },
          })),
        }
      }),
    }
  },
})

const distinct = (satellites: readonly { name: string; noradId: number }[]) => [
  ...new Map(satellites.map(({ name, noradId }) => [noradId, { name, noradId }])).values(),
]
