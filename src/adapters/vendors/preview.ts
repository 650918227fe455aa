/** Preview images of scenes, from the hosts that an adapter names. */
import { VendorError, type CallOptions } from '#ports/vendors/call.ts'
import type { VendorCatalog } from '#ports/vendors/catalog.ts'
import type { Host } from './host.ts'

const PICTURE_TYPES = /^image\/(png|jpeg|webp)\b/
const MAX_PICTURE_BYTES = 8 * 1024 * 1024

/** Links of a vendor can lead anywhere: null unless `isTrusted`, or if there is no image. */
export async function fetchPreview(
  host: Host,
  href: string | undefined,
  isTrusted: (target: URL) => boolean,
  options: CallOptions,
): ReturnType<VendorCatalog['preview']> {
  const target = href === undefined ? null : URL.parse(href)
  if (!target || !isTrusted(target)) return null
  const answer = await host.send({ path: target.href, maxBytes: MAX_PICTURE_BYTES, ...options })
  if (answer.status === 404) return null
  if (answer.status !== 200 || !PICTURE_TYPES.test(answer.contentType))
    throw new VendorError('invalid-response', host.name, `${host.name} returned a thumbnail that is not an image`)
  return { contentType: answer.contentType.split(';')[0]!, bytes: answer.body }
}
