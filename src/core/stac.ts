/** What every STAC document of ours has in common. */

export const STAC_VERSION = '1.0.0'

/** In a table: the properties and assets that do not fit its columns, as JSON. */
export const STAC_TABLE_OTHER_PROPERTIES = 'svc:other_properties'
export const STAC_TABLE_OTHER_ASSETS = 'svc:other_assets'

export interface Link {
  rel: string
  href: string
  type?: string
  title?: string
}

export const extensionUri = (baseUrl: string): string => `${baseUrl}/stac/svc/v1.0.0/schema.json`

/** Addresses of ours carry the key that the caller came with by `key=`; addresses elsewhere never do. */
export const withKey = (href: string, key: string | null | undefined): string =>
  key ? `${href}${href.includes('?') ? '&' : '?'}key=${encodeURIComponent(key)}` : href
