import { createHash } from 'node:crypto'
import { VendorError } from '#ports/vendors/call.ts'
import type { DeliveredFile, VendorShop } from '#ports/vendors/shop.ts'
import { WrongDelivery } from './delivery.lib.ts'

/** Consecutive interruptions of a download without progress. */
const MAX_INTERRUPTIONS = 3

interface Download {
  hostName: string
  orderId: string
  file: Pick<DeliveredFile, 'id' | 'fileName' | 'bytes' | 'sha256' | 'md5'>
}

/** Yields the bytes of a delivered file. A file whose size or checksum differs from the stated one is an error. */
export async function* download(shop: VendorShop, what: Download, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const { hostName, file } = what
  const checks = (['sha256', 'md5'] as const).flatMap((name) => (file[name] === null ? [] : [{ name, hash: createHash(name) }]))
  for await (const chunk of resumed(shop, what, signal)) {
    for (const { hash } of checks) hash.update(chunk)
    yield chunk
  }
  for (const { name, hash } of checks)
    if (hash.digest('hex') !== file[name]!.toLowerCase())
      throw new WrongDelivery(`'${hostName}' delivered ${file.fileName} with another ${name} than stated`)
}

/** Interrupted downloads resume. */
async function* resumed(shop: VendorShop, { hostName, orderId, file }: Download, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  let offset = 0
  let interruptions = 0
  for (;;) {
    try {
      for await (const chunk of shop.download(orderId, file.id, { offset, signal })) {
        offset += chunk.length
        if (file.bytes !== null && offset > file.bytes) break
        interruptions = 0
        yield chunk
      }
      if (file.bytes === null || offset === file.bytes) return
      const stated = `the ${file.bytes} bytes of ${file.fileName}`
      const actual = offset > file.bytes ? `more than ${stated}` : `${offset} of ${stated}`
      throw new VendorError('invalid-response', hostName, `'${hostName}' delivered ${actual}`)
    } catch (error) {
      const isInterruption = error instanceof VendorError && error.code !== 'refused' && error.code !== 'not-found'
      if (!isInterruption || ++interruptions > MAX_INTERRUPTIONS || (file.bytes !== null && offset > file.bytes)) throw error
    }
  }
}
