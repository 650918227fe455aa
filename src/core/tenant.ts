/**
 * The tenant that work is done for, available to whatever shares out a scarce resource (the raster pool, database connections) without
 * passing it through every function.
 */
import { AsyncLocalStorage } from 'node:async_hooks'

export interface Work {
  tenant: string
  /** Database connections it holds: work that holds one never waits for a second. */
  connections: number
}

const storage = new AsyncLocalStorage<Work>()

export const workFor = (tenant: string): Work => ({ tenant, connections: 0 })

export const during = <T>(work: Work, run: () => Promise<T>): Promise<T> => storage.run(work, run)

export const forTenant = <T>(tenant: string, run: () => Promise<T>): Promise<T> => during(workFor(tenant), run)

/** Assigns the current work to this tenant from now on. */
export function renameTenant(tenant: string): void {
  const work = storage.getStore()
  if (work) work.tenant = tenant
}

/** Null for the service itself. */
export function tenantOf(): string | null {
  return storage.getStore()?.tenant ?? null
}

export function currentWork(): Work | null {
  return storage.getStore() ?? null
}

/** For work that many callers share, whoever started it: it is not queued behind any tenant. */
export function asPlatform<T>(work: () => T): T {
  return storage.exit(work)
}

/** The tenant whose share of the service a call uses. */
export function tenantOfCaller(
  { organizationId, userId }: { readonly organizationId: string | null; readonly userId: string | null },
  clientAddress: string,
): string {
  return organizationId ?? userId ?? `address ${clientAddress}`
}
