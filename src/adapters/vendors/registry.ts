/** The registry of sources: who has imagery, what of it is sold, and under which licence. It is data, and checked as such. */
import type { Licence, Product, Provider, Source } from '#ports/vendors.ts'

/** How a host is reached; only adapters need to know. */
interface HostAddress {
  readonly hostName: string
  readonly url: string
  readonly token: string | null
}

export interface Registry {
  readonly sources: readonly Source[]
  readonly hosts: readonly HostAddress[]
  readonly products: readonly Product[]
  readonly licences: readonly Licence[]
  readonly providers: readonly Provider[]
}

export const NO_SOURCES: Registry = { sources: [], hosts: [], products: [], licences: [], providers: [] }
