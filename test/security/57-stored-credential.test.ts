import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'

const CLI = path.join(import.meta.dirname, '../../packages/cli/bin/groundtrack.mjs')

interface Heard {
  url: string
  headers: IncomingHttpHeaders
  body: string
}

/** A server that keeps what it is sent and answers as a service without projects would. */
async function listening(t: TestContext) {
  const heard: Heard[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      heard.push({ url: request.url!, headers: request.headers, body })
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ projects: [], total: 0, count: 0 }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, heard }
}

// Goal: the command line sends a stored key or session to the server it is for and to no other, however that one is named; and it
// says why it is not signed in there.
test('row 57: a stored credential stays with its server', async (t) => {
  const [own, other] = [await listening(t), await listening(t)]
  const folder = mkdtempSync(path.join(os.tmpdir(), 'groundtrack-cli-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = path.join(folder, 'accounts.json')
  const session = { accessToken: 'stored-access', refreshToken: 'stored-refresh', organizationId: null, expiresAt: Date.now() + 600_000 }
  const keep = (credential: object) =>
    writeFileSync(
      file,
      JSON.stringify({ current: 'default', accounts: { default: { server: `${own.url}/`, project: 'p', ...credential } } }),
    )
  const run = (args: readonly string[], more: Record<string, string> = {}) =>
    new Promise<{ code: number | null; stderr: string }>((resolve, reject) => {
      const env = { PATH: process.env['PATH']!, HOME: folder, GROUNDTRACK_CONFIG: file, ...more }
      const child = spawn(process.execPath, [CLI, ...args], { cwd: folder, env })
      let stderr = ''
      child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
      child.stdout.resume()
      child.on('error', reject).on('close', (code) => resolve({ code, stderr }))
      child.stdin.end()
    })

  for (const [kind, credential, secret] of [
    ['key', { apiKey: 'stored-key' }, 'Bearer stored-key'],
    ['session', { session }, 'Bearer stored-access'],
  ] as const)
    await t.test(`a stored ${kind}`, async () => {
      keep(credential)
      for (const [args, env] of [
        [['projects', 'list', '--server', other.url], {}],
        [['projects', 'list'], { GROUNDTRACK_URL: other.url }],
        [['projects', 'list', '--account', 'default', '--server', other.url.replace('127.0.0.1', 'localhost')], {}],
        [['sign-out', '--server', other.url], {}],
      ] as const) {
        const { stderr } = await run(args, env)
        if (args[0] === 'projects') {
          assert.match(stderr, /account 'default' is for http:\/\/127\.0\.0\.1:\d+.*not sent to http/)
          assert.match(stderr, /groundtrack sign-in --server/)
        }
      }
      assert.ok(other.heard.length >= 2)
      for (const { headers, body } of other.heard.splice(0)) {
        assert.equal(headers.authorization, undefined)
        assert.doesNotMatch(body, /stored-/)
      }
      own.heard.splice(0)
      keep(credential)
      for (const args of [
        ['projects', 'list'],
        ['projects', 'list', '--server', own.url],
      ]) {
        assert.doesNotMatch((await run(args)).stderr, /not sent/)
        assert.equal(own.heard.splice(0)[0]!.headers.authorization, secret)
      }
    })

  await t.test('a key that is named with the server is sent to it', async () => {
    keep({ apiKey: 'stored-key' })
    await run(['projects', 'list', '--server', other.url, '--api-key', 'given'])
    await run(['projects', 'list'], { GROUNDTRACK_URL: other.url, GROUNDTRACK_API_KEY: 'given' })
    assert.deepEqual(
      other.heard.map(({ headers }) => headers.authorization),
      ['Bearer given', 'Bearer given'],
    )
  })
})
