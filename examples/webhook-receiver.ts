/** Receives webhooks: `WEBHOOK_SECRET=whsec_… webhook-receiver.ts [port]`. Only what is signed is believed, each event once. */
import { createServer } from 'node:http'
import { SignatureError, verifyWebhook } from '../packages/client/src/index.ts'

const secret = process.env['WEBHOOK_SECRET'] ?? ''
/** Deliveries come at least once; a real receiver keeps these in its database. */
const seen = new Set<string>()
const MAX_SEEN = 10_000
const MAX_BODY_BYTES = 64 * 1024

const server = createServer(async (request, response) => {
  const parts: Buffer[] = []
  let length = 0
  for await (const part of request as AsyncIterable<Buffer>) {
    length += part.length
    if (length > MAX_BODY_BYTES) return void response.writeHead(413).end()
    parts.push(part)
  }
  try {
    const signature = request.headers['x-svc-signature']
    const event = await verifyWebhook(Buffer.concat(parts), typeof signature === 'string' ? signature : null, secret)
    if (!seen.has(event.event_id)) console.log(`${event.timestamp} ${event.event_type} ${event.entity_id}`)
    if (seen.size >= MAX_SEEN) seen.clear()
    seen.add(event.event_id)
    response.writeHead(204).end()
  } catch (error) {
    if (!(error instanceof SignatureError)) throw error
    response.writeHead(401).end()
  }
})
server.listen(Number(process.argv[2] ?? 3000), '127.0.0.1', () => console.log(`listening at ${JSON.stringify(server.address())}`))
