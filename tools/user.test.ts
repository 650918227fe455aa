import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { test, type TestContext } from 'node:test'
import { addApp } from '../test/support/second-factors.ts'
import { world } from '../test/support/world.ts'

const root = path.dirname(import.meta.dirname)

interface Ended {
  code: number
  stdout: string
  stderr: string
}

function user(env: Record<string, string>, args: readonly string[], stdin = ''): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      ['tools/user.ts', ...args],
      { cwd: root, env: { ...bare(), ...env } },
      (error, stdout, stderr) => {
        resolve({ code: error ? Number(error.code) : 0, stdout, stderr })
      },
    )
    child.stdin!.end(stdin)
  })
}

/** The machine's own settings must not reach the command. */
function bare(): Record<string, string> {
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env
  return { PATH, HOME, NODE_COMPILE_CACHE }
}

const passwordIn = (stdout: string) => /^Password: (\S+)$/m.exec(stdout)?.[1]

// Goal: the operator can always make an account and give it a new password, with the roles that the environment names,
// and a password never shows where it should not.
test('npm run user on DATABASE_URL', async (t) => {
  const w = await world(t, { maySignUp: false, systemAdminEmails: ['root@example.com'] })
  const env = { DATABASE_URL: w.databaseUrl, SYSTEM_ADMIN_EMAILS: 'root@example.com' }
  const signIn = (email: string, password: string) => w.post('/auth/sign-in', { email, password })

  await t.test('makes the account that sign-up refuses, with its role and a password shown once', async () => {
    const refused = await w.post('/auth/sign-up', { email: 'root@example.com', password: 'whatever else', name: 'Root' })
    assert.equal(refused.body.code, 'sign-up-refused')
    const { code, stdout, stderr } = await user(env, ['--email', 'Root@Example.com', '--name', 'Root'])
    assert.equal(code, 0, stderr)
    assert.match(stdout, /It is system admin\./)
    const { status, body } = await signIn('root@example.com', passwordIn(stdout)!)
    assert.equal(status, 200)
    assert.equal(body.user.name, 'Root')
    assert.equal((await w.call(body.access_token, 'api_keys.set_scopes', {})).status, 422) // Past the scope that only staff hold.
  })

  await t.test('removes lost second factors, ends sessions and leaves the password', async () => {
    const person = await w.person()
    await addApp(w, person)
    assert.equal((await signIn(person.email, person.password)).body.code, 'second-factor-required')
    const mixed = await user(env, ['--email', person.email, '--name', 'x', '--reset-two-factors'])
    assert.equal(mixed.code, 1)
    const { code, stdout } = await user(env, ['--email', person.email, '--reset-two-factors'])
    assert.equal(code, 0)
    assert.match(stdout, /Removed the second factors/)
    assert.equal((await w.request('GET', '/auth/me', { headers: { authorization: `Bearer ${person.token}` } })).status, 401)
    assert.equal((await signIn(person.email, person.password)).status, 200)
    assert.match((await user(env, ['--email', person.email, '--reset-two-factors'])).stdout, /has no second factors/)
    assert.match((await user(env, ['--email', 'nobody@example.com', '--reset-two-factors'])).stderr, /No account/)
  })

  await t.test('a reset takes the password from standard input, ends every session and forgives failed attempts', async () => {
    const person = await w.person()
    for (let attempt = 0; attempt < 11; attempt++) await signIn(person.email, 'a wrong guess')
    assert.equal((await signIn(person.email, person.password)).status, 429)
    const { code, stdout } = await user(env, ['--email', person.email, '--password-stdin'], 'a brand new password\n')
    assert.equal(code, 0)
    assert.doesNotMatch(stdout, /a brand new password/)
    assert.match(stdout, /holds no operator role/)
    assert.equal((await signIn(person.email, person.password)).status, 401)
    assert.equal((await w.request('GET', '/auth/me', { headers: { authorization: `Bearer ${person.token}` } })).status, 401)
    assert.equal((await w.post('/auth/refresh', { refresh_token: person.refreshToken })).status, 401)
    assert.equal((await signIn(person.email, 'a brand new password')).status, 200)
  })

  await t.test('a role that the environment no longer names goes with the next reset', async () => {
    const { stdout } = await user({ DATABASE_URL: w.databaseUrl }, ['--email', 'root@example.com'])
    const { body } = await signIn('root@example.com', passwordIn(stdout)!)
    assert.equal((await w.call(body.access_token, 'api_keys.set_scopes', {})).body.code, 'missing-scope')
  })

  await t.test('says what is wrong in one line and changes nothing', async () => {
    const count = async () => (await w.db.selectFrom('app_user').select('id').execute()).length
    const before = await count()
    const wrong: [string[], string, RegExp][] = [
      [[], '', /^--email is missing\./],
      [['--email', 'nobody'], '', /^email: must be an email address/],
      [['--email', 'a@example.com', '--password', 'secret words'], '', /^A password is never an argument/],
      [['--email', 'a@example.com', '--password=secret words'], '', /^A password is never an argument/],
      [['--email', 'a@example.com', '--password-stdin'], 'short\n', /^password: must have at least 10 characters/],
      [['--email', 'a@example.com', '--colour', 'red'], '', /^Unknown option '--colour'/],
    ]
    for (const [args, stdin, message] of wrong) {
      const { code, stdout, stderr } = await user(env, args, stdin)
      assert.equal(code, 1)
      assert.equal(stdout, '')
      assert.match(stderr, message)
      assert.doesNotMatch(stderr, /secret words|\bat .*\.ts:/)
    }
    const elsewhere = await user(
      { DATABASE_URL: new URL('/no_such_database', w.databaseUrl).href.replace(/(\?.*)?$/, new URL(w.databaseUrl).search) },
      ['--email', 'a@example.com'],
    )
    assert.equal(elsewhere.code, 1)
    assert.match(elsewhere.stderr, /^The database cannot be reached: database "no_such_database" does not exist\n$/)
    assert.equal(await count(), before)
  })
})

// Goal: the embedded database is found whether or not the service runs, and left as it was found.
test('npm run user on the embedded database', async (t) => {
  const dataDir = mkdtempSync(path.join(os.tmpdir(), 'groundtrack-user-'))
  t.after(() => rmSync(dataDir, { recursive: true, force: true }))
  const pidFile = path.join(dataDir, 'postgres/postmaster.pid')
  const env = { DATA_DIR: dataDir }

  await t.test('without a service, a server runs for the command alone', async () => {
    const { code, stdout, stderr } = await user(env, ['--email', 'first@example.com'])
    assert.equal(code, 0, stderr)
    assert.match(stdout, /^Created the account first@example\.com\.$/m)
    assert.equal(existsSync(pidFile), false)
  })

  await t.test('beside a running service, its server is used and stays', async (t) => {
    const baseUrl = await service(t, env)
    const pid = readFileSync(pidFile, 'utf8')
    const { code, stdout, stderr } = await user({ ...env, TMPDIR: dataDir }, ['--email', 'second@example.com'])
    assert.equal(code, 0, stderr)
    assert.equal(readFileSync(pidFile, 'utf8'), pid)
    const body = JSON.stringify({ email: 'second@example.com', password: passwordIn(stdout) })
    const answer = await globalThis.fetch(`${baseUrl}/auth/sign-in`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    assert.equal(answer.status, 200)
  })
})

/** Starts the service on a port of its own and gives its address once it is ready. */
async function service(t: TestContext, env: Record<string, string>): Promise<string> {
  const child = spawn(process.execPath, ['src/main.ts'], {
    cwd: root,
    env: { ...bare(), ...env, PORT: '0', LOG_LEVEL: 'silent', DEMO: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(async () => {
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    await ended
  })
  for await (const line of createInterface({ input: child.stdout! })) {
    const address = /^ {2}Service +(\S+)$/.exec(line)?.[1]
    if (address) return address
  }
  throw new Error('the service ended before it was ready')
}
