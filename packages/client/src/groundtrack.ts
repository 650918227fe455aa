/** The whole client: every operation as a method, and what people do with several of them at once. */
import { download, type Download, type DownloadOptions } from './download.ts'
import { events, type EventsOptions } from './events.ts'
import type { PlatformEvent } from './generated/events.ts'
import { Operations } from './generated/operations.ts'
import { priceOf, type Price, type PricedOperation } from './generated/prices.ts'
import { upload, type Uploaded, type UploadOptions } from './upload.ts'
import { waitFor, type Waitable, type WaitedFor, type WaitOptions } from './wait.ts'

export interface TileLook {
  format?: 'webp' | 'png' | 'jpg' | undefined
  profile?: string | undefined
  bands?: string | undefined
  expression?: string | undefined
  rescale?: string | undefined
  colormap?: string | undefined
  assetKey?: string | undefined
  /** An API key that reads, for map libraries that cannot send a header. It can be seen by whoever sees the map. */
  key?: string | undefined
}

export class Groundtrack extends Operations {
  /** Files to items, straight to the store in pieces, with progress; it can be resumed. */
  upload(options: UploadOptions): Promise<Uploaded> {
    return upload(this, options)
  }

  /** A file of an item as a stream, with progress; it goes on by itself where the network broke off. */
  download(options: DownloadOptions): Promise<Download> {
    return download(this, options)
  }

  /** Waits until an order, a job or the conversion of an upload has ended, well or badly. */
  waitFor<const T extends Waitable>(target: T, options?: WaitOptions<WaitedFor<T>>): Promise<WaitedFor<T>> {
    return waitFor(this, target, options)
  }

  /** What happens in the organization, as it happens; it comes back by itself after a break. */
  events(options?: EventsOptions): AsyncGenerator<PlatformEvent, void, void> {
    return events(this, options)
  }

  /** What a call that spends would cost, without making it. */
  price(operation: PricedOperation, input: object): Promise<Price> {
    return priceOf((id, fields) => this.call(id, fields, {}, 'read'), operation, input)
  }

  /** The address of an item's tiles with `{z}/{x}/{y}`, for any map library. */
  tileUrl(itemId: string, { format = 'webp', assetKey, ...look }: TileLook = {}): string {
    const entries = Object.entries({ ...look, asset_key: assetKey }).filter((entry): entry is [string, string] => entry[1] !== undefined)
    const query = entries.length > 0 ? `?${new URLSearchParams(entries).toString()}` : ''
    return `${this.baseUrl}/api/v1/items/${encodeURIComponent(itemId)}/tiles/{z}/{x}/{y}.${format}${query}`
  }
}
