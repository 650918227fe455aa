/** Downloads an asset as a stream, which resumes after a network failure. */
import type { CallOptions, Client } from './client.ts'
import { problemOf, ProblemError } from './problem.ts'
import { delayMs, pause } from './retry.ts'

export interface DownloadOptions {
  itemId: string
  /** The asset, by ID or key; the default key is `data`. */
  assetId?: string | undefined
  assetKey?: string | undefined
  onProgress?: ((progress: { receivedBytes: number; totalBytes: number | null }) => void) | undefined
  signal?: AbortSignal | undefined
}

export interface Download extends AsyncIterable<Uint8Array> {
  readonly url: string
  readonly assetId: string
  readonly sizeBytes: number | null
  readonly mediaType: string
  blob(): Promise<Blob>
}

/** Attempts without receiving a byte. */
const MAX_ATTEMPTS = 5

interface SignedUrl {
  url: string
  asset_id: string
  size_bytes: number | null
  media_type: string
}

export async function download(client: Client, options: DownloadOptions): Promise<Download> {
  const call: CallOptions = options.signal ? { signal: options.signal } : {}
  const assetId = options.assetId ?? (await assetOf(client, options, call))
  const input = { item_id: options.itemId, asset_id: assetId }
  const signed = await client.call<SignedUrl>('items.asset.download', input, call, 'read')
  const bytes = () => chunks(signed.url, options)
  return {
    url: signed.url,
    assetId,
    sizeBytes: signed.size_bytes,
    mediaType: signed.media_type,
    [Symbol.asyncIterator]: bytes,
    async blob() {
      const parts: Uint8Array[] = []
      for await (const part of bytes()) parts.push(part)
      return new Blob(parts as Uint8Array<ArrayBuffer>[], { type: signed.media_type })
    },
  }
}

async function assetOf(client: Client, { itemId, assetKey = 'data' }: DownloadOptions, call: CallOptions): Promise<string> {
  const assets = await client.call<{ id: string; key: string }[]>('items.list_assets', { item_id: itemId }, call, 'read')
  const asset = assets.find(({ key }) => key === assetKey)
  if (!asset) throw new Error(`The item has no asset '${assetKey}'; its assets are ${assets.map(({ key }) => key).join(', ') || 'none'}`)
  return asset.id
}

async function* chunks(url: string, { onProgress, signal }: DownloadOptions): AsyncGenerator<Uint8Array, void, void> {
  let received = 0
  let total: number | null = null
  let etag: string | null = null
  for (let attempt = 0; ; attempt++) {
    try {
      const headers: Record<string, string> = received > 0 ? { range: `bytes=${received}-`, ...(etag ? { 'if-match': etag } : {}) } : {}
      const response = await globalThis.fetch(url, { headers, signal: signal ?? null })
      if (!response.ok) throw await problemOf(response, 'download', null)
      if (received > 0 && response.status !== 206) throw new Error('The server ignored the range request')
      etag = response.headers.get('etag')
      total ??= Number(response.headers.get('content-length')) || null
      for await (const part of partsOf(response)) {
        received += part.length
        attempt = 0
        onProgress?.({ receivedBytes: received, totalBytes: total })
        yield part
      }
      if (total === null || received >= total) return
    } catch (error) {
      const isFinal = error instanceof ProblemError && error.status < 500
      if (signal?.aborted || isFinal || attempt >= MAX_ATTEMPTS) throw error
    }
    await pause(delayMs(attempt, null), signal)
  }
}

async function* partsOf(response: Response): AsyncGenerator<Uint8Array, void, void> {
  const reader = response.body!.getReader()
  try {
    for (;;) {
      const { value, done } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}
