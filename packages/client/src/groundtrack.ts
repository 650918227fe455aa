/** The complete client: every operation as a method, and helpers for tasks that need several calls. */
import { download, type Download, type DownloadOptions } from './download.ts'
import { events, type EventsOptions } from './events.ts'
import type { PlatformEvent } from './generated/events.ts'
import { Operations } from './generated/operations.ts'
import { priceOf, type Price, type PricedOperation } from './generated/prices.ts'
import { upload, type Uploaded, type UploadOptions } from './upload.ts'
import { waitFor, type Waitable, type WaitedFor, type WaitOptions } from './wait.ts'

export interface TileOptions {
  format?: 'webp' | 'png' | 'jpg' | undefined
  profile?: string | undefined
  bands?: string | undefined
  expression?: string | undefined
  rescale?: string | undefined
  colormap?: string | undefined
  assetKey?: string | undefined
  /** A read-only API key, for map libraries that cannot send headers. Everyone who can open the map can read it. */
  key?: string | undefined
}

export class Groundtrack extends Operations {
  /** Uploads files directly to the object store, in chunks and with progress, and creates items. An interrupted upload can be resumed. */
  upload(options: UploadOptions): Promise<Uploaded> {
    return upload(this, options)
  }

  /** Downloads an asset as a stream, with progress. It resumes automatically after network failures. */
  download(options: DownloadOptions): Promise<Download> {
    return download(this, options)
  }

  /** Waits until an order, a job or the conversion of an upload has succeeded or failed. */
  waitFor<const T extends Waitable>(target: T, options?: WaitOptions<WaitedFor<T>>): Promise<WaitedFor<T>> {
    return waitFor(this, target, options)
  }

  /** The organization's events as they happen; the stream reconnects automatically. */
  events(options?: EventsOptions): AsyncGenerator<PlatformEvent, void, void> {
    return events(this, options)
  }

  /** The price of a call that spends credits, without making the call. */
  price(operation: PricedOperation, input: object): Promise<Price> {
    return priceOf((id, fields) => this.call(id, fields, {}, 'read'), operation, input)
  }

  /** The tile URL of an item, with `{z}/{x}/{y}`, for any map library. */
  tileUrl(itemId: string, { format = 'webp', assetKey, ...style }: TileOptions = {}): string {
    const entries = Object.entries({ ...style, asset_key: assetKey }).filter((entry): entry is [string, string] => entry[1] !== undefined)
    const query = entries.length > 0 ? `?${new URLSearchParams(entries).toString()}` : ''
    return `${this.baseUrl}/api/v1/items/${encodeURIComponent(itemId)}/tiles/{z}/{x}/{y}.${format}${query}`
  }
}
