import type { Group } from '#model/orders/order-group.ts'
import type { Order } from '#model/orders/order.ts'
import type { VendorOrderRequest } from '#ports/vendors/shop.ts'

/** The order request for a group. The group's ID is our reference, by which the order is found at the vendor. */
export function requestOf(
  { id, productId, captures, area, params, vendorOptionId, vendorQuotationId, vendorCents }: Group,
  { licenseType, createdAt }: Pick<Order, 'licenseType' | 'createdAt'>,
  baseUrl: string,
): VendorOrderRequest {
  return {
    reference: id,
    createdAt,
    expectedCents: vendorCents,
    productId,
    licenseType,
    callbackUrl: `${baseUrl}/webhooks/vendors/${id}`,
    ...(captures
      ? { captures: captures.map(({ id: sceneId, geometry }) => ({ sceneId, geometry })), clipArea: area }
      : {
          area,
          params,
          ...(vendorOptionId ? { studyOptionId: vendorOptionId } : {}),
          ...(vendorQuotationId ? { quotationId: vendorQuotationId } : {}),
        }),
  }
}
