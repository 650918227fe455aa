/**
 * Local mode trusts whoever sits at the machine. Their browser reaches the service too, for any page it has open: a request is
 * theirs only if no page of another origin sent it, and if it names the service by its own address (DNS rebinding does not).
 */
import { isIPv4 } from 'node:net'
import type { FastifyRequest } from 'fastify'

export interface ShownDemo {
  email: string
  password: string
  /** Null while the demo is being filled. */
  shareToken: string | null
  /** Values for fields of examples, by name. */
  fields: Readonly<Record<string, string>>
}

/** Null unless this is a local service with a demo account. */
export type Demo = () => Promise<ShownDemo | null>

export function isOwnRequest(request: FastifyRequest, baseUrl: string): boolean {
  const { origin, host = '' } = request.headers
  const own = new URL(baseUrl)
  const named = URL.parse(`http://${host}`)
  if (!named || (named.hostname !== own.hostname && !isLoopbackName(named.hostname))) return false
  if (isFromOtherSite(request)) return false
  return origin === undefined || origin === own.origin || origin === `http://${named.host}`
}

/** Opening a link is not: the page that has the link cannot read what opens. */
function isFromOtherSite({ method, headers }: FastifyRequest): boolean {
  const site = headers['sec-fetch-site']
  const opensPage = method === 'GET' && headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document'
  return site !== undefined && site !== 'same-origin' && site !== 'none' && !opensPage
}

export function isLoopbackName(name: string): boolean {
  return name === 'localhost' || name === '[::1]' || (isIPv4(name) && name.startsWith('127.'))
}
