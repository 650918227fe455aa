import { invalidField } from './problem.ts'

/** A base URL from a caller, without a trailing slash: it must not be able to change what is appended to it. */
export function requireBaseUrl(text: string, field = 'base_url'): string {
  const url = URL.canParse(text) ? new URL(text) : null
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:') || url.username || url.password || /[?#]/.test(text))
    throw invalidField(field, 'must be an http or https URL without a query')
  return (url.origin + url.pathname).replace(/\/+$/, '')
}
