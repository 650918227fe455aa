import Type from 'typebox'
import { invalidField } from '#core/problem.ts'
import { Closed, Nullable } from '#core/shapes.ts'
import { tooLarge } from '#model/orders/pricing.ts'
import { operation } from '#operation.ts'
import { featuresOf, requireOpenWindow, requireParams, requireProduct } from './input.lib.ts'
import { DataProduct, DisplayName, EXAMPLE_FEATURES, FeatureCollection, Params } from './wire.ts'

/** Tells for each feature whether the vendor requires a feasibility study. Nothing is stored. */
export default operation({
  id: 'orders.tasking.feasibility_check',
  scope: 'orders:read',
  tier: 'read',
  input: Closed({
    dataProduct: DataProduct,
    displayName: Type.Optional(Nullable(DisplayName)),
    featureCollection: FeatureCollection,
    params: Type.Optional(Nullable(Params)),
  }),
  output: Closed(
    {
      features: Type.Array(
        Closed({
          index: Type.Integer({ description: 'Position of the feature, counted from 0' }),
          featureId: Nullable(Type.Union([Type.String(), Type.Number()], { description: 'Feature ID; null if it has none' })),
          studyRequired: Type.Boolean({ description: 'Whether the vendor requires a feasibility study' }),
          reason: Type.String({ description: 'Reason for the result' }),
        }),
        { description: 'Result for each feature' },
      ),
      studyRequired: Type.Boolean({ description: 'Whether any feature requires a feasibility study' }),
    },
    { description: 'Whether a feasibility study is required' },
  ),
  example: {
    input: {
      dataProduct: 'sandbox-vhr-tasking',
      featureCollection: EXAMPLE_FEATURES,
      params: { acquisitionStart: '2026-04-01T00:00:00Z', acquisitionEnd: '2026-05-01T00:00:00Z' },
    },
    output: {
      features: [{ index: 0, featureId: null, studyRequired: true, reason: 'Every order of this product requires a feasibility study' }],
      studyRequired: true,
    },
  },
}).handle({
  async check({ vendors, clock }, { dataProduct, params, featureCollection }) {
    const product = requireProduct(vendors, dataProduct, 'TASKING')
    requireParams(product, params ?? {}, 'params')
    requireOpenWindow(params ?? {}, clock.now(), 'params')
    for (const [index, { area }] of (await featuresOf(featureCollection, 'featureCollection')).entries()) {
      const reason = tooLarge(product, area, `Feature ${index + 1}`)
      if (reason) throw invalidField(`featureCollection.features.${index}.geometry`, reason)
    }
    return product
  },
  async execute(_context, { featureCollection }, { steps }) {
    const studyRequired = steps.includes('feasibility')
    const reason = studyRequired
      ? 'Every order of this product requires a feasibility study'
      : 'This product is quoted without a feasibility study'
    const features = featureCollection['features'] as { id?: string | number }[]
    return {
      features: features.map(({ id }, index) => ({ index, featureId: id ?? null, studyRequired, reason })),
      studyRequired,
    }
  },
})
