import type { Group } from '#model/orders/order-group.ts'

/** What a vendor is sent for a group. The group's id is our reference: sent again, it is the same order. */
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
