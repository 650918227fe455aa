/**
 * Signed URLs of files. A child process asks its parent for one when it reads, and again when it expires or is refused; caches
 * and items know only the URL without the signature, so that a new signature makes nothing cold.
 */
import type { Egress } from '#adapters/egress/guard.ts'
import { VendorError } from '#ports/vendors/call.ts'
import type { FileUrls, SignedUrl } from '#ports/vendors/catalog.ts'
import { askParent } from '#raster/pool/ask.ts'
import { RasterError } from '#raster/types.ts'

type Response = Awaited<ReturnType<Egress['open']>>

export type Send = (
  url: string,
  init: { readonly headers: Readonly<Record<string, string>>; readonly signal: AbortSignal },
) => Promise<Response>

interface Question {
  readonly url: string
  readonly refused: string | null
}

/** A child can have an older signature than its parent, whose own is refused too: the second renewal gets a new one. */
const MAX_RENEWALS = 2

/** In the child: sends requests with a valid signature, and again with a new one if the host refuses it. */
export function withSignature(send: Send): Send {
  let current: (SignedUrl & { readonly untilMs: number }) | null = null
  const signed = async (url: string, refused: string | null) => {
    if (current && refused === null && performance.now() < current.untilMs) return current
    const answer = (await askParent({ url, refused } satisfies Question)) as SignedUrl
    current = { ...answer, untilMs: performance.now() + answer.validMs }
    return current
  }
  return async (url, init) => {
    let signature = await signed(url, null)
    for (let renewals = 0; ; renewals++) {
      const response = await send(signature.url, init)
      if ((response.status !== 401 && response.status !== 403) || renewals >= MAX_RENEWALS) return response
      const renewed = await signed(url, signature.version)
      if (renewed.version === signature.version) return response
      for await (const _chunk of response.body) break // Closes the connection.
      signature = renewed
    }
  }
}

/** In the parent: answers those questions. */
export const signer =
  (files: FileUrls) =>
  async (question: unknown): Promise<SignedUrl> => {
    const { url, refused } = question as Question
    if (!files.isSigned(url)) throw new RasterError('invalid_argument', 'Files at this URL are not signed')
    return await files.sign(url, refused).catch((error: unknown) => {
      if (error instanceof VendorError) throw new RasterError('source_unavailable', error.message)
      throw error
    })
  }
