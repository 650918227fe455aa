import type { Group } from '#model/orders/order-group.ts'

/** The order request for a group. The group's ID is our reference and makes the request idempotent at the vendor. */
export function requestOf(
  { id, productId, captures, area, params, vendorOptionId, vendorQuotationId }: Group,
  licenseType: string,
  baseUrl: string,
) {
  return {
    reference: id,
    productId,
    licenseType,
    callbackUrl: `${baseUrl}/webhooks/vendors/${id}`,
    ...(captures
      ? { captures: captures.map(({ id: sceneId, geometry }) => ({ sceneId, geometry })) }
      : {
          area,
          params,
          ...(vendorOptionId ? { studyOptionId: vendorOptionId } : {}),
          ...(vendorQuotationId ? { quotationId: vendorQuotationId } : {}),
        }),
  }
}
