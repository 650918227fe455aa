/** A webhook endpoint for trying things out, on loopback: `POST` delivers to it, `GET` of the same URL lists the latest deliveries. */
import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

const HOST = '127.0.0.1'
const NAME_BYTES = 12
/** Older deliveries are dropped. */
const MAX_DELIVERIES = 50
const MAX_BODY_BYTES = 256 * 1024

interface Delivery {
  received_at: string
  headers: Record<string, string>
  body: unknown
}

export interface SandboxReceiver {
  /** Its path cannot be guessed: anyone who knows the URL can read the deliveries. */
  readonly url: string
  /** `host:port`, for the list of addresses that webhooks can reach. */
  readonly host: string
  close(): Promise<void>
}

export async function startSandboxReceiver(): Promise<SandboxReceiver> {
  const path = `/${randomBytes(NAME_BYTES).toString('base64url')}`
  const deliveries: Delivery[] = []
  const server = createServer(async (request, response) => {
    if (request.url !== path) return void response.writeHead(404).end()
    if (request.method === 'GET')
      return void response.writeHead(200, { 'content-type': 'application/json' }).end(`${JSON.stringify({ received: deliveries })}\n`)
    if (request.method !== 'POST') return void response.writeHead(405, { allow: 'GET, POST' }).end()
    const body = await bodyOf(request).catch(() => null)
    if (body === null) return void response.writeHead(413, { connection: 'close' }).end()
    deliveries.unshift({ received_at: new Date().toISOString(), headers: signatureHeaders(request), body })
    deliveries.splice(MAX_DELIVERIES)
    response.writeHead(204).end()
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, HOST, resolve))
  const host = `${HOST}:${(server.address() as AddressInfo).port}`
  return { url: `http://${host}${path}`, host, close: () => closed(server) }
}

/** Null if it is too long; text that is not JSON stays text. */
async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = []
  let length = 0
  for await (const part of request as AsyncIterable<Buffer>) {
    length += part.length
    if (length > MAX_BODY_BYTES) return null
    parts.push(part)
  }
  const text = Buffer.concat(parts).toString()
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Headers that a receiver verifies; others may be secrets of the subscription. */
const signatureHeaders = ({ headers }: IncomingMessage): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => /^(x-svc-|webhook-)/.test(name))) as Record<string, string>

async function closed(server: Server): Promise<void> {
  server.closeAllConnections()
  await new Promise<void>((resolve) => server.close(() => resolve()))
}
