/** Definitions that all STAC documents of the service share. */

export const STAC_VERSION = '1.0.0'

/** Columns of a GeoParquet table for properties and assets that do not fit its other columns, as JSON. */
export const STAC_TABLE_OTHER_PROPERTIES = 'svc:other_properties'
export const STAC_TABLE_OTHER_ASSETS = 'svc:other_assets'

export interface Link {
  rel: string
  href: string
  type?: string
  title?: string
}

export const extensionUri = (baseUrl: string): string => `${baseUrl}/stac/svc/v1.0.0/schema.json`

/** Our own URLs carry the API key that the caller sent as `key=`; other URLs never do. */
export const withKey = (href: string, key: string | null | undefined): string =>
  key ? `${href}${href.includes('?') ? '&' : '?'}key=${encodeURIComponent(key)}` : href
