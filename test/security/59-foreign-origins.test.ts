import assert from 'node:assert/strict'
import http from 'node:http'
import { test } from 'node:test'
import { DEMO_EMAIL, DEMO_PASSWORD } from '../../sandbox/demo/account.ts'
import { openLab } from '../support/service.ts'
import { createEmptyDatabase } from '../support/database.ts'

const ROOT = 'root@example.com'

interface Response {
  status: number
  headers: http.IncomingHttpHeaders
  text: string
}

/** With the headers that a browser adds, which `fetch` would not let through. */
function send(baseUrl: string, path: string, headers: Record<string, string>, body?: object | URLSearchParams): Promise<Response> {
  return new Promise((resolve, reject) => {
    const isForm = body instanceof URLSearchParams
    const type: Record<string, string> = body ? { 'content-type': isForm ? 'application/x-www-form-urlencoded' : 'application/json' } : {}
    const asked = http.request(
      `${baseUrl}${path}`,
      { method: body ? 'POST' : 'GET', headers: { ...type, ...headers }, agent: false },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () =>
          resolve({ status: response.statusCode!, headers: response.headers, text: Buffer.concat(chunks).toString() }),
        )
      },
    )
    asked.on('error', reject).end(isForm ? body.toString() : body && JSON.stringify(body))
  })
}

// Goal: what a local service grants to the user of the machine is not granted to web pages in their browser.
test('row 59: pages of other origins are not local', async (t) => {
  const lab = openLab()
  t.after(() => lab.close())
  const database = await createEmptyDatabase()
  t.after(() => database.drop())
  const roots = Array.from({ length: 5 }, (_, index) => `root-${index}@example.com`)
  const { baseUrl } = await lab.start({
    env: { DATABASE_URL: database.url, DATA_DIR: lab.dataDir(), SYSTEM_ADMIN_EMAILS: [ROOT, ...roots].join(',') },
  })
  const { host, port } = new URL(baseUrl)
  const foreign: Record<string, Record<string, string>> = {
    'a foreign origin': { origin: 'https://evil.example' },
    'an opaque origin': { origin: 'null' },
    'another port of this machine': { origin: 'http://127.0.0.1:1', 'sec-fetch-site': 'same-site' },
    'a cross-site request without an origin': { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' },
    'a name that was rebound to this machine': { host: `evil.example:${port}`, 'sec-fetch-site': 'same-origin' },
  }
  const demo = { email: DEMO_EMAIL, password: DEMO_PASSWORD }
  // A form needs no leave of the browser to be sent to another origin.
  const form = new URLSearchParams({ grant_type: 'password', username: DEMO_EMAIL, password: DEMO_PASSWORD })
  const tokenPath = '/realms/public/protocol/openid-connect/token'

  for (const [index, [name, headers]] of Object.entries(foreign).entries())
    await t.test(name, async () => {
      const root = { email: roots[index]!, password: 'long enough', name: 'Root' }
      const shouted = { ...demo, email: ` ${DEMO_EMAIL.toUpperCase()}` }
      const statuses = {
        'sign-up': await send(baseUrl, '/auth/sign-up', headers, root),
        'sign-in': await send(baseUrl, '/auth/sign-in', headers, demo),
        'sign-in, spelt otherwise': await send(baseUrl, '/auth/sign-in', headers, shouted),
        'sign-in by a form': await send(baseUrl, tokenPath, headers, form),
        payments: await send(baseUrl, '/sandbox/payments/confirm', headers, { client_secret: 'x' }),
        metrics: await send(baseUrl, '/metrics', headers),
      }
      const notRefused = Object.keys(statuses).filter((address) => statuses[address as keyof typeof statuses].status !== 403)
      assert.deepEqual(notRefused, [])
      assert.equal(JSON.parse(statuses['sign-up'].text).code, 'sign-up-refused')
      assert.equal((await send(baseUrl, '/docs/demo.json', headers)).text, '{}')
      for (const path of ['/welcome', '/']) assert.ok(!(await send(baseUrl, path, headers)).text.includes(DEMO_PASSWORD), path)
    })

  await t.test('no script of another origin can read any of it', async () => {
    for (const path of ['/metrics', '/welcome', '/docs/demo.json', '/sandbox/payments/confirm']) {
      const { headers } = await send(baseUrl, path, {})
      assert.deepEqual([headers['access-control-allow-origin'], headers['cross-origin-resource-policy']], [undefined, 'same-origin'], path)
    }
    assert.equal((await send(baseUrl, '/health', {})).headers['access-control-allow-origin'], '*')
  })

  const own: Record<string, Record<string, string>> = {
    'a command line': {},
    'a page of the service': { origin: baseUrl, 'sec-fetch-site': 'same-origin' },
    'a page of the service under another name': { host: `localhost:${port}`, origin: `http://localhost:${port}` },
    'an address typed into a browser': { host, 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
  }
  for (const [name, headers] of Object.entries(own))
    await t.test(`${name} is local`, async () => {
      assert.equal((await send(baseUrl, '/metrics', headers)).status, 200)
      assert.equal((await send(baseUrl, '/auth/sign-in', headers, demo)).status, 200)
      assert.equal((await send(baseUrl, tokenPath, headers, form)).status, 200)
      assert.equal((await send(baseUrl, '/sandbox/payments/confirm', headers, { client_secret: 'x' })).status, 404)
      assert.equal(JSON.parse((await send(baseUrl, '/docs/demo.json', headers)).text).password, DEMO_PASSWORD)
    })

  await t.test('a link to the welcome page shows all of it', async () => {
    const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
    assert.ok((await send(baseUrl, '/welcome', link)).text.includes(DEMO_PASSWORD))
  })

  await t.test('the operator at the machine signs up', async () => {
    const signUp = await send(baseUrl, '/auth/sign-up', { origin: baseUrl }, { email: ROOT, password: 'long enough', name: 'Root' })
    assert.equal(signUp.status, 201, signUp.text)
  })
})
