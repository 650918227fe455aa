import type { RasterService } from '#ports/raster.ts'
import type { Storage } from '#ports/storage.ts'
import type { Clock } from '#core/clock.ts'
import type { Payments } from '#ports/payments.ts'
import type { Db, Tx } from '#db/tables.ts'
import type { AnyOperation, Aside, Jobs, Shares } from '#operation.ts'
import type { AuditTrail } from './audit.ts'
import type { Authenticator } from '#access/authenticate.ts'
import type { Claims } from './idempotency.ts'
import type { RateLimiter } from '#access/rate-limit.ts'
import type { UsageRecorder } from '#background/usage.ts'

/** What the pipeline stands on. Built once, in main.ts or by a test; every call is handed it. */
export interface Platform {
  readonly db: Db
  readonly clock: Clock
  readonly baseUrl: () => string
  readonly raster: RasterService
  readonly storage: Storage
  readonly payments: Payments | null
  readonly aside: Aside
  readonly shares: Shares
  readonly operations: ReadonlyMap<string, AnyOperation>
  readonly authenticator: Authenticator
  readonly rateLimiter: RateLimiter
  readonly claims: Claims
  readonly audit: AuditTrail
  readonly usage: UsageRecorder
  readonly jobs: (tx: Tx) => Jobs
  /** Told of failures that are ours; the caller only sees the invocation id. */
  readonly onFault: (error: unknown, invocationId: string, operation: string) => void
}
