import { VendorError, type VendorShop } from '#ports/vendors.ts'

/** Consecutive interruptions of a download without progress. */
const MAX_INTERRUPTIONS = 3

interface Download {
  hostName: string
  orderId: string
  file: { id: string; fileName: string; bytes: number | null }
}

/** Yields the bytes of a delivered file. Interrupted downloads resume; a file whose size differs from the stated one is an error. */
export async function* download(shop: VendorShop, { hostName, orderId, file }: Download, signal: AbortSignal): AsyncGenerator<Uint8Array> {
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
      throw new VendorError('nonsense', hostName, `'${hostName}' delivered ${actual}`)
    } catch (error) {
      const isInterruption = error instanceof VendorError && error.code !== 'refused' && error.code !== 'not-found'
      if (!isInterruption || ++interruptions > MAX_INTERRUPTIONS || (file.bytes !== null && offset > file.bytes)) throw error
    }
  }
}
