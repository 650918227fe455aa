/** A vendor in the hands of a test: it speaks the commercial protocol over HTTP, and says what it is told to say. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { text } from 'node:stream/consumers'
import { readRegistry, type Registry } from '#adapters/vendors/registry.ts'

type Json = Record<string, unknown>

interface View extends Json {
  id: string
  reference: string
  captures: { scene_id: string; status: string; reason: string | null }[]
  files: Json[]
}

/** `hang` never answers, a number is a status with a reason, anything else is the answer. */
type Reply = Json | 'hang' | number

export interface Script {
  place?: (view: View) => Reply
  look?: (view: View) => Reply
  file?: (fileId: string) => { bytes: Uint8Array; breaksAt?: number }
}

interface Liar {
  sources: Registry
  script: Script
  /** What was asked of it, in order. */
  asked: string[]
}

const PRICE = { product: 'sandbox-hr-archive', cents_per_sqkm: 1_000, minimum_sqkm: 0, resolution_class: 'HR', acquired_at: null }

export async function startLiar(t: TestContext): Promise<Liar> {
  const orders = new Map<string, View>()
  const server = createServer((request, response) => {
    answer(liar, orders, request, response).catch((error: unknown) => response.destroy(error as Error))
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const sources = await readRegistry(null, { sandboxUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, isOffline: true })
  const liar: Liar = { sources, script: {}, asked: [] }
  return liar
}

async function answer(liar: Liar, orders: Map<string, View>, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [, , folder, id = '', , fileId] = request.url!.split('/')
  liar.asked.push(`${request.method} ${folder}`)
  const body = request.method === 'POST' ? (JSON.parse((await text(request)) || '{}') as Json) : {}
  if (folder === 'prices') {
    const items = body['items'] as { geometry: unknown }[]
    return send(response, { prices: items.map(({ geometry }) => ({ ...PRICE, geometry })) })
  }
  if (fileId) return sendFile(response, liar.script.file!(decodeURIComponent(fileId)), request.headers.range)
  if (request.method === 'POST' && !id) {
    const reference = String(body['reference'])
    const captures = (body['captures'] as { scene_id: string }[]).map(({ scene_id }) => ({ scene_id, status: 'waiting', reason: null }))
    const view: View = { id: `v-${reference}`, reference, status: 'placed', reason: null, captures, files: [] }
    orders.set(view.id, view)
    return send(response, liar.script.place?.(view) ?? view)
  }
  const view = orders.get(id)
  return send(response, view ? (liar.script.look?.(view) ?? view) : 404)
}

function send(response: ServerResponse, reply: Reply): void {
  if (reply === 'hang') return
  const status = typeof reply === 'number' ? reply : 200
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(status === 200 ? reply : { error: { message: 'We have stopped selling it' } }))
}

function sendFile(
  response: ServerResponse,
  { bytes, breaksAt }: { bytes: Uint8Array; breaksAt?: number },
  range: string | undefined,
): void {
  const from = Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0)
  if (from > 0 && from >= bytes.length) return void response.writeHead(416).end()
  response.writeHead(from > 0 ? 206 : 200, { 'content-type': 'image/tiff', 'content-length': bytes.length - from })
  if (breaksAt === undefined) return void response.end(bytes.subarray(from))
  response.write(bytes.subarray(from, Math.max(from, breaksAt)), () => response.destroy())
}
