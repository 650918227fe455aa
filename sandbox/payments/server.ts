/**
 * A simulated card processor: a real HTTP server that implements the processor's protocol and sends signed webhooks. No
 * money moves.
 */
import { createHash, createHmac } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import fastify, { type FastifyReply, type FastifyRequest } from 'fastify'
import { request } from 'undici'
import type { Db } from '#db/tables.ts'
import { parseForm, type Form } from './form.ts'
import { confirmByClient, Refusal, ROUTES } from './routes.ts'
import { createSchema, noteDelivery, undelivered, withSession, type Answer, type Notice, type Session } from './store.ts'

export const SANDBOX_KEY = 'sk_sandbox_groundtrack'

export interface SandboxOptions {
  db: Db
  host: string
  port: number
  /** URL for webhooks; null until the service listens. */
  noticeUrl: () => string | null
  webhookSecret: string
  /** For tests of network failures: runs after a request took effect and before its response. */
  beforeAnswer?: (method: string, path: string, answer: Answer) => Promise<void>
  /** Send webhooks only when told to. */
  manualNotices?: boolean
}

export interface SandboxPayments {
  url: string
  /** Completes 3-D Secure or enters a card. Null: no object has this client secret. */
  confirm(
    clientSecret: string,
    methodId: string | null,
  ): Promise<{ id: string; object: string; status: string; payment_method: string | null } | null>
  /** Sends undelivered webhooks and returns how many were accepted. */
  deliver(): Promise<number>
  close(): Promise<void>
}

const MAX_ATTEMPTS = 20
const DELIVERY_BATCH = 100
const DELIVERY_TIMEOUT_MS = 10_000
const REDELIVERY_MS = 15_000

export async function startSandboxPayments(options: SandboxOptions): Promise<SandboxPayments> {
  const { db } = options
  await createSchema(db)
  const app = fastify({ forceCloseConnections: true })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body))
  const pending = new Set<Promise<unknown>>()
  const deliverSoon = (notices: readonly Notice[]) => {
    if (options.manualNotices) return
    for (const notice of notices) {
      const sending = send(options, notice)
        .catch(() => false)
        .finally(() => pending.delete(sending))
      pending.add(sending)
    }
  }

  for (const [route, handler] of Object.entries(ROUTES)) {
    const [method, path] = route.split(' ') as ['GET' | 'POST', string]
    app.route<{ Params: { id?: string } }>({
      method,
      url: path,
      handler: async (incoming, reply) => {
        if (incoming.headers.authorization !== `Bearer ${SANDBOX_KEY}`)
          return reply.code(401).send({ error: { type: 'invalid_request_error', message: 'Invalid API Key provided' } })
        const form = formOf(incoming)
        const { answer, notices } = await withSession(db, replayOf(incoming), (session) =>
          refusing(session, (inside) => handler(inside, form, incoming.params.id ?? '')),
        )
        await options.beforeAnswer?.(method, incoming.url, answer)
        deliverSoon(notices)
        return answered(reply, answer)
      },
    })
  }
  await app.listen({ host: options.host, port: options.port })
  const deliver = async () => {
    let taken = 0
    for (const notice of await undelivered(db, MAX_ATTEMPTS, DELIVERY_BATCH)) if (await send(options, notice).catch(() => false)) taken++
    return taken
  }
  const timer = options.manualNotices ? null : setInterval(() => void deliver().catch(() => {}), REDELIVERY_MS)
  timer?.unref()
  const { port } = app.server.address() as AddressInfo

  return {
    url: `http://${options.host}:${port}`,
    async confirm(clientSecret, methodId) {
      const { answer, notices } = await withSession(db, null, (session) =>
        refusing(session, async (inside) => ({ status: 200, body: await confirmByClient(inside, clientSecret, methodId) })),
      )
      deliverSoon(notices)
      return answer.status === 200 ? (answer.body as never) : null
    },
    deliver,
    async close() {
      if (timer) clearInterval(timer)
      await app.close()
      await Promise.all(pending)
    },
  }
}

/** A refusal is stored under its idempotency key like any other response. */
async function refusing(session: Session, work: (session: Session) => Promise<Answer>): Promise<Answer> {
  try {
    return await work(session)
  } catch (error) {
    if (error instanceof Refusal) return error.answer
    throw error
  }
}

function formOf(incoming: FastifyRequest): Form {
  return parseForm(incoming.method === 'GET' ? (incoming.url.split('?')[1] ?? '') : ((incoming.body as string | undefined) ?? ''))
}

function replayOf(incoming: FastifyRequest): { key: string; fingerprint: string } | null {
  const key = incoming.headers['idempotency-key']
  if (incoming.method !== 'POST' || typeof key !== 'string') return null
  return {
    key,
    fingerprint: createHash('sha256')
      .update(`${incoming.url}\n${(incoming.body as string | undefined) ?? ''}`)
      .digest('hex'),
  }
}

function answered(reply: FastifyReply, { status, body }: Answer): FastifyReply {
  return reply.code(status).type('application/json').send(body)
}

export function signNotice(body: string, secret: string, atSeconds: number): string {
  return `t=${atSeconds},v1=${createHmac('sha256', secret).update(`${atSeconds}.${body}`).digest('hex')}`
}

async function send({ db, noticeUrl, webhookSecret }: SandboxOptions, { id, body }: Notice): Promise<boolean> {
  const url = noticeUrl()
  if (!url) return false
  let taken = false
  try {
    const answer = await request(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'stripe-signature': signNotice(body, webhookSecret, Math.floor(Date.now() / 1000)) },
      body,
      headersTimeout: DELIVERY_TIMEOUT_MS,
      bodyTimeout: DELIVERY_TIMEOUT_MS,
    })
    await answer.body.dump()
    taken = answer.statusCode >= 200 && answer.statusCode < 300
  } finally {
    await noteDelivery(db, id, taken)
  }
  return taken
}
