import { invalidField } from './problem.ts'

/** An address that links are built on, as a caller gives it: nothing in it can change what comes after. Without a slash at its end. */
export function requireBaseUrl(text: string, field = 'base_url'): string {
  const url = URL.canParse(text) ? new URL(text) : null
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:') || url.username || url.password || /[?#]/.test(text))
    throw invalidField(field, 'must be an http or https address without a query')
  return (url.origin + url.pathname).replace(/\/+$/, '')
}
