import { createHmac, randomBytes } from 'node:crypto'
import { events, signWebhook } from '../../../client/src/core.ts'
import { connect } from '../config.ts'
import { EXIT, UsageError } from '../failure.ts'
import { readFlags, type Run } from '../options.ts'
import { json, note, paint, print } from '../terminal.ts'

const FORWARD_TIMEOUT_MS = 15_000

/** Prints events as they happen. Forwarded events have the same body, headers and signature as webhook deliveries. */
export const run: Run = async (rest, options) => {
  const { values, positions } = readFlags(rest, { values: ['forward-to', 'secret', 'types', 'after', 'count'], positions: 1 })
  if (positions[0] !== 'listen') throw new UsageError('groundtrack events listen [--forward-to URL]')
  const target = values['forward-to']
  const secret = values['secret'] ?? `whsec_${randomBytes(32).toString('base64')}`
  const types = values['types']?.split(',')
  let left = values['count'] === undefined ? Number.POSITIVE_INFINITY : Number(values['count'])
  if (!(left >= 1)) throw new UsageError('--count must be at least 1')
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
  if (target !== undefined) note(`Forwarding to ${target}\nSigning secret: ${secret}`, options.quiet)
  let isAgain = false
  const onOpen = () => {
    note(isAgain ? 'Reconnected' : 'Listening; press Ctrl-C to stop', options.quiet)
    isAgain = true
  }
  try {
    for await (const event of events(connect(options), { signal: stop.signal, lastEventId: values['after'], onOpen })) {
      if (types && !types.includes(event.event_type)) continue
      if (target === undefined) await print(`${json(event, false)}\n`)
      else await print(`${await forward(target, secret, event)}\n`)
      if (--left < 1) break
    }
  } catch (error) {
    if (!stop.signal.aborted) throw error
  }
  return EXIT.ok
}

async function forward(
  target: string,
  secret: string,
  event: { event_id: string; event_type: string; timestamp: string },
): Promise<string> {
  const body = JSON.stringify(event)
  const seconds = String(Math.floor(Date.now() / 1_000))
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const standard = createHmac('sha256', key).update(`${event.event_id}.${seconds}.${body}`).digest('base64')
  const line = `${event.timestamp}  ${event.event_type.padEnd(24)} ${event.event_id}`
  try {
    const { status, ok } = await globalThis.fetch(target, {
      method: 'POST',
      redirect: 'manual',
      body,
      signal: AbortSignal.timeout(FORWARD_TIMEOUT_MS),
      headers: {
        'content-type': 'application/json',
        'x-svc-signature': await signWebhook(body, secret),
        'x-svc-event': event.event_type,
        'x-svc-event-id': event.event_id,
        'x-svc-delivery-id': crypto.randomUUID(),
        'webhook-id': event.event_id,
        'webhook-timestamp': seconds,
        'webhook-signature': `v1,${standard}`,
      },
    })
    return `${line}  ${paint(ok ? 'green' : 'red', String(status))}`
  } catch (error) {
    return `${line}  ${paint('red', error instanceof Error ? error.message : String(error))}`
  }
}
