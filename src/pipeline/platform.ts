import type { Authenticator } from '#access/authenticate.ts'
import type { RateLimiter } from '#access/rate-limit.ts'
import type { Services } from '#context.ts'
import type { Replicas } from '#db/replicas/open.ts'
import type { Db, Tx } from '#db/tables.ts'
import type { Tasks } from '#effects.ts'
import type { Layers } from '#model/imagery/item-layer.ts'
import type { AnyOperation } from '#operation.ts'
import type { AuditTrail } from './audit.ts'
import type { Claims } from './idempotency.ts'
import type { FairScheduler } from './fair-scheduler.ts'

/** What the pipeline needs. Built once, in start/compose.ts, and passed with every call. */
export interface Platform {
  /** What operations receive; the context of a call is made from it. The rest of the platform is the pipeline's own. */
  readonly services: Services
  readonly db: Db
  /** Public URL of the service, without a trailing slash; final once the server listens. */
  readonly baseUrl: () => string
  readonly operations: ReadonlyMap<string, AnyOperation>
  readonly authenticator: Authenticator
  readonly rateLimiter: RateLimiter
  readonly claims: Claims
  readonly scheduler: FairScheduler
  readonly audit: AuditTrail
  readonly tasks: (tx: Tx) => Tasks
  /**
   * Called after each commit, with the organizations and users whose data has changed: caches may be stale. When it resolves, their next
   * read anywhere finds the change.
   */
  readonly committed: (...changed: readonly (string | null)[]) => Promise<void>
  /** Replicas of the database; null if there are none. */
  readonly replicas: Replicas | null
  /** What tiles of items are rendered from, also on replicas. */
  readonly layers: Layers
  /** Called after a change of access rights: resolves when no process has the old ones in its cache. */
  readonly rightsChanged: () => Promise<void>
  /** Logs and counts an internal error; the caller only sees the invocation ID. */
  readonly onFault: (error: unknown, invocationId: string, operation: string) => void
}
