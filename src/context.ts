/**
 * What an operation and a task may use, declared once. A new service is one line here, one adapter behind it, and one line
 * in compose.ts that puts the two together.
 */
import type { Clock } from '#core/clock.ts'
import type { Layers } from '#model/imagery/item-layer.ts'
import type { SearchMemory } from '#model/imagery/search-memory.ts'
import type { Cursors } from '#model/platform/cursor.ts'
import type { ShareLink } from '#model/sharing/share-link.ts'
import type { Mail } from '#ports/mail.ts'
import type { ClipArea } from '#ports/clip-areas.ts'
import type { Overlays } from '#ports/overlays.ts'
import type { Payments } from '#ports/payments.ts'
import type { Printer } from '#ports/printer.ts'
import type { RasterService } from '#ports/raster.ts'
import type { Storage } from '#ports/storage.ts'
import type { Vendors } from '#ports/vendors.ts'
import type { Webhooks } from '#ports/webhooks.ts'
import type { Workers } from '#ports/workers.ts'
import type { GrantScope } from '#core/share-grant.ts'
import type { Commit, Usage } from './effects.ts'

export interface Services {
  readonly clock: Clock
  readonly storage: Storage
  readonly raster: RasterService
  /** Draws PDFs. */
  readonly printer: Printer
  /** What tiles of items are drawn from, remembered for a moment. */
  readonly layers: Layers
  /** What earlier searches of this process found out about the data. */
  readonly searchMemory: SearchMemory
  /** Signed cursors of pages. */
  readonly cursors: Cursors
  /** The card processor; null where no cards are taken. */
  readonly payments: Payments | null
  /** Who has imagery to find and to buy. */
  readonly vendors: Vendors
  /** Combines areas, off the event loop. */
  readonly overlays: Overlays
  /** Posts to endpoints of customers. */
  readonly webhooks: Webhooks
  readonly mail: Mail
  /** Who works on jobs from outside. */
  readonly workers: Workers
  /** Places whose mosaics can be clipped. */
  readonly clipAreas: readonly ClipArea[]
  readonly shares: Shares
  readonly usage: Usage
  readonly commit: Commit
}

/** Share links, opened anew on every call: revocation, expiry and retention count at once. */
export interface Shares {
  hashPassword(password: string): Promise<string>
  /** Reads what a visitor is shown, a few visitors at a time. */
  limit<T>(read: () => Promise<T>): Promise<T>
  /**
   * With the link's own token, or with a grant in its place, which needs no password. Whatever does not open it is one and the
   * same 401.
   */
  open(token: string, password: string, counted?: Attempts): Promise<OpenedShare>
}

/**
 * Which openings count towards the limit of a link: every one, as for who asks to be let in, or failed ones, as for the tiles
 * of who was.
 */
export type Attempts = 'all' | 'failed'

export interface OpenedShare {
  readonly link: ShareLink
  /** All of the link for a password; what it was signed for with a grant. */
  readonly scope: GrantScope
  /** Signs a grant that stands for the password: bound to it, to the link and to `scope`, and short-lived. */
  sign(scope: GrantScope, lifetimeSeconds: number): Promise<{ grant: string; expiresAt: Date }>
  /** Counts this opening of the link. */
  count(): Promise<void>
}
