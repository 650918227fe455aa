import type { Authenticator } from '#access/authenticate.ts'
import type { RateLimiter } from '#access/rate-limit.ts'
import type { Services } from '#context.ts'
import type { Db, Tx } from '#db/tables.ts'
import type { Tasks } from '#effects.ts'
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
  /** Told after each commit: what was kept in memory may no longer hold. */
  readonly committed: () => void
  /** After a change of who may do what: resolves when no process remembers how it was. */
  readonly rightsChanged: () => Promise<void>
  /** Told of failures that are ours; the caller only sees the invocation id. */
  readonly onFault: (error: unknown, invocationId: string, operation: string) => void
}
