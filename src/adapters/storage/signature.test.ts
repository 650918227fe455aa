/**
 * Goal (docs/threats.md, row 16): of 10,000 ways to tamper with a signed URL or its request, none is accepted,
 * nothing outside the store is read or written, and nothing inside it changes; the unmodified URLs work.
 */
import assert from 'node:assert/strict'
import { createHmac, randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import fc from 'fast-check'
import { campaign } from '../../../test/support/campaign.ts'
import { signRequest, verifyRequest, type SignedRequest } from './signature.ts'
import { collect, listeningStore, pattern, type Place } from './testing/place.ts'
import { raw, type RawRequest } from './testing/raw.ts'

const MUTATIONS = campaign({ short: 1_000, long: 10_000 })
const AT_ONCE = 16
const MAX_BYTES = 64
const TYPE = 'image/tiff'
const CANARY = 'the-canary-outside-the-store'

type Mutation = (request: Required<RawRequest>, others: readonly string[]) => Required<RawRequest>
type Headers = Record<string, string>

const withTarget =
  (change: (target: string, others: readonly string[]) => string): Mutation =>
  (request, others) => ({ ...request, target: change(request.target, others) })
const inPath = (change: (path: string) => string): Mutation => withTarget((target) => target.replace(/^[^?]*/, change))
const inQuery = (change: (query: string) => string): Mutation =>
  withTarget((target) => target.replace(/\?.*$/, (query) => `?${change(query.slice(1))}`))
const withHeaders =
  (change: (headers: Headers) => Headers): Mutation =>
  (request) => ({ ...request, headers: change(request.headers as Headers) })
const percent = (character: string) => `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`
const parameterNames = ['method', 'expires', 'type', 'max', 'name', 'signature'] as const
const lastSegment = /[^/]*$/

/** Every kind of tampering. One that does not change a request is drawn again. */
const mutations: fc.Arbitrary<Mutation> = fc.oneof(
  fc.constantFrom('POST', 'DELETE', 'PATCH', 'PUT', 'GET', 'TRACE', 'put', 'get').map((method): Mutation => (request) => ({
    ...request,
    method,
  })),
  // One character of the URL: replaced, removed, doubled, percent-encoded once and twice.
  fc
    .tuple(
      fc.double({ min: 0, max: 0.999999, noNaN: true }),
      fc.constantFrom('replace', 'remove', 'double', 'encode', 'encode twice', 'case'),
      fc.constantFrom(...'aZ0.-_/~%&=?;+!'),
    )
    .map(([where, kind, character]): Mutation =>
      withTarget((target) => {
        const index = 1 + Math.floor(where * (target.length - 1))
        const old = target[index]!
        const fresh = {
          replace: character,
          remove: '',
          double: old + old,
          encode: percent(old),
          'encode twice': percent(old).replace('%', '%25'),
          case: old === old.toLowerCase() ? old.toUpperCase() : old.toLowerCase(),
        }[kind]!
        return target.slice(0, index) + fresh + target.slice(index + 1)
      }),
    ),
  // Paths out of the bucket and the root.
  fc
    .tuple(
      fc.constantFrom(
        '../',
        '..%2f',
        '%2e%2e/',
        '%2e%2e%2f',
        '..%252f',
        './',
        '%2f',
        '//',
        '\\',
        '..\\',
        '%5c',
        '%00',
        '%c0%ae%c0%ae/',
        '..;/',
        '.incoming/',
        '%0d%0a',
        '\x00',
        '..%c0%af',
      ),
      fc.integer({ min: 1, max: 8 }),
      fc.constantFrom(CANARY, 'objects', 'etc/passwd', ''),
    )
    .map(([step, count, end]): Mutation => inPath((text) => text.replace(lastSegment, (name) => step.repeat(count) + (end || name)))),
  fc
    .constantFrom('%00', '%00.tif', '\x00', '%20', '.', '/', '/.', '@meta.json', '@0123456789abcdef', ';a=b', '#', '%23x')
    .map((end): Mutation => inPath((text) => text + end)),
  fc
    .constantFrom('//', '/./', '/x/../', 'http://store.test/', 'http://127.0.0.1/', '*')
    .map((start): Mutation => withTarget((target) => start + target.slice(1))),
  fc
    .constantFrom('/other-bucket', '/.incoming', '/..', '/%2e%2e')
    .map((bucket): Mutation => inPath((text) => text.replace(/^\/objects\/[^/]+/, `/objects${bucket}`))),
  // Parameters: changed, repeated, unknown, reordered, removed, encoded differently.
  fc
    .tuple(
      fc.constantFrom(...parameterNames),
      fc.oneof(
        fc.constantFrom(
          'GET',
          'PUT',
          'HEAD',
          '0',
          '-1',
          '1',
          '1e99',
          '9999999999',
          '99999999999999999999',
          'text/html',
          'image%2Ftiff',
          'image/tiff',
          '',
          'null',
          'NaN',
          '..%2F..',
          '%00',
          '%0d%0aX-Injected:%201',
        ),
        fc.string({ unit: fc.constantFrom(...'0123456789abcXYZ%._-'), maxLength: 50 }),
      ),
    )
    .map(([name, value]): Mutation =>
      inQuery((query) =>
        new RegExp(`(^|&)${name}=`).test(query)
          ? query.replace(new RegExp(`(^|&)(${name})=[^&]*`), `$1$2=${value.replaceAll('$', '')}`)
          : `${query}&${name}=${value}`,
      ),
    ),
  fc
    .tuple(
      fc.constantFrom(...parameterNames, 'x', '__proto__', 'Signature', 'X-Amz-Signature'),
      fc.constantFrom('1', 'GET', 'PUT', '9999999999', 'a'),
      fc.boolean(),
    )
    .map(([name, value, isFirst]): Mutation => inQuery((query) => (isFirst ? `${name}=${value}&${query}` : `${query}&${name}=${value}`))),
  fc.tuple(fc.nat(5), fc.nat(5)).map(([from, to]): Mutation =>
    inQuery((query) => {
      const parts = query.split('&')
      parts.splice(to % parts.length, 0, ...parts.splice(from % parts.length, 1))
      return parts.join('&')
    }),
  ),
  fc.nat(5).map((index): Mutation =>
    inQuery((query) =>
      query
        .split('&')
        .filter((_, at) => at !== index % query.split('&').length)
        .join('&'),
    ),
  ),
  fc.constantFrom('&', '?', '#', '&&', '%26', '=', '%20').map((end): Mutation => withTarget((target) => target + end)),
  fc
    .integer({ min: 1, max: 100_000 })
    .map((more): Mutation => inQuery((query) => query.replace(/expires=(\d+)/, (_, old: string) => `expires=${Number(old) + more}`))),
  fc
    .integer({ min: 1, max: 100_000 })
    .map((more): Mutation => inQuery((query) => query.replace(/max=(\d+)/, (_, old: string) => `max=${Number(old) + more}`))),
  // Signatures: of another URL, of another secret, other spellings of the same bytes.
  fc
    .nat()
    .map((pick): Mutation =>
      withTarget((target, others) => target.replace(/signature=.*/, others[pick % others.length]!.match(/signature=.*/)![0])),
    ),
  fc
    .nat()
    .map((pick): Mutation => withTarget((target, others) => target.replace(/^[^?]*/, others[pick % others.length]!.match(/^[^?]*/)![0]))),
  fc.uint8Array({ minLength: 32, maxLength: 32 }).map((secret): Mutation =>
    withTarget((target) =>
      target.replace(
        /&signature=.*/,
        () =>
          `&signature=${createHmac('sha256', secret)
            .update(target.replace(/&signature=.*/, ''))
            .digest('base64url')}`,
      ),
    ),
  ),
  fc
    .constantFrom<(text: string) => string>(
      (text) => Buffer.from(text, 'base64url').toString('hex'),
      (text) => `${text}=`,
      (text) => text.replaceAll('-', '+').replaceAll('_', '/'),
      (text) => text.slice(0, -1),
      (text) => text.slice(0, 42) + nextCharacter(text[42]!),
      () => '',
      () => 'A'.repeat(43),
      (text) => text.toUpperCase(),
    )
    .map((respell): Mutation =>
      withTarget((target) => target.replace(/signature=(.*)/, (_, text: string) => `signature=${respell(text)}`)),
    ),
  // Request headers: type, length and the spelling of both.
  fc
    .constantFrom(
      'text/html',
      'image/tiff; charset=utf-8',
      'IMAGE/TIFF',
      'image/tif',
      'application/octet-stream',
      '',
      'image/tiff, image/tiff',
      'image%2Ftiff',
      'image/tiff;',
    )
    .map(onPut((type) => withHeaders((headers) => ({ ...headers, 'Content-Type': type })))),
  fc
    .constant(null)
    .map(onPut(() => withHeaders((headers) => Object.fromEntries(Object.entries(headers).filter(([name]) => name !== 'Content-Type'))))),
  fc.integer({ min: MAX_BYTES + 1, max: 4_000 }).map(onPut((size) => (request) => ({ ...request, body: pattern(size, 9) }))),
  fc
    .integer({ min: MAX_BYTES + 1, max: 2 ** 40 })
    .map(onPut((size) => withHeaders((headers) => ({ ...headers, 'Content-Length': String(size) })))),
  fc.tuple(fc.nat(10), fc.nat(70), fc.integer({ min: MAX_BYTES + 1, max: 2 ** 40 })).map(
    onPut(([first, count, total]) => (request) => ({
      ...request,
      headers: { ...(request.headers as Headers), 'Content-Range': `bytes ${first}-${first + count}/${total}` },
      body: pattern(count + 1, 9),
    })),
  ),
  fc
    .constantFrom(
      'bytes 0-9/*',
      'bytes=0-9/10',
      'bytes 9-0/10',
      'bytes 0-10/10',
      'bytes -5/10',
      'items 0-9/10',
      'bytes 0-9/10, bytes 0-9/10',
      'bytes */99999',
      '',
    )
    .map(onPut((range) => withHeaders((headers) => ({ ...headers, 'Content-Range': range })))),
  fc
    .constantFrom('chunked', 'identity', 'gzip, chunked')
    .map(onPut((encoding) => withHeaders((headers) => ({ ...headers, 'Transfer-Encoding': encoding })))),
)

/** Changes the upload's headers or body; a download has neither, so its method changes instead. */
function onPut<T>(make: (value: T) => Mutation): (value: T) => Mutation {
  return (value) => (request, others) => (request.method === 'PUT' ? make(value)(request, others) : { ...request, method: 'PUT' })
}

const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
/** The last of 43 characters has two unused bits: its neighbour encodes the same bytes. */
function nextCharacter(character: string): string {
  return BASE64URL[BASE64URL.indexOf(character) ^ 1]!
}

async function prepare(t: TestContext) {
  const place = await listeningStore(t)
  const { store, folder, bucket } = place
  await mkdir(path.join(folder, 'beside'))
  for (const file of [CANARY, `beside/${CANARY}`]) await writeFile(path.join(folder, file), CANARY)
  const other = 'other-bucket'
  await store.createBucket(other)
  const objects = [
    { bucket, key: 'a/b/one.tif' },
    { bucket, key: 'two' },
    { bucket: other, key: 'a/b/one.tif' },
  ]
  for (const [index, at] of objects.entries()) await store.put(at, pattern(40, index + 1), { contentType: TYPE })
  const wait = { expiresInSeconds: 900 }
  const gets = await Promise.all(
    objects.flatMap((at) => [
      store.signGet({ ...at, ...wait }),
      store.signGet({ ...at, ...wait, fileName: 'My file.tif', contentType: 'image/png' }),
    ]),
  )
  const puts = await Promise.all(
    objects.map(({ bucket: owner, key }) =>
      store.signPut({ bucket: owner, key: `new/${key}`, contentType: TYPE, maxBytes: MAX_BYTES, ...wait }),
    ),
  )
  const target = (url: string) => url.slice(place.url.length)
  const requests: Required<RawRequest>[] = [
    ...gets.map((url) => ({ method: 'GET', target: target(url), headers: {}, body: Buffer.alloc(0) })),
    ...puts.map((url) => ({ method: 'PUT', target: target(url), headers: { 'Content-Type': TYPE }, body: pattern(50, 8) })),
  ]
  return { place, objects, requests }
}

async function everythingIn(folder: string): Promise<Map<string, string>> {
  const names = (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
  return new Map(await Promise.all(names.toSorted().map(async (name) => [name, await readFile(name, 'hex')] as const)))
}

const send = ({ port }: Place, request: Required<RawRequest>) =>
  raw(
    port,
    request.body.length > 0 || request.method === 'PUT'
      ? request
      : { method: request.method, target: request.target, headers: request.headers },
  )
const isSame = (a: Required<RawRequest>, b: Required<RawRequest>) =>
  JSON.stringify([a.method, a.target, a.headers, Buffer.from(a.body).toString('hex')]) ===
  JSON.stringify([b.method, b.target, b.headers, Buffer.from(b.body).toString('hex')])

test(`${MUTATIONS} modified signed URLs: none accepted, nothing outside read or written, nothing inside changed`, async (t) => {
  const { place, objects, requests } = await prepare(t)
  const before = await everythingIn(place.folder)
  const targets = requests.map(({ target }) => target)
  const seed = Number(process.env['TEST_SEED'] ?? randomBytes(4).readInt32BE())
  t.diagnostic(`seed ${seed} (TEST_SEED repeats it)`)
  const drawn = fc.sample(fc.tuple(fc.nat(requests.length - 1), mutations), { seed, numRuns: MUTATIONS * 2 })
  const bent = drawn
    .map(([index, mutate]) => mutate(requests[index]!, targets))
    .filter((request) => !requests.some((valid) => isSame(valid, request)))
    .slice(0, MUTATIONS)
  assert.equal(bent.length, MUTATIONS)

  const statuses = new Map<number, number>()
  const queue = bent.values()
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const request of queue) {
        const { status, body, headers } = await send(place, request)
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
        assert.ok(status >= 400 && status < 500, `${status} for ${JSON.stringify({ ...request, body: request.body.length })}`)
        assert.ok(!body.includes(CANARY) && !headers['x-injected'], request.target)
      }
    }),
  )
  t.diagnostic(`statuses ${JSON.stringify(Object.fromEntries([...statuses].toSorted()))}`)
  assert.deepEqual(await everythingIn(place.folder), before)
  assert.ok(!place.logLines.some((line) => targets.some((target) => line.includes(target.slice(-43)))), 'no signature in the log')

  // The unmodified URLs: every GET returns its object, every PUT creates one.
  for (const request of requests) assert.equal((await send(place, request)).status, 200, request.target)
  for (const { bucket, key } of objects)
    assert.ok(pattern(50, 8).equals(await collect(await place.store.read({ bucket, key: `new/${key}` }))))
  place.clock.shift(900)
  for (const request of requests) assert.equal((await send(place, request)).status, 403, 'expired to the second')
})

test('verifying returns what was signed, for any request', () => {
  const segment = fc.string({ unit: fc.constantFrom(...'abcXYZ019._-'), minLength: 1, maxLength: 12 })
  const grants: fc.Arbitrary<SignedRequest> = fc.record({
    method: fc.constantFrom('GET' as const, 'PUT' as const),
    bucket: fc.string({ unit: fc.constantFrom(...'abc019-'), minLength: 3, maxLength: 12 }),
    key: fc.array(segment, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/')),
    expires: fc.nat(2 ** 31),
    contentType: fc.option(fc.constantFrom('image/tiff', 'text/plain; charset=utf-8', 'a/b+c')),
    maxBytes: fc.option(fc.nat()),
    fileName: fc.option(fc.string({ unit: 'grapheme', maxLength: 40 })),
    countFor: fc.option(fc.uuid()),
    part: fc.option(
      fc.record({
        id: fc.string({ unit: fc.constantFrom(...'abc019'), minLength: 16, maxLength: 16 }),
        number: fc.integer({ min: 1, max: 10_000 }),
        offset: fc.maxSafeNat(),
        length: fc.maxSafeNat(),
      }),
    ),
  })
  const secret = randomBytes(32)
  fc.assert(
    fc.property(grants, (signed) => {
      const { id, ...verified } = verifyRequest(secret, signRequest(secret, signed))!
      assert.deepEqual({ ...verified, part: verified.part && { ...verified.part } }, { ...signed, part: signed.part && { ...signed.part } })
      assert.match(id, /^[0-9a-f]{32}$/)
      assert.equal(verifyRequest(randomBytes(32), signRequest(secret, signed)), null)
    }),
  )
})
