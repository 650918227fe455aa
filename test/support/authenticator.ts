/** A security key in software: makes passkeys and signs challenges as a browser and its authenticator do (WebAuthn, ES256). */
import { createHash, createSign, generateKeyPairSync, randomBytes } from 'node:crypto'

const UP = 0x01
const UV = 0x04
const AT = 0x40

type Cbor = number | string | Uint8Array | Map<number | string, Cbor>

/** The few kinds of CBOR that an attestation needs. */
function cbor(value: Cbor): Buffer {
  const head = (kind: number, length: number): Buffer => {
    if (length < 24) return Buffer.from([(kind << 5) | length])
    if (length < 256) return Buffer.from([(kind << 5) | 24, length])
    return Buffer.from([(kind << 5) | 25, length >> 8, length & 255])
  }
  if (typeof value === 'number') return value >= 0 ? head(0, value) : head(1, -1 - value)
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)])
  if (value instanceof Map) return Buffer.concat([head(5, value.size), ...[...value].flatMap(([name, each]) => [cbor(name), cbor(each)])])
  return Buffer.concat([head(2, value.length), value])
}

const sha256 = (data: string | Uint8Array): Buffer => createHash('sha256').update(data).digest()
const base64url = (data: Uint8Array | string): string => Buffer.from(data).toString('base64url')

interface Options {
  challenge: string
  rpId?: string
  rp?: { id?: string }
}

export function softwareAuthenticator(origin: string) {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const credentialId = randomBytes(32)
  const id = base64url(credentialId)
  let counter = 0
  const clientData = (type: string, challenge: string, from: string) => Buffer.from(JSON.stringify({ type, challenge, origin: from }))
  const authData = (rpId: string, flags: number, attested: Uint8Array = Buffer.alloc(0)) => {
    const count = Buffer.alloc(4)
    count.writeUInt32BE(++counter)
    return Buffer.concat([sha256(rpId), Buffer.from([flags]), count, attested])
  }
  const envelope = (response: object) => ({ id, rawId: id, type: 'public-key', response, clientExtensionResults: {} })
  return {
    id,
    /** The response to `navigator.credentials.create`. */
    create({ challenge, rp }: Options, { from = origin }: { from?: string } = {}) {
      const { x, y } = publicKey.export({ format: 'jwk' })
      const cose = new Map<number, Cbor>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, Buffer.from(x!, 'base64url')],
        [-3, Buffer.from(y!, 'base64url')],
      ])
      const attested = Buffer.concat([Buffer.alloc(16), Buffer.from([0, credentialId.length]), credentialId, cbor(cose)])
      const attestation = new Map<string, Cbor>([
        ['fmt', 'none'],
        ['attStmt', new Map()],
        ['authData', authData(rp!.id!, UP | UV | AT, attested)],
      ])
      return envelope({
        clientDataJSON: base64url(clientData('webauthn.create', challenge, from)),
        attestationObject: base64url(cbor(attestation)),
        transports: ['internal'],
      })
    },
    /** The response to `navigator.credentials.get`. */
    get({ challenge, rpId }: Options, { from = origin, isUserVerified = true }: { from?: string; isUserVerified?: boolean } = {}) {
      const data = authData(rpId!, isUserVerified ? UP | UV : UP)
      const client = clientData('webauthn.get', challenge, from)
      const signature = createSign('sha256')
        .update(Buffer.concat([data, sha256(client)]))
        .sign(privateKey)
      return envelope({ clientDataJSON: base64url(client), authenticatorData: base64url(data), signature: base64url(signature) })
    },
  }
}
