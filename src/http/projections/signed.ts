/** Signatures in tile URLs, which only the routes of tiles accept. */
import type { Credential } from '#access/authenticate.ts'
import { readSignature, signedTarget } from '#core/tile-signature.ts'
import type { Invoked } from '#pipeline/invoke.ts'

interface SignedLayer {
  readonly kind: 'items' | 'collections'
  readonly id: string
  /** Parameters of the tile URL. */
  readonly parameters: Readonly<Record<string, unknown>>
}

/** For clients that send nothing but the URL. Other credentials come first. */
export function signatureOf(signature: unknown, layer: SignedLayer): Credential {
  return typeof signature === 'string' ? { via: 'signature', secret: signature, target: signedTarget(layer) } : null
}

/** A browser keeps a tile no longer than its URL is valid. */
export function keptUntil(invoked: Invoked, credential: Credential, now: Date): Invoked {
  if (credential?.via !== 'signature') return invoked
  const control = invoked.headers['Cache-Control']
  const seconds = Math.max(0, (readSignature(credential.secret)?.signature.expiresAtSeconds ?? 0) - Math.floor(now.getTime() / 1000))
  if (invoked.status < 400 && control)
    invoked.headers['Cache-Control'] = control.replace(/max-age=(\d+)/, (_all, age: string) => `max-age=${Math.min(Number(age), seconds)}`)
  return invoked
}
