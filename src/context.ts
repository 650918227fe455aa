/**
 * The services that operations and tasks can use, declared once. A new service needs one line here, an adapter, and one line in
 * start/compose.ts that connects the two.
 */
import type { Clock } from '#core/clock.ts'
import type { Principal } from '#core/principal.ts'
import type { Retention } from '#core/retention.ts'
import type { Seal } from '#core/seal.ts'
import type { Layers } from '#model/imagery/item-layer.ts'
import type { SearchMemory } from '#model/imagery/search-memory.ts'
import type { Cursors } from '#model/platform/cursor.ts'
import type { ShareLink } from '#model/sharing/share-link.ts'
import type { Mail } from '#ports/mail.ts'
import type { ClipArea } from '#ports/clip-areas.ts'
import type { OperatorLog } from '#ports/operator-log.ts'
import type { Overlays } from '#ports/overlays.ts'
import type { Payments } from '#ports/payments.ts'
import type { Printer } from '#ports/printer.ts'
import type { RasterService } from '#ports/raster.ts'
import type { SingleSignOn } from '#ports/sso.ts'
import type { Storage } from '#ports/storage.ts'
import type { TileCacheBounds } from '#ports/tile-cache.ts'
import type { Vendors } from '#ports/vendors/vendors.ts'
import type { Webhooks } from '#ports/webhooks.ts'
import type { Workers } from '#ports/workers.ts'
import type { GrantScope } from '#core/share-grant.ts'
import type { Commit, Usage } from './effects.ts'

export interface Services {
  readonly clock: Clock
  readonly storage: Storage
  readonly raster: RasterService
  /** Makes PDFs. */
  readonly printer: Printer
  /** What tiles of items are rendered from, cached for a moment. */
  readonly layers: Pick<Layers, 'requireReader' | 'versionOf'>
  /** What earlier searches of this process learned about the data. */
  readonly searchMemory: SearchMemory
  /** Signed cursors of pages. */
  readonly cursors: Cursors
  /** Encrypts secrets in the database. */
  readonly secrets: Seal
  /** The card processor; null if cards are not accepted. */
  readonly payments: Payments | null
  /** Sources of imagery, open and commercial. */
  readonly vendors: Vendors
  /** Combines areas, off the event loop. */
  readonly overlays: Overlays
  /** Sends requests to the webhook endpoints of customers. */
  readonly webhooks: Webhooks
  readonly mail: Mail
  /** Sign-in at OpenID Connect providers. */
  readonly sso: SingleSignOn
  /** External workers that process jobs. */
  readonly workers: Workers
  /** Places whose mosaics can be clipped. */
  readonly clipAreas: readonly ClipArea[]
  readonly shares: Shares
  /** Signs tile URLs in the name of a caller. */
  readonly tileSigner: TileSigner
  readonly usage: Usage
  readonly commit: Commit
  readonly operatorLog: OperatorLog
  /** How long the records of calls are kept. */
  readonly retention: Retention
  /** Samples that a part of a divided job reads and writes; 0 if jobs are not divided. */
  readonly jobPartSamples: number
  /** How long a CDN may keep tiles of public links; 0: not at all. */
  readonly cdnSeconds: number
  /** Bounds of the tile cache in the object store; null: tiles are cached in memory only. */
  readonly tileCache: TileCacheBounds | null
}

export interface TileSigner {
  /**
   * Valid for this target (`signedTarget`) until it expires, and while the caller could read it. 403 for callers that are neither
   * users nor keys.
   */
  sign(principal: Principal, target: string, lifetimeSeconds: number): Promise<string>
}

/** Share links, opened anew on every call, so that revocation, expiry and retention apply immediately. */
export interface Shares {
  hashPassword(password: string): Promise<string>
  /** Limits how many visitors are served concurrently. */
  limit<T>(read: () => Promise<T>): Promise<T>
  /** Whether the token opens a link without a password. Not an attempt on a link that has one. */
  isPublic(token: string): Promise<boolean>
  /**
   * With the token of the link, or with a grant, which needs no password. Every failure is the same 401.
   */
  open(token: string, password: string, counted?: Attempts): Promise<OpenedShare>
}

/**
 * Which attempts count towards the limit of a link: all of them, as for visitors who enter a password, or failed ones, as for
 * their tiles.
 */
export type Attempts = 'all' | 'failed'

export interface OpenedShare {
  readonly link: ShareLink
  /** The whole link with a password; what the grant was signed for with a grant. */
  readonly scope: GrantScope
  /** Signs a short-lived grant that replaces the password, bound to it, to the link and to `scope`. */
  sign(scope: GrantScope, lifetimeSeconds: number): Promise<{ grant: string; expiresAt: Date }>
  /** Counts this opening of the link. */
  count(): Promise<void>
}
