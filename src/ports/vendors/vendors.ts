/**
 * Imagery vendors: a registry of sources, and a client for each host. Open hosts can be searched; commercial hosts also sell.
 * `adapters/vendors` implements them; see docs/adr/0022-vendors.md.
 */
import type { CallOptions } from './call.ts'
import type { FileDownload, FileUrls, Scene, VendorCatalog } from './catalog.ts'
import type { VendorShop } from './shop.ts'
import type { AccountSecret, Licence, Product, Provider, Source } from './source.ts'

export interface Vendors {
  /** Enabled sources, in the order of the registry. */
  readonly sources: readonly Source[]
  readonly products: readonly Product[]
  readonly licences: readonly Licence[]
  readonly providers: readonly Provider[]
  /** Null if no enabled source has this name. */
  source(hostName: string): Source | null
  /** By ID or name; null if no vendor sells it. */
  product(idOrName: string): Product | null
  licence(id: string): Licence | null
  /**
   * The catalogue of a host, open or commercial, with the account of the installation or of an organization. Throws if `source` does not
   * know the name.
   */
  catalog(hostName: string, accountId?: string | null): VendorCatalog
  /** One scene; null if the host does not have it. Cached, because a map requests many tiles of the same scene. */
  scene(hostName: string, collectionId: string, id: string): Promise<Scene | null>
  readonly files: FileUrls
  /** A file of an open scene, from an offset; `refused` unless its host is registered. Throws if the transfer ends early. */
  download(url: string, options: { readonly offset?: number; readonly signal: AbortSignal }): Promise<FileDownload>
  /** The ordering API of a commercial host, with the account that pays; null for open data. */
  shop(hostName: string, accountId?: string | null): VendorShop | null
  /** What the vendor says about an account. Throws `unauthorized` if it does not accept the secret. */
  checkAccount(hostName: string, secret: AccountSecret, options?: CallOptions): Promise<AccountCheck>
  close(): Promise<void>
}

export interface AccountCheck {
  /** Shown to the account's owner: whose account it is, and what is missing before it can order. Null if there is nothing to say. */
  readonly detail: string | null
}
