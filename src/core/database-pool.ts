/** How many database connections a process uses. */

/** Defaults of `DATABASE_POOL` and `DATABASE_SEARCH_POOL`. */
export const STANDARD_POOL = 16
export const STANDARD_SEARCH_POOL = 6
/** For migrations and locks, which hold a connection as long as they last; none in normal service. */
export const MAX_DIRECT_CONNECTIONS = 4
/** One receives changes of access rights, the other commits. */
const LISTENERS = 2

interface Pools {
  readonly databasePool: number
  readonly databaseSearchPool: number
}

/** The maximum of one process. Behind a pooler, only listeners and locks have connections of their own to the server. */
export const connectionsOf = ({ databasePool, databaseSearchPool }: Pools, hasPooler: boolean): number =>
  (hasPooler ? 0 : databasePool + databaseSearchPool) + LISTENERS + MAX_DIRECT_CONNECTIONS
