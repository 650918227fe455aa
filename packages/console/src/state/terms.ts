/** Under which licence imagery can be used, and who must be named: from STAC properties. */

export interface Terms {
  /** The name of the licence; null if none is stated. */
  licence: string | null
  /** Only http and https: properties come from outside. */
  url: string | null
  attribution: string | null
}

type Properties = Readonly<Record<string, unknown>>

export const textOf = (value: unknown): string | null => (typeof value === 'string' && value.trim() !== '' ? value : null)

export function urlOf(value: unknown): string | null {
  const url = URL.parse(textOf(value) ?? '')
  return url && /^https?:$/.test(url.protocol) ? url.href : null
}

/** What STAC has instead of the identifier of a licence. */
const PLACEHOLDERS: readonly (string | null)[] = ['proprietary', 'various', 'other']

export function termsOf(properties: Properties): Terms {
  const license = textOf(properties['license'])
  const name = textOf(properties['svc:license_name'])
  const url = urlOf(properties['svc:license_url'])
  const isUnnamed = PLACEHOLDERS.includes(license) || (license === null && url !== null)
  return {
    licence: name ?? (isUnnamed ? (url ? 'Terms of use' : 'See the terms of the source') : license),
    url,
    attribution: textOf(properties['attribution']),
  }
}
