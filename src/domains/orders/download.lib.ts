import { VendorError, type VendorShop } from '#ports/vendors.ts'

/** How often in a row a file may break off without a byte more. */
const MAX_BREAKS = 3

interface Wanted {
  hostName: string
  orderId: string
  file: { id: string; fileName: string; bytes: number | null }
}

/** The bytes of a delivered file. Where the line breaks it goes on, and a file that stays shorter or longer than stated is an error. */
export async function* downloaded(shop: VendorShop, { hostName, orderId, file }: Wanted, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  let offset = 0
  let breaks = 0
  for (;;) {
    try {
      for await (const chunk of shop.download(orderId, file.id, { offset, signal })) {
        offset += chunk.length
        if (file.bytes !== null && offset > file.bytes) break
        breaks = 0
        yield chunk
      }
      if (file.bytes === null || offset === file.bytes) return
      const stated = `the ${file.bytes} bytes of ${file.fileName}`
      const what = offset > file.bytes ? `more than ${stated}` : `${offset} of ${stated}`
      throw new VendorError('nonsense', hostName, `'${hostName}' delivered ${what}`)
    } catch (error) {
      const isBreak = error instanceof VendorError && error.code !== 'refused' && error.code !== 'not-found'
      if (!isBreak || ++breaks > MAX_BREAKS || (file.bytes !== null && offset > file.bytes)) throw error
    }
  }
}
