/** Input of `orders.place` and `orders.estimate`: an archive or tasking order of a data product by name. */
import Type from 'typebox'
import { problem } from '#core/problem.ts'
import { Defaulted, Nullable } from '#core/shapes.ts'
import type { CaptureRequest } from '#model/orders/pricing.ts'
import type { Context } from '#operation.ts'
import type { Product } from '#ports/vendors/source.ts'
import { featuresOf, requireParams, requireProduct, taskingOf, type TaskingGroupRequest } from './input.lib.ts'
import { DataProduct, DisplayName, FeatureCollection, Params, Tags } from './wire.ts'

export const GenericInput = {
  dataProduct: DataProduct,
  displayName: Type.Optional(Nullable(DisplayName)),
  params: Defaulted(Params, {}),
  featureCollection: Type.Optional(FeatureCollection),
  tags: Type.Optional(Nullable(Tags)),
}

interface OrderInput {
  dataProduct: string
  params: Record<string, unknown>
  featureCollection?: Record<string, unknown>
}

type OrderRequest =
  | { type: 'ARCHIVE'; product: Product; captures: CaptureRequest[] }
  | { type: 'TASKING'; product: Product; taskings: TaskingGroupRequest[] }

/** For an archive product, `params.id` is the scene ID and each feature is a part of the scene. */
export async function parseRequest(
  context: Pick<Context, 'vendors' | 'clock'>,
  { dataProduct, params, featureCollection }: OrderInput,
): Promise<OrderRequest> {
  const product = requireProduct(context.vendors, dataProduct)
  if (!featureCollection) throw problem('bad-request', 'featureCollection is required; it contains the areas to order')
  if (product.type === 'TASKING')
    return { type: 'TASKING', product, taskings: [await taskingOf(context, { dataProduct, params, featureCollection })] }
  requireParams(product, params, 'params')
  const captures = (await featuresOf(featureCollection, 'featureCollection')).map(({ area }) => ({
    id: String(params['id']),
    geometry: area,
    host: product.hostName,
    productId: product.id,
  }))
  return { type: 'ARCHIVE', product, captures }
}

/** For an archive product, the licence type can be one of its parameters. */
export const licenseTypeOf = ({ params }: OrderInput): string =>
  typeof params['licenseType'] === 'string' ? params['licenseType'] : 'standard'
