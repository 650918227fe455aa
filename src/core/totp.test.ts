import assert from 'node:assert/strict'
import { test } from 'node:test'
import { codeAt, matchingStep, newSecret, stepAt, toBase32, uriOf } from './totp.ts'

/** RFC 6238, appendix B, for SHA-1: seconds since 1970 and the code of 8 digits. */
const VECTORS: readonly (readonly [number, string])[] = [
  [59, '94287082'],
  [1_111_111_109, '07081804'],
  [1_111_111_111, '14050471'],
  [1_234_567_890, '89005924'],
  [2_000_000_000, '69279037'],
  [20_000_000_000, '65353130'],
]
const RFC_SECRET = toBase32(Buffer.from('12345678901234567890'))

// Goal: codes are those of the standard, which every authenticator app computes.
test('codes of RFC 6238', () => {
  assert.equal(RFC_SECRET, 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ')
  for (const [seconds, code] of VECTORS) assert.equal(codeAt(RFC_SECRET, stepAt(new Date(seconds * 1000)), 8), code)
})

// Goal: a code is accepted one step before and after its own, and at no other time.
test('the window of a code', () => {
  const secret = newSecret()
  assert.match(secret, /^[A-Z2-7]{32}$/)
  const at = new Date('2030-01-01T00:00:15Z')
  const code = codeAt(secret, stepAt(at))
  const after = (seconds: number) => matchingStep(secret, code, new Date(at.getTime() + seconds * 1000))
  for (const seconds of [-45, -15, 0, 14, 44]) assert.equal(after(seconds), stepAt(at), `${seconds} s later`)
  for (const seconds of [-46, 45, 3600]) assert.equal(after(seconds), null, `${seconds} s later`)
  for (const wrong of ['', '12345', `${code}0`, 'abcdef', `${code.slice(0, 5)}é`]) assert.equal(matchingStep(secret, wrong, at), null)
})

// Goal: the address names the service and the account, however these are written.
test('the address in the QR code', () => {
  const uri = new URL(uriOf('ABC', 'ana+1@example.com', 'Ground track: test'))
  assert.equal(uri.protocol, 'otpauth:')
  assert.equal(decodeURIComponent(uri.pathname), '/Ground track: test:ana+1@example.com')
  assert.deepEqual(Object.fromEntries(uri.searchParams), {
    secret: 'ABC',
    issuer: 'Ground track: test',
    algorithm: 'SHA1',
    digits: '6',
    period: '30',
  })
})
