import { createHmac, timingSafeEqual } from 'node:crypto'

/** Logs redact every string with this prefix. */
export const GRANT_PREFIX = 'shg_'

/** What a grant gives access to: the whole link, an item of a shared collection, a layer of a shared map, or the download of an asset. */
export type GrantScope =
  | { readonly kind: 'link' }
  | { readonly kind: 'item'; readonly itemSeq: number }
  | { readonly kind: 'asset'; readonly assetId: string }
  | { readonly kind: 'layer'; readonly layerId: string }

export interface Grant {
  readonly linkId: string
  readonly expiresAtSeconds: number
  readonly scope: GrantScope
}

const MAC_BYTES = 32
/** Kind, link and expiry; the scope's own bytes follow. */
const HEAD_BYTES = 1 + 16 + 6
const SCOPE_BYTES = { link: 0, item: 8, asset: 16, layer: 16 } as const
/** The position is part of a grant: add new kinds at the end. */
const KINDS = ['link', 'item', 'asset', 'layer'] as const

/** `bound` invalidates the grant when it changes: it is the hash of the link's password. */
export function signGrant(secret: Buffer, grant: Grant, bound: string): string {
  const payload = encode(grant)
  return GRANT_PREFIX + Buffer.concat([payload, macOf(secret, payload, bound)]).toString('base64url')
}

/** Parsed but not trusted: the signature can only be verified once the link is known. */
export function readGrant(text: string): { grant: Grant; holds(secret: Buffer, bound: string): boolean } | null {
  if (!text.startsWith(GRANT_PREFIX)) return null
  const encoded = text.slice(GRANT_PREFIX.length)
  const bytes = Buffer.from(encoded, 'base64url')
  const kind = KINDS[bytes[0] ?? KINDS.length]
  if (!kind || bytes.length !== HEAD_BYTES + SCOPE_BYTES[kind] + MAC_BYTES || bytes.toString('base64url') !== encoded) return null
  const payload = bytes.subarray(0, -MAC_BYTES)
  const mac = bytes.subarray(-MAC_BYTES)
  return { grant: decode(kind, payload), holds: (secret, bound) => timingSafeEqual(mac, macOf(secret, payload, bound)) }
}

function macOf(secret: Buffer, payload: Buffer, bound: string): Buffer {
  return createHmac('sha256', secret).update('share grant\0').update(payload).update(bound).digest()
}

function encode({ linkId, expiresAtSeconds, scope }: Grant): Buffer {
  const bytes = Buffer.alloc(HEAD_BYTES + SCOPE_BYTES[scope.kind])
  bytes[0] = KINDS.indexOf(scope.kind)
  uuidBytes(linkId).copy(bytes, 1)
  bytes.writeUIntBE(expiresAtSeconds, 17, 6)
  if (scope.kind === 'item') bytes.writeBigUInt64BE(BigInt(scope.itemSeq), HEAD_BYTES)
  if (scope.kind === 'asset') uuidBytes(scope.assetId).copy(bytes, HEAD_BYTES)
  if (scope.kind === 'layer') uuidBytes(scope.layerId).copy(bytes, HEAD_BYTES)
  return bytes
}

function decode(kind: GrantScope['kind'], bytes: Buffer): Grant {
  return { linkId: uuidText(bytes.subarray(1, 17)), expiresAtSeconds: bytes.readUIntBE(17, 6), scope: scopeOf(kind, bytes) }
}

function scopeOf(kind: GrantScope['kind'], bytes: Buffer): GrantScope {
  if (kind === 'link') return { kind }
  if (kind === 'item') return { kind, itemSeq: Number(bytes.readBigUInt64BE(HEAD_BYTES)) }
  const id = uuidText(bytes.subarray(HEAD_BYTES))
  return kind === 'asset' ? { kind, assetId: id } : { kind, layerId: id }
}

const uuidBytes = (id: string): Buffer => Buffer.from(id.replaceAll('-', ''), 'hex')

function uuidText(bytes: Buffer): string {
  const hex = bytes.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
