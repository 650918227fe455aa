// Goal: the first start shows one line per demo scene, without the calls that load it, and demo:env waits for the first scene alone.
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import path from 'node:path'
import { test } from 'node:test'
import { createLog } from '#http/log.ts'
import { DEMO_EMAIL, DEMO_PASSWORD } from '../sandbox/demo/account.ts'
import { demoReporter } from '../sandbox/demo/progress.ts'
import { COLLECTIONS, SCENES } from '../sandbox/demo/scenes.ts'
import { scene } from './support/scene.ts'
import { openLab, until } from './support/service.ts'
import { world, type World } from './support/world.ts'

const DEMO_ENV = path.join(import.meta.dirname, '../tools/demo-env.ts')
const PATIENT_MS = 600_000

test('the lines of the demo', async (t) => {
  await t.test('a terminal gets a readable line per scene, a pipe gets JSON', () => {
    const [terminal, pipe, logged] = [[] as string[], [] as string[], [] as string[]]
    const log = createLog('info', { write: (line) => void logged.push(line) })
    const step = { scene: 2, scenes: 5, name: 'Mountains' }
    demoReporter({ isTerminal: true, write: (text) => void terminal.push(text), log })(step)
    assert.deepEqual(terminal, ['demo: scene 2 of 5, Mountains\n'])
    assert.deepEqual(logged, [])
    demoReporter({ isTerminal: false, write: (text) => void pipe.push(text), log })(step)
    assert.deepEqual(pipe, [])
    const { time: _time, ...line } = JSON.parse(logged[0]!) as Record<string, unknown>
    assert.deepEqual(line, { level: 30, msg: 'demo: scene 2 of 5, Mountains', ...step })
  })

  await t.test('a service in a pipe logs each scene once, and none of the calls that load it', async (t) => {
    const lab = openLab()
    t.after(() => lab.close())
    const service = await lab.start({ env: { DATA_DIR: lab.dataDir(), DEMO: '1', LOG_LEVEL: 'info' } })
    await until('the second scene', () => service.output().includes('demo: scene 2 of'), PATIENT_MS)
    const lines = service.output().split('\n')
    const logged = lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as Record<string, unknown>)
    assert.deepEqual(
      logged.filter(({ msg }) => msg === 'call'),
      [],
    )
    assert.deepEqual(
      logged.flatMap(({ scene: number, name }) => (number === undefined ? [] : [[number, name]])),
      SCENES.slice(0, 2).map(({ name }, index) => [index + 1, name]),
    )
    assert.deepEqual(
      lines.filter((line) => line.startsWith('demo:')),
      [],
      'readable lines are for terminals',
    )
    const waiting = execFile(process.execPath, [DEMO_ENV, 'all'], { env: { ...process.env, BASE_URL: service.baseUrl } })
    t.after(() => waiting.kill())
    let said = ''
    waiting.stderr!.on('data', (text: string) => (said += text))
    await until('demo:env waits', () => said.includes('Waiting for the demo'), PATIENT_MS)
    assert.ok(!service.output().includes('"msg":"call"'), 'waiting for the demo is not logged either')
    const answer = await fetch(`${service.baseUrl}/v1/op/projects.list`, { method: 'POST' })
    assert.equal(answer.status, 401)
    await until('the line of a call that is not the demo’s', () => /"operation":"projects.list".*"msg":"call"/.test(service.output()))
  })
})

/** The demo as it is while it loads: its account, project, collections and first scene. */
async function partOfDemo(w: World) {
  const { body } = await w.post('/auth/sign-up', { email: DEMO_EMAIL, password: DEMO_PASSWORD, name: 'Demo' })
  const { id: organizationId } = await w.ok(body.access_token, 'organizations.create', { name: 'Demo Imagery' })
  const who = { id: body.user.id, email: DEMO_EMAIL, password: DEMO_PASSWORD, token: '', refreshToken: '' }
  const { token } = await w.signIn(who, organizationId)
  const { id: projectId } = await w.ok(token, 'projects.create', { name: 'Demo' })
  await w.ok(token, 'collections.create', { project_id: projectId, name: COLLECTIONS.seasons.name })
  const upload = async (name: string): Promise<string> => {
    const itemId = (await w.upload(token, projectId, { 'scene.tif': await scene() })).body.item_ids[0] as string
    await w.ok(token, 'items.update', { item_id: itemId, name })
    return itemId
  }
  return { token, projectId, upload, itemId: await upload(SCENES[0]!.name) }
}

const variablesOf = (output: string): Record<string, string> =>
  Object.fromEntries([...output.matchAll(/^export (\w+)='(.*)'$/gm)].map(([, name, value]) => [name, value]))

test('demo:env while the demo loads', async (t) => {
  const w = await world(t)
  const demo = await partOfDemo(w)
  const env = { ...process.env, BASE_URL: w.baseUrl }

  await t.test('prints what is available once the first scene is loaded, and how to get the rest', async () => {
    const { stdout, stderr } = await new Promise<Record<'stdout' | 'stderr', string>>((resolve, reject) => {
      execFile(process.execPath, [DEMO_ENV], { env, timeout: PATIENT_MS }, (error, stdout, stderr) =>
        error ? reject(new Error(`${error.message} ${stderr}`)) : resolve({ stdout, stderr }),
      )
    })
    const { BASE, PROJECT, ITEM, KEY, COLLECTION, MOUNTAINS } = variablesOf(stdout)
    assert.deepEqual([BASE, PROJECT, ITEM, MOUNTAINS], [w.baseUrl, demo.projectId, demo.itemId, undefined])
    assert.ok(COLLECTION)
    assert.equal((await w.request('GET', `/api/v1/items/${ITEM}/tiles/0/0/0.png?key=${KEY}`)).status, 200)
    assert.match(stderr, /MOUNTAINS is not set yet.*npm run -s demo:env all/)
  })

  await t.test('with "all" it waits until the demo is complete', async () => {
    const child = spawn(process.execPath, [DEMO_ENV, 'all'], { env })
    t.after(() => child.kill())
    let [stdout, stderr] = ['', '']
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
    await until('the command waits', () => stderr.includes('Waiting for the demo'), PATIENT_MS)
    assert.equal(stdout, '')
    const mountains = await demo.upload('Mountains')
    assert.equal(await ended, 0)
    assert.equal(variablesOf(stdout)['MOUNTAINS'], mountains)
  })

  await t.test('any other word is rejected with the accepted one', async () => {
    const stdout = await new Promise<string>((resolve) => {
      execFile(process.execPath, [DEMO_ENV, 'everything'], { env, timeout: PATIENT_MS }, (_error, stdout) => resolve(stdout))
    })
    assert.match(stdout, /Unexpected argument "everything".*all.*>&2; false/)
  })
})
