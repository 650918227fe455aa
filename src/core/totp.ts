/** One-time codes by time (RFC 6238), as authenticator apps compute them: HMAC-SHA-1, 6 digits, 30 seconds. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

const DIGITS = 6
const STEP_SECONDS = 30
/** Steps before and after the current one that are accepted, for clocks that differ and people who type slowly. */
const DRIFT_STEPS = 1
/** 160 bits, the output size of SHA-1 (RFC 4226 §4). */
const SECRET_BYTES = 20
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

export const newSecret = (): string => toBase32(randomBytes(SECRET_BYTES))

export const stepAt = (time: Date): number => Math.floor(time.getTime() / 1000 / STEP_SECONDS)

/** The code of a time step; `secret` is in Base32. */
export function codeAt(secret: string, step: number, digits = DIGITS): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const mac = createHmac('sha1', fromBase32(secret)).update(counter).digest()
  const offset = mac[mac.length - 1]! & 0xf
  const number = mac.readUInt32BE(offset) & 0x7fff_ffff
  return String(number % 10 ** digits).padStart(digits, '0')
}

/** The time step that a code belongs to; null if it belongs to none near the given time. */
export function matchingStep(secret: string, code: string, time: Date): number | null {
  const given = Buffer.from(code)
  let found: number | null = null
  for (let drift = -DRIFT_STEPS; drift <= DRIFT_STEPS; drift++) {
    const step = stepAt(time) + drift
    const expected = Buffer.from(codeAt(secret, step))
    if (given.length === expected.length && timingSafeEqual(given, expected)) found = step
  }
  return found
}

/** The address in the QR code that authenticator apps read. */
export function uriOf(secret: string, account: string, issuer: string): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`
  const parameters = new URLSearchParams({ secret, issuer, algorithm: 'SHA1', digits: String(DIGITS), period: String(STEP_SECONDS) })
  return `otpauth://totp/${label}?${parameters.toString().replaceAll('+', '%20')}`
}

export function toBase32(bytes: Uint8Array): string {
  let bits = 0
  let value = 0
  let out = ''
  for (const byte of bytes) {
    value = (value << 8) | byte
    bits += 8
    while (bits >= 5) {
      bits -= 5
      out += BASE32[(value >>> bits) & 31]
    }
    value &= 0xff
  }
  return bits > 0 ? out + BASE32[(value << (5 - bits)) & 31] : out
}

function fromBase32(text: string): Buffer {
  const bytes: number[] = []
  let bits = 0
  let value = 0
  for (const letter of text) {
    value = ((value << 5) | BASE32.indexOf(letter)) & 0xfff
    bits += 5
    if (bits < 8) continue
    bits -= 8
    bytes.push((value >>> bits) & 0xff)
  }
  return Buffer.from(bytes)
}
