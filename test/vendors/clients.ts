/** Clients of vendors without a platform around them: no database, no accounts of organizations. */
import type { Registry } from '#adapters/vendors/registry.ts'
import { createVendors } from '#adapters/vendors/vendors.ts'
import type { Clock } from '#core/clock.ts'
import type { Vendors } from '#ports/vendors/vendors.ts'
import type { VendorToken, VendorTokens } from '#ports/vendor-tokens.ts'

interface ClientOptions {
  readonly registry: Registry
  readonly clock: Clock
  readonly egressAllow?: readonly string[]
}

export const vendorsOf = ({ registry, clock, egressAllow = [] }: ClientOptions): Vendors =>
  createVendors({ registry, clock, egressAllow, tokens: inMemory(), accounts: { secretOf: async () => null } })

/** Tokens that all clients of a test share, as processes do. */
function inMemory(): VendorTokens {
  const tokens = new Map<string, VendorToken>()
  return {
    find: async (host, name) => tokens.get(`${host} ${name}`) ?? null,
    claim: async () => true,
    store: async (host, name, token) => void tokens.set(`${host} ${name}`, token),
    release: async () => {},
  }
}
