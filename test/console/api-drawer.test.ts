import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { redact, type RecordedCall } from '../../packages/console/src/api/recorder.ts'
import { snippet } from '../../packages/console/src/api/snippets.ts'

const CALL: RecordedCall = {
  id: 1,
  operation: 'projects.create',
  method: 'POST',
  path: '/v1/op/projects.create',
  body: { name: 'Reef', is_private: true, note: null },
  idempotencyKey: null,
  status: 200,
  ms: 12,
  screen: '/app/library',
}

/** The words that a shell makes of a command. */
function words(command: string): string[] {
  const script = `curl() { printf '%s\\0' "$@"; }; groundtrack() { printf '%s\\0' "$@"; }; ${command}`
  const { stdout, stderr } = spawnSync('sh', ['-c', script], { encoding: 'utf8', env: { BASE: 'https://gt.example', TOKEN: 'secret' } })
  assert.equal(stderr, '')
  return stdout.split('\0').slice(0, -1)
}

const FILE = 'docs/openapi.json'

// Goal: what the drawer shows can be pasted into a shell or a program and makes the same call, whatever people typed into the console.
test('curl makes the same call', () => {
  assert.deepEqual(words(snippet({ ...CALL, idempotencyKey: 'abc' }, 'curl')), [
    '-s',
    'https://gt.example/v1/op/projects.create',
    '-H',
    'Authorization: Bearer secret',
    '-H',
    'Idempotency-Key: abc',
    '-H',
    'Content-Type: application/json',
    '-d',
    JSON.stringify(CALL.body),
  ])
})

test('no text of a call runs in the shell it is pasted into', () => {
  const hostile = ['$(id)', '`id`', '"; id; "', "'; id; '", '$HOME', '\\', '!!']
  for (const text of hostile) {
    const { pathname, search } = new URL(`https://gt.example/api/v1/search?q=${text}`)
    const get = { ...CALL, method: 'GET', body: null, path: pathname + search } as const
    assert.equal(words(snippet(get, 'curl'))[1], `https://gt.example${get.path}`, text)
    const body = { name: text }
    assert.equal(words(snippet({ ...CALL, body }, 'curl')).at(-1), JSON.stringify(body), text)
    assert.deepEqual(words(snippet({ ...CALL, body }, 'cli')), ['call', 'projects.create', JSON.stringify(body)], text)
  }
})

test('TypeScript is the literal of the input', () => {
  const input = snippet(CALL, 'typescript').split('projects.create(')[1]!.slice(0, -1)
  assert.equal(input, '{\n  name: "Reef",\n  is_private: true,\n  note: null\n}')
})

/** A Python literal as JSON, outside of strings. */
const fromPython = (text: string) =>
  text.replaceAll(
    /"(?:[^"\\]|\\.)*"|\bTrue\b|\bFalse\b|\bNone\b/g,
    (part) => ({ True: 'true', False: 'false', None: 'null' })[part] ?? part,
  )

test('Python has its own words for true, false and null, and leaves text alone', () => {
  const literal = (body: unknown) =>
    /gt\.call\("projects\.create", ([\s\S]*?)(?:, \{"idempotency_key": "[^"]+"\})?\)$/.exec(snippet({ ...CALL, body }, 'python'))![1]!
  assert.match(literal(CALL.body), /"is_private": True,\s+"note": None/)
  assert.match(literal({ note: 'true or null' }), /"true or null"/)
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (body) =>
      assert.deepEqual(JSON.parse(fromPython(literal(body))), JSON.parse(JSON.stringify(body))),
    ),
  )
})

test('a GET and what is no operation are shown as curl in every language', () => {
  for (const language of ['typescript', 'python', 'cli'] as const)
    assert.match(snippet({ ...CALL, method: 'GET', path: '/v1/events', body: null }, language), /^curl /)
})

test('a long body is on one line', () => {
  const body = { ring: Array.from({ length: 2_000 }, (_, index) => index) }
  assert.ok(snippet({ ...CALL, body }, 'typescript').split('\n').length < 10)
})

// Goal: no secret that a caller can send is recorded, at whatever depth.
test('secrets of every operation are redacted', () => {
  const contract = readFileSync(path.join(import.meta.dirname, '../..', FILE), 'utf8')
  const names = new Set([...contract.matchAll(/"(\w*(?:password|secret|token|credential)\w*)":\s*\{/g)].map(([, name]) => name!))
  // None holds a secret.
  const harmless = new Set(['rotate_secret', 'previous_secret_until', 'has_secret', 'share_passwords_per_minute', 'token_type'])
  // Only in responses, which are not recorded.
  const returned = new Set(['signing_secret', 'access_token'])
  const secrets = [...names].filter((name) => !harmless.has(name) && !returned.has(name))
  assert.ok(secrets.includes('password') && secrets.includes('refresh_token'), secrets.join())
  for (const name of secrets) assert.deepEqual(redact({ [name]: 'hush' }), { [name]: '…' })
})

test('the names of headers are kept, their values are not', () => {
  assert.deepEqual(redact({ endpoint_url: 'https://a.example', headers: { 'X-Gateway': 'hush' } }), {
    endpoint_url: 'https://a.example',
    headers: { 'X-Gateway': '…' },
  })
})

test('wherever a secret is, it is redacted, and everything else is as it was', () => {
  const SECRET = 'hush-7c1f'
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof({ maxDepth: 4 }, fc.constantFrom(1, null, 'text'), tie('list'), tie('object'), tie('login')),
    list: fc.array(tie('tree'), { maxLength: 3 }),
    object: fc.dictionary(fc.constantFrom('name', 'items', 'input'), tie('tree'), { maxKeys: 3, noNullPrototype: true }),
    login: fc.record({ email: fc.constant('a@example.com'), password: fc.constant(SECRET) }, { noNullPrototype: true }),
  }))
  fc.assert(
    fc.property(tree, (body) => {
      const text = JSON.stringify(redact(body))
      assert.ok(!text.includes(SECRET))
      assert.equal(text, JSON.stringify(body).replaceAll(SECRET, '…'))
    }),
  )
})
