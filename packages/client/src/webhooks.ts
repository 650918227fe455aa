/** Whether a delivery comes from the service, and what it says. */
import type { PlatformEvent } from './generated/events.ts'

const SIGNATURE = /^sha256=([0-9a-f]{64})$/

/** The delivery was not signed with this secret, or was changed on the way. */
export class SignatureError extends Error {
  override readonly name = 'SignatureError'
}

/**
 * The event of a delivery. `body` must be the bytes as they came, not parsed and written again; `signature` is the header
 * `X-Svc-Signature`. Deliveries may come twice: remember `event_id`.
 */
export async function verifyWebhook(
  body: Uint8Array | string,
  signature: string | null | undefined,
  secret: string,
): Promise<PlatformEvent> {
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
  const hex = SIGNATURE.exec(signature ?? '')?.[1]
  if (hex === undefined) throw new SignatureError('The header X-Svc-Signature is missing, or is not sha256=<hex>')
  const key = await hmacKey(secret, 'verify')
  const given = Uint8Array.from({ length: hex.length / 2 }, (_, index) => Number.parseInt(hex.slice(index * 2, index * 2 + 2), 16))
  // The comparison takes the same time wherever two signatures differ.
  const isGenuine = await crypto.subtle.verify('HMAC', key, given, bytes as Uint8Array<ArrayBuffer>)
  if (!isGenuine) throw new SignatureError('The signature does not fit the body')
  return JSON.parse(new TextDecoder().decode(bytes)) as PlatformEvent
}

/** The header for a body, as the service would send it: for tests of a receiver, and for forwarding. */
export async function signWebhook(body: Uint8Array | string, secret: string): Promise<string> {
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
  const signature = await crypto.subtle.sign('HMAC', await hmacKey(secret, 'sign'), bytes as Uint8Array<ArrayBuffer>)
  return `sha256=${[...new Uint8Array(signature)].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`
}

function hmacKey(secret: string, use: 'sign' | 'verify'): ReturnType<typeof crypto.subtle.importKey> {
  return crypto.subtle.importKey('raw', new TextEncoder().encode(secret), { name: 'HMAC', hash: 'SHA-256' }, false, [use])
}
