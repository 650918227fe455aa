/** Orders of a data product by name, archive or tasking, as `orders.place` and `orders.estimate` take them. */
import Type from 'typebox'
import { problem } from '#core/problem.ts'
import { Defaulted, Nullable } from '#core/shapes.ts'
import type { CaptureRequest } from '#model/orders/pricing.ts'
import type { Context } from '#operation.ts'
import type { Product } from '#ports/vendors.ts'
import { featuresOf, requireParams, requireProduct, taskingOf, type Wanted } from './input.lib.ts'
import { DataProduct, DisplayName, FeatureCollection, Params, Tags } from './wire.ts'

export const GenericInput = {
  dataProduct: DataProduct,
  displayName: Type.Optional(Nullable(DisplayName)),
  params: Defaulted(Params, {}),
  featureCollection: Type.Optional(FeatureCollection),
  tags: Type.Optional(Nullable(Tags)),
}

interface Given {
  dataProduct: string
  params: Record<string, unknown>
  featureCollection?: Record<string, unknown>
}

type Generic = { type: 'ARCHIVE'; product: Product; captures: CaptureRequest[] } | { type: 'TASKING'; product: Product; wanted: Wanted[] }

/** An archive product names its scene in `params.id`; each feature is a part of it that is wanted. */
export async function genericOf(
  context: Pick<Context, 'vendors' | 'clock'>,
  { dataProduct, params, featureCollection }: Given,
): Promise<Generic> {
  const product = requireProduct(context.vendors, dataProduct)
  if (!featureCollection) throw problem('bad-request', 'Say what is wanted: featureCollection has the areas')
  if (product.type === 'TASKING')
    return { type: 'TASKING', product, wanted: [await taskingOf(context, { dataProduct, params, featureCollection })] }
  requireParams(product, params, 'params')
  const captures = (await featuresOf(featureCollection, 'featureCollection')).map(({ area }) => ({
    id: String(params['id']),
    geometry: area,
    host: product.hostName,
    productId: product.id,
  }))
  return { type: 'ARCHIVE', product, captures }
}

/** An archive product may say its licence type among its parameters. */
export const licenseTypeOf = ({ params }: Given): string => (typeof params['licenseType'] === 'string' ? params['licenseType'] : 'standard')
