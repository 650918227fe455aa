/** A signature in the URL of tiles, which stands for the caller who asked for it. */
import { timingSafeEqual } from 'node:crypto'

export interface TileSignature {
  readonly kind: 'user' | 'api_key'
  /** Of the user or the key. */
  readonly id: string
  /** The organization that the caller acted for; null if none. */
  readonly organizationId: string | null
  readonly expiresAtSeconds: number
  /** The signing key from which the key of the signature is derived. */
  readonly keyId: string
}

const PREFIX = 'sig_'
const KINDS = ['user', 'api_key'] as const
const UUID_BYTES = 16
const PAYLOAD_BYTES = 1 + 3 * UUID_BYTES + 6
const MAC_BYTES = 32
const NOBODY = '00000000-0000-0000-0000-000000000000'

/** What the signature covers beside its own content: the layer and the style, as the tile URL names them. */
export function textToSign(signature: TileSignature, target: string): string {
  return `tiles\n${encode(signature).toString('hex')}\n${target}`
}

export function writeSignature(signature: TileSignature, mac: Buffer): string {
  return PREFIX + Buffer.concat([encode(signature), mac]).toString('base64url')
}

/** Parsed but not trusted. */
export function readSignature(text: string): { signature: TileSignature; matches(mac: Buffer): boolean } | null {
  if (!text.startsWith(PREFIX)) return null
  const encoded = text.slice(PREFIX.length)
  const bytes = Buffer.from(encoded, 'base64url')
  const kind = KINDS[bytes[0] ?? KINDS.length]
  if (!kind || bytes.length !== PAYLOAD_BYTES + MAC_BYTES || bytes.toString('base64url') !== encoded) return null
  const uuid = (index: number) => uuidText(bytes.subarray(1 + index * UUID_BYTES, 1 + (index + 1) * UUID_BYTES))
  const organizationId = uuid(1)
  const signature = {
    kind,
    id: uuid(0),
    organizationId: organizationId === NOBODY ? null : organizationId,
    keyId: uuid(2),
    expiresAtSeconds: bytes.readUIntBE(1 + 3 * UUID_BYTES, 6),
  }
  return { signature, matches: (mac) => timingSafeEqual(bytes.subarray(PAYLOAD_BYTES), mac) }
}

function encode({ kind, id, organizationId, keyId, expiresAtSeconds }: TileSignature): Buffer {
  const expiry = Buffer.alloc(6)
  expiry.writeUIntBE(expiresAtSeconds, 0, 6)
  return Buffer.concat([Buffer.of(KINDS.indexOf(kind)), ...[id, organizationId ?? NOBODY, keyId].map(uuidBytes), expiry])
}

const uuidBytes = (id: string): Buffer => Buffer.from(id.replaceAll('-', ''), 'hex')

function uuidText(bytes: Buffer): string {
  const hex = bytes.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

interface SignedLayer {
  readonly kind: 'items' | 'collections'
  readonly id: string
  /** Parameters of the tile URL. */
  readonly parameters: Readonly<Record<string, unknown>>
}

/** Parameters that decide what a tile shows; the others decide which part of it, in which format. */
const BOUND = ['profile', 'asset_key', 'bands', 'expression', 'rescale', 'colormap'] as const

/** An absent parameter and an empty one are the same. */
export function signedTarget({ kind, id, parameters }: SignedLayer): string {
  return JSON.stringify([kind, id, ...BOUND.map((name) => (parameters[name] == null || parameters[name] === '' ? null : parameters[name]))])
}
