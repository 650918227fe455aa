import Type from 'typebox'
import { Closed, FreeForm, Nullable } from '#core/shapes.ts'
import { operation } from '#operation.ts'

const SensorRecord = Closed({
  id: Type.String({ description: 'The collection that its images belong to' }),
  title: Type.String({ description: 'Its name for people' }),
  provider: Type.String({ description: 'The provider, as glossary.providers.list names it' }),
  host: Type.String({ description: 'The vendor that takes orders for it' }),
  resolution: Type.Number({ description: 'Metres on the ground' }),
  satellites: Type.Array(
    Closed({
      name: Type.String({ description: 'Name of the satellite' }),
      noradId: Type.Integer({ description: 'Catalogue number of the satellite' }),
    }),
    { description: 'What takes the images' },
  ),
  dataProducts: Type.Array(
    Closed({
      id: Type.String({ description: 'Id of the data product' }),
      name: Type.String({ description: 'Name of the data product, which orders take as well' }),
      title: Type.String({ description: 'Its name for people' }),
      steps: Type.Array(Type.String(), { description: 'What is decided on before it is taken: feasibility, quotation' }),
      maxSqKm: Nullable(Type.Number({ description: 'Maximum area of one feature in km²; null if there is no limit' })),
      constraints: Type.With(FreeForm, { description: 'JSON Schema of the params of an order' }),
    }),
    { description: 'As what its images can be ordered' },
  ),
})

/** Sensors that can be tasked, with the products that they are ordered as. */
export default operation({
  id: 'orders.tasking.sensors',
  scope: 'orders:read',
  tier: 'read',
  input: Closed({}),
  output: Closed({ sensors: Type.Array(SensorRecord, { description: 'Sensors that can be tasked' }) }),
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
    const tasked = Map.groupBy(
      vendors.products.filter(({ type }) => type === 'TASKING'),
      ({ hostName, collection }) => JSON.stringify([hostName, collection]),
    )
    return {
      sensors: [...tasked.values()].map((products) => {
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
