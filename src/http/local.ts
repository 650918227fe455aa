/**
 * Local mode trusts the user of the machine. Any page in their browser can send requests to the service, too: a request is
 * trusted only if no other origin sent it and if it names the service by its own host (which rules out DNS rebinding).
 */
import { isIPv4 } from 'node:net'
import type { FastifyRequest } from 'fastify'

export interface ShownDemo {
  email: string
  password: string
  /** Null while demo data is loading. */
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

/** Following a link does not count: the page with the link cannot read the response. */
function isFromOtherSite({ method, headers }: FastifyRequest): boolean {
  const site = headers['sec-fetch-site']
  const opensPage = method === 'GET' && headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document'
  return site !== undefined && site !== 'same-origin' && site !== 'none' && !opensPage
}

export function isLoopbackName(name: string): boolean {
  return name === 'localhost' || name === '[::1]' || (isIPv4(name) && name.startsWith('127.'))
}
