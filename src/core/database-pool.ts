/** How many connections to the primary a process uses. */

/** Defaults of `DATABASE_POOL` and `DATABASE_SEARCH_POOL`. */
export const STANDARD_POOL = 16
export const STANDARD_SEARCH_POOL = 6
/** For migrations and locks, which hold a connection as long as they last; none in normal service. */
export const MAX_DIRECT_CONNECTIONS = 4
/** One receives changes of access rights, one commits, and where there are replicas, one writes. */
const listenersOf = ({ databaseReplicaUrls = [] }: Pools): number => (databaseReplicaUrls.length > 0 ? 3 : 2)

interface Pools {
  readonly databasePool: number
  readonly databaseSearchPool: number
  readonly databaseReplicaUrls?: readonly string[]
}

/** The maximum of one process. Behind a pooler, only listeners and locks have connections of their own to the server. */
export const connectionsOf = (pools: Pools, hasPooler: boolean): number =>
  (hasPooler ? 0 : pools.databasePool + pools.databaseSearchPool) + listenersOf(pools) + MAX_DIRECT_CONNECTIONS
