/**
 * For whom work is done, known to whatever shares something scarce out (the raster pool, the connections of the database)
 * without being handed through every function on the way.
 */
import { AsyncLocalStorage } from 'node:async_hooks'

export interface Work {
  tenant: string
  /** Connections of the database that it has: what holds one never waits behind others for a second. */
  connections: number
}

const storage = new AsyncLocalStorage<Work>()

export function forTenant<T>(tenant: string, work: () => Promise<T>): Promise<T> {
  return storage.run({ tenant, connections: 0 }, work)
}

/** The work under way is this one's from here on. */
export function renameTenant(tenant: string): void {
  const work = storage.getStore()
  if (work) work.tenant = tenant
}

/** Null: the platform itself. */
export function tenantOf(): string | null {
  return storage.getStore()?.tenant ?? null
}

export function currentWork(): Work | null {
  return storage.getStore() ?? null
}

/** Work that many share, whoever happened to begin it: it waits behind nobody's own. */
export function asPlatform<T>(work: () => T): T {
  return storage.exit(work)
}

/** Whose share of the service a call uses. */
export function tenantOfCaller(
  { organizationId, userId }: { readonly organizationId: string | null; readonly userId: string | null },
  clientAddress: string,
): string {
  return organizationId ?? userId ?? `address ${clientAddress}`
}
