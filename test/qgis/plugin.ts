/**
 * Run: npm test -- test/qgis/plugin.ts. Skips where QGIS or Xvfb is missing. `QGIS_ONLY=Test6Upload` runs a part, and
 * `QGIS_PICTURES=<folder>` takes the screenshots of the guide instead. `QGIS` names another program than `qgis`; `newer.sh` fetches and
 * runs a newer one.
 */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { DEMO_EMAIL, DEMO_PASSWORD } from '../../sandbox/demo/account.ts'
import { ok, post } from '../support/client.ts'
import { freePort } from '../support/port.ts'
import { openLab, until, type Lab } from '../support/service.ts'

const PACKAGE = path.join(import.meta.dirname, '../../packages/qgis')
const PYTHON = '/usr/bin/python3'
const QGIS = path.resolve('/usr/bin', process.env['QGIS'] ? path.resolve(process.env['QGIS']) : 'qgis')
const NEEDED = [QGIS, 'xvfb-run', 'xauth']
const missing = NEEDED.filter((name) => spawnSync('which', [name]).status !== 0)
const skip = missing.length > 0 ? `${missing.join(', ')} is not on this machine` : false
const SCREEN = '-screen 0 1400x900x24'
/** A Python with mypy; see .ci/requirements-python.txt. */
const MYPY = process.env['PYTHON_CLIENT'] ?? 'python3'
const withoutMypy = spawnSync(MYPY, ['-c', 'import mypy']).status === 0 ? false : `${MYPY} has no mypy`
/** By the clock, for a QGIS that waits for somebody; far above what it takes on a busy machine. */
const LIMIT_MS = 1_200_000
/** Beside other tests that kill services, the demo takes many minutes. */
const DEMO_MS = 1_800_000
const PICTURES = process.env['QGIS_PICTURES'] ?? ''

function build(folder: string): string {
  const { status, stdout, stderr } = spawnSync(PYTHON, [path.join(PACKAGE, 'build.py'), folder], { encoding: 'utf8' })
  assert.equal(status, 0, stderr)
  return stdout.trim()
}

/** A profile as QGIS leaves it when the plugin was installed from its zip and enabled. */
function installed(lab: Lab, zip: string): string {
  const profiles = lab.dataDir()
  const profile = path.join(profiles, 'profiles/default')
  mkdirSync(path.join(profile, 'python/plugins'), { recursive: true })
  mkdirSync(path.join(profile, 'QGIS'))
  const { status } = spawnSync(PYTHON, ['-m', 'zipfile', '-e', zip, path.join(profile, 'python/plugins')])
  assert.equal(status, 0)
  const settings = ['[PythonPlugins]', 'groundtrack=true', 'processing=true', '[qgis]', 'checkVersion=false', 'showTips=false']
  writeFileSync(
    path.join(profile, 'QGIS/QGIS3.ini'),
    [...settings, '[migration]', 'firstRunVersionFlag=99999', 'settings=true', ''].join('\n'),
  )
  return profiles
}

/** The demo adds an item of its own with its last job, which tests that count items must not see arriving. */
async function untilFilled(baseUrl: string): Promise<void> {
  const job_id = await until(
    'the demo',
    async () => {
      const demo = (await (await fetch(`${baseUrl}/docs/demo.json`)).json()) as { fields?: { job_id?: string } }
      return demo.fields?.job_id
    },
    DEMO_MS,
  )
  const { body } = await post(baseUrl, '/auth/sign-in', { email: DEMO_EMAIL, password: DEMO_PASSWORD })
  await until(
    'the last job of the demo',
    async () => {
      const { job } = await ok(baseUrl, body.access_token, 'processing.job.get', { job_id })
      return job.status === 'completed'
    },
    DEMO_MS,
  )
}

/** A service that the tests in QGIS can kill and start again, by requests to another address. It has the same ports each time. */
async function startControlled(t: TestContext, lab: Lab): Promise<{ baseUrl: string; controlUrl: string }> {
  const env = { DATA_DIR: lab.dataDir(), DEMO: '1', SANDBOX_DELIVERY_SECONDS: '1' }
  const [port, storePort] = [await freePort(), await freePort()]
  const start = () => lab.start({ env: { ...env, PORT: String(port), STORE_PORT: String(storePort) } })
  let service = await start()
  const act = async (action: string) => {
    if (action === 'kill') await service.kill('SIGKILL')
    else service = await start()
  }
  const control = createServer((request, response) => {
    act(request.url!.slice(1)).then(
      () => response.end(),
      (error: unknown) => response.writeHead(500).end(String(error)),
    )
  })
  await new Promise<void>((resolve) => control.listen(0, '127.0.0.1', resolve))
  t.after(() => control.close())
  return { baseUrl: service.baseUrl, controlUrl: `http://127.0.0.1:${(control.address() as AddressInfo).port}` }
}

/** QGIS in a window that nobody sees; gives what its program reported. */
async function inQgis(t: TestContext, lab: Lab, env: Record<string, string>, profiles: string): Promise<string> {
  const work = lab.dataDir()
  const report = path.join(work, 'report.txt')
  const runtime = path.join(work, 'run')
  const temporary = path.join(work, 'tmp')
  for (const folder of [runtime, temporary]) mkdirSync(folder, { mode: 0o700 })
  const program = path.join(PACKAGE, 'tests/in_qgis.py')
  const qgis = [QGIS, '--profiles-path', profiles, '--profile', 'default', '--nologo', '--noversioncheck', '--code', program]
  const child = spawn('xvfb-run', ['-a', '-s', SCREEN, ...qgis], {
    cwd: work,
    detached: true, // A group of its own, so that Xvfb and QGIS end together.
    env: {
      PATH: process.env['PATH']!,
      HOME: work,
      TMPDIR: temporary,
      XDG_RUNTIME_DIR: runtime,
      LANG: 'C.UTF-8',
      LIBGL_ALWAYS_SOFTWARE: '1',
      PYTHONDONTWRITEBYTECODE: '1',
      GROUNDTRACK_TESTS: path.join(PACKAGE, 'tests'),
      GROUNDTRACK_REPORT: report,
      GROUNDTRACK_WORK: work,
      QGIS_ROOT: process.env['QGIS_ROOT'] ?? '',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  const ended = new Promise((resolve) => child.once('close', resolve))
  const end = () => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid!, 'SIGKILL')
  }
  const timer = setTimeout(end, LIMIT_MS)
  t.after(end)
  await ended
  clearTimeout(timer)
  return existsSync(report) ? readFileSync(report, 'utf8') : `QGIS ended without a report:\n${output.slice(-4_000)}`
}

// Goal: the plugin does what its guide says, in the real QGIS against a running service, and its zip can be reproduced.
test('the QGIS plugin', { skip }, async (t) => {
  const lab = openLab()
  t.after(() => lab.close())

  await t.test('the zip is complete and the same each time', () => {
    const [one, other] = [build(lab.dataDir()), build(lab.dataDir())]
    assert.ok(readFileSync(one).equals(readFileSync(other)))
    const { stdout } = spawnSync(PYTHON, ['-m', 'zipfile', '-l', one], { encoding: 'utf8' })
    for (const file of ['__init__.py', 'metadata.txt', 'LICENSE', 'icons/icon.svg', 'help/index.html', 'algorithms/provider.py'])
      assert.ok(stdout.includes(`groundtrack/${file} `), file)
    assert.ok(!/tests|__pycache__/.test(stdout))
  })

  await t.test('its code is typed', { skip: withoutMypy }, () => {
    const { status, stdout } = spawnSync(MYPY, ['-m', 'mypy', '--cache-dir', lab.dataDir()], { cwd: PACKAGE, encoding: 'utf8' })
    assert.equal(status, 0, stdout)
  })

  await t.test('its code also fits Qt 6', () => {
    const checked = spawnSync(MYPY, [path.join(PACKAGE, 'tests/qt6.py')], { encoding: 'utf8' })
    assert.equal(checked.status, 0, checked.stdout + checked.stderr)
    t.diagnostic(checked.stdout.trim())
    const wrong = lab.dataDir()
    const lines = ['from PyQt5.QtCore import QUrl', 'from qgis.PyQt.QtCore import Qt', 'print(Qt.UserRole)', 'dialog.exec_()', '']
    writeFileSync(path.join(wrong, 'wrong.py'), lines.join('\n'))
    const { status, stdout } = spawnSync(MYPY, [path.join(PACKAGE, 'tests/qt6.py'), wrong], { encoding: 'utf8' })
    assert.equal(status, 1)
    for (const words of ['imports PyQt5', 'Qt.UserRole does not name its enum', 'calls exec_']) assert.ok(stdout.includes(words), stdout)
  })

  await t.test('its metadata names no address that nobody has', () => {
    const metadata = readFileSync(path.join(PACKAGE, 'groundtrack/metadata.txt'), 'utf8')
    const { homepage, repository } = JSON.parse(readFileSync(path.join(PACKAGE, '../../package.json'), 'utf8')) as Record<string, unknown>
    const known = JSON.stringify([homepage, repository])
    for (const [, address] of metadata.matchAll(/^\w+=(https?:\/\/\S+)$/gm)) assert.ok(known.includes(address!), address)
  })

  await t.test(PICTURES === '' ? 'works in QGIS' : 'takes pictures', async (inner) => {
    const { baseUrl, controlUrl } = await startControlled(inner, lab)
    await untilFilled(baseUrl)
    const account = {
      GROUNDTRACK_URL: baseUrl,
      GROUNDTRACK_CONTROL: controlUrl,
      GROUNDTRACK_EMAIL: DEMO_EMAIL,
      GROUNDTRACK_PASSWORD: DEMO_PASSWORD,
    }
    const chosen = { GROUNDTRACK_ONLY: process.env['QGIS_ONLY'] ?? '', GROUNDTRACK_PICTURES: PICTURES }
    const report = await inQgis(inner, lab, { ...account, ...chosen }, installed(lab, build(lab.dataDir())))
    inner.diagnostic(report)
    assert.match(report, /^exit 0$/m, report)
  })
})
