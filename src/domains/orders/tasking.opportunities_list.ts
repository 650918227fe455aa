import Type from 'typebox'
import { invalidField } from '#core/problem.ts'
import { Closed, Nullable } from '#core/shapes.ts'
import { DAY_MS } from '#core/time.ts'
import { callVendor } from '#model/orders/vendor-problem.ts'
import { requireAccount } from '#model/vendors/account.ts'
import { operation } from '#operation.ts'
import { featuresOf, requireProduct } from './input.lib.ts'
import { PageOf, pageOf } from '#wire/page.ts'
import { At, DataProduct, DisplayName, EXAMPLE_FEATURES, FeatureCollection, Params, Window } from './wire.ts'

const DEFAULT_DAYS = 14
const MAX_DAYS = 90
/** Upper limit of passes in one response, which no realistic window reaches. */
const MAX_PASSES = 500

const PassRecord = Closed({
  satellite: Nullable(Type.String({ description: 'Satellite name; null if the vendor does not say' })),
  noradId: Nullable(Type.Integer({ description: 'NORAD catalogue number; null if the vendor does not say' })),
  start: At('Start of the pass'),
  end: At('End of the pass'),
  offNadirDeg: Nullable(Type.Number({ description: 'Smallest off-nadir angle in degrees; null if the vendor does not say' })),
  sunElevationDeg: Nullable(Type.Number({ description: 'Sun elevation in degrees; null for radar' })),
})

/** Lists the passes of a product's satellites over an area, computed from their orbits by the vendor, earliest first. */
export default operation({
  id: 'orders.tasking.opportunities_list',
  scope: 'orders:read',
  tier: 'read',
  input: Closed({
    dataProduct: DataProduct,
    displayName: Type.Optional(Nullable(DisplayName)),
    featureCollection: FeatureCollection,
    params: Type.Optional(Nullable(Params)),
    ...Window,
  }),
  output: PageOf(PassRecord, 'Satellite passes'),
  example: {
    input: {
      dataProduct: 'sandbox-vhr-tasking',
      featureCollection: EXAMPLE_FEATURES,
      params: { acquisitionStart: '2026-04-01T00:00:00Z', acquisitionEnd: '2026-04-08T00:00:00Z', maxOffNadirAngle: 25 },
    },
    output: {
      content: [
        {
          satellite: 'Sandbox 1',
          noradId: 99_001,
          start: '2026-04-02T00:03:10.000Z',
          end: '2026-04-02T00:04:02.000Z',
          offNadirDeg: 12.4,
          sunElevationDeg: 38.1,
        },
      ],
      page: 0,
      size: 20,
      totalElements: 1,
      totalPages: 1,
    },
  },
}).handle({
  async check({ db, vendors, overlays, clock, principal }, { dataProduct, featureCollection, params }) {
    const product = requireProduct(vendors, dataProduct, 'TASKING')
    const features = await featuresOf(featureCollection, 'featureCollection')
    const areas = features.map(({ area }) => area)
    const whole = await overlays.union(areas, { organizationId: principal.organizationId ?? '', field: 'featureCollection' })
    const accountId = await requireAccount(db, vendors.source(product.hostName)!, principal.organizationId)
    return { product, accountId, query: { productId: product.id, area: whole!, limit: MAX_PASSES, ...windowOf(params ?? {}, clock.now()) } }
  },
  async execute({ vendors, signal }, { page, size }, { product, accountId, query }) {
    const passes = await callVendor(() => vendors.shop(product.hostName, accountId)!.opportunities(query, { signal }))
    return pageOf(passes, { page, size })
  },
})

/** The acquisition window of the parameters, by default two weeks from now. */
function windowOf(params: Record<string, unknown>, now: Date): { from: Date; to: Date; maxOffNadirDeg?: number } {
  const timeOf = (name: string, defaultMs: number): Date => {
    const value = params[name]
    if (value === undefined || value === null) return new Date(defaultMs)
    const time = new Date(typeof value === 'string' ? value : Number.NaN)
    if (Number.isNaN(time.getTime())) throw invalidField(`params.${name}`, 'must be a timestamp such as 2026-04-01T00:00:00Z')
    return time
  }
  const from = timeOf('acquisitionStart', now.getTime())
  const to = timeOf('acquisitionEnd', from.getTime() + DEFAULT_DAYS * DAY_MS)
  if (to <= from || to.getTime() - from.getTime() > MAX_DAYS * DAY_MS)
    throw invalidField('params.acquisitionEnd', `must be after acquisitionStart, by at most ${MAX_DAYS} days`)
  const angle = params['maxOffNadirAngle']
  if (angle === undefined || angle === null) return { from, to }
  if (typeof angle !== 'number' || !(angle > 0 && angle <= 60))
    throw invalidField('params.maxOffNadirAngle', 'must be between 0 and 60 degrees')
  return { from, to, maxOffNadirDeg: angle }
}
