/** A STAPI server as an operator registers it: one product for areas and one for points, with the prices of a contract. */
import type { SimulatedStapi } from '../../sandbox/vendors/stapi/server.ts'

/** Of an order of the product for areas. */
export const CENTS = 25_000

const time = { type: 'string', format: 'date-time' }
const product = (id: string, name: string, vendorProduct: string, more: object = {}) => ({
  id,
  name,
  vendorProduct,
  title: name,
  description: 'New images by STAPI',
  type: 'TASKING',
  collection: 'stapi-images',
  licenceId: null,
  licenseTypes: ['standard'],
  steps: [],
  paramsSchema: {
    type: 'object',
    additionalProperties: false,
    required: ['acquisitionStart', 'acquisitionEnd'],
    properties: {
      acquisitionStart: time,
      acquisitionEnd: time,
      maxOffNadirAngle: { type: 'integer', minimum: 5, maximum: 45 },
      priority: { type: 'string', enum: ['standard', 'priority'] },
    },
  },
  gsdM: 3,
  satellites: [],
  ...more,
})

/** A source as an operator writes it, at the simulator's address. */
export const stapiRegistry = ({ url, hosts }: Pick<SimulatedStapi, 'url' | 'hosts'>, more: object = {}): string =>
  JSON.stringify({
    providers: [{ name: 'example', title: 'Example', description: '', roles: ['PRODUCER', 'HOST'], url: null }],
    licences: [],
    sources: [
      {
        id: 'stapi',
        hostName: 'stapi',
        title: 'Example by STAPI',
        description: 'New images',
        enabled: true,
        protocol: 'stapi',
        url,
        auth: { kind: 'header', header: 'Authorization', prefix: 'Bearer ' },
        downloadHosts: [hosts.files],
        fileHosts: [],
        accessModel: 'commercial',
        scope: 'global',
        countries: [],
        coverage: [],
        attribution: 'Example',
        license: 'proprietary',
        provider: 'example',
        renderStrategy: 'none',
        simulated: false,
        markupPercent: 10,
        accounts: ['installation', 'organization'],
        currency: 'USD',
        poll: { minSeconds: 60, maxSeconds: 3_600 },
        collections: [
          { id: 'stapi-images', title: 'Images', description: '', dataType: 'raster', gsdM: 3, bands: [], publicProvider: null },
        ],
        products: [
          product('7f7f1c1e-0000-4000-8000-000000000001', 'stapi-area', 'Area:Standard', { rateCard: { basis: 'order', cents: CENTS } }),
          product('7f7f1c1e-0000-4000-8000-000000000002', 'stapi-spot', 'Spot:Standard', {
            rateCard: { basis: 'area', centsPerSqKm: 900, minimumSqKm: 5 },
          }),
        ],
        ...more,
      },
    ],
  })
