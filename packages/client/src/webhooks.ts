/** Verifies webhook deliveries. */
import type { PlatformEvent } from './generated/events.ts'

const SIGNATURE = /^sha256=([0-9a-f]{64})$/

/** The delivery was not signed with this secret, or was modified in transit. */
export class SignatureError extends Error {
  override readonly name = 'SignatureError'
}

/**
 * Returns the event of a delivery. `body` must be the raw bytes, not parsed and serialized again; `signature` is the header
 * `X-Svc-Signature`. A delivery can arrive twice: deduplicate by `event_id`.
 */
export async function verifyWebhook(
  body: Uint8Array | string,
  signature: string | null | undefined,
  secret: string,
): Promise<PlatformEvent> {
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
  const hex = SIGNATURE.exec(signature ?? '')?.[1]
  if (hex === undefined) throw new SignatureError('The X-Svc-Signature header is missing or not sha256=<hex>')
  const key = await hmacKey(secret, 'verify')
  const given = Uint8Array.from({ length: hex.length / 2 }, (_, index) => Number.parseInt(hex.slice(index * 2, index * 2 + 2), 16))
  // Constant-time comparison.
  const isGenuine = await crypto.subtle.verify('HMAC', key, given, bytes as Uint8Array<ArrayBuffer>)
  if (!isGenuine) throw new SignatureError('The signature does not match the body')
  return JSON.parse(new TextDecoder().decode(bytes)) as PlatformEvent
}

/** The signature header of a body, for testing a receiver and for forwarding. */
export async function signWebhook(body: Uint8Array | string, secret: string): Promise<string> {
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
  const signature = await crypto.subtle.sign('HMAC', await hmacKey(secret, 'sign'), bytes as Uint8Array<ArrayBuffer>)
  return `sha256=${[...new Uint8Array(signature)].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`
}

function hmacKey(secret: string, use: 'sign' | 'verify'): ReturnType<typeof crypto.subtle.importKey> {
  return crypto.subtle.importKey('raw', new TextEncoder().encode(secret), { name: 'HMAC', hash: 'SHA-256' }, false, [use])
}
