// Goal: the image is reproducible and small, and as an ordinary user with a read-only root, crun has it healthy within 10 seconds,
// from the bundle that it contains.
import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { freePort } from '../support/port.ts'
import { startServerPostgres } from '../support/server-postgres.ts'
import { until } from '../support/service.ts'

const root = path.join(import.meta.dirname, '../..')
const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { version: string }
const MAX_BYTES = 450_000_000
const MAX_START_SECONDS = 10
/** An ordinary user: nobody, if root runs the test. */
const ORDINARY = process.getuid?.() === 0 ? 65_534 : process.getuid!()
/** On a machine that others use as well, a start takes as long as it takes: SHARED_MACHINE=1 shows the time and holds it to nothing. */
const isShared = process.env['SHARED_MACHINE'] === '1'
const AS_ORDINARY = ['setpriv', '--reuid', String(ORDINARY), '--regid', String(ORDINARY), '--clear-groups', '--no-new-privs']
/** Root prepares what crun needs on a machine with both versions of cgroups, where it refuses to start: a view with none. */
const COVERED = ['unshare', '--mount', 'sh', '-c', 'mount -t tmpfs none /sys/fs/cgroup && exec "$@"', 'sh']
const absent = ['buildah', 'crun', 'dpkg-deb', 'setpriv'].filter((program) => spawnSync(program, ['--version']).status !== 0)

interface Descriptor {
  digest: string
}

function folder(t: TestContext): string {
  const made = mkdtempSync(path.join(tmpdir(), 'image-'))
  chmodSync(made, 0o755)
  t.after(() => rmSync(made, { recursive: true, force: true }))
  return made
}

/** The folder with the images: those that IMAGES names, or new ones. */
function imagesIn(t: TestContext, ...architectures: string[]): string {
  const given = process.env['IMAGES']
  if (given) return given
  const out = folder(t)
  for (const arch of architectures)
    execFileSync(process.execPath, ['tools/image.ts', '--arch', arch, '--out', out], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] })
  return out
}

/** Unpacks an image as a runtime does; returns its configuration. */
function unpack(archive: string, target: string): Record<string, unknown> {
  const layout = path.join(target, 'layout')
  mkdirSync(layout)
  execFileSync('tar', ['-xf', archive, '-C', layout])
  const blob = ({ digest }: Descriptor) => path.join(layout, 'blobs', digest.replace(':', '/'))
  const parse = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>
  const [first] = parse(path.join(layout, 'index.json'))['manifests'] as Descriptor[]
  const manifest = parse(blob(first!)) as unknown as { config: Descriptor; layers: Descriptor[] }
  mkdirSync(path.join(target, 'rootfs'))
  for (const layer of manifest.layers) execFileSync('tar', ['-xzf', blob(layer), '-C', path.join(target, 'rootfs')])
  return parse(blob(manifest.config))
}

function bytesIn(target: string): number {
  return readdirSync(target, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + lstatSync(path.join(entry.parentPath, entry.name)).size, 0)
}

const bundleOf = (env: readonly string[], dataDir: string, args: readonly string[]) => ({
  ociVersion: '1.0.2',
  process: { user: { uid: 10_001, gid: 10_001 }, args, env, cwd: '/app', noNewPrivileges: true, capabilities: {} },
  root: { path: 'rootfs', readonly: true },
  mounts: [
    { destination: '/proc', type: 'proc', source: 'proc' },
    { destination: '/dev', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'mode=755'] },
    { destination: '/tmp', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'nodev', 'mode=1777'] },
    { destination: '/var/lib/groundtrack', type: 'bind', source: dataDir, options: ['bind', 'rw', 'nosuid', 'nodev'] },
  ],
  linux: {
    namespaces: ['pid', 'ipc', 'uts', 'mount', 'user'].map((type) => ({ type })), // The network is the machine's, for the database.
    uidMappings: [{ containerID: 10_001, hostID: ORDINARY, size: 1 }],
    gidMappings: [{ containerID: 10_001, hostID: ORDINARY, size: 1 }],
  },
})

test('the image', { skip: absent.length > 0 ? `not installed: ${absent.join(', ')}` : false, timeout: 3_600_000 }, async (t) => {
  const images = imagesIn(t, 'amd64', 'arm64')
  const digest = (arch: string, from = images) => readFileSync(path.join(from, `groundtrack-${version}-${arch}.digest`), 'utf8').trim()
  const place = folder(t)
  const own = process.arch === 'arm64' ? 'arm64' : 'amd64'
  const { config, architecture } = unpack(path.join(images, `groundtrack-${version}-${own}.tar`), place) as {
    config: { User: string; Env: string[]; Entrypoint: string[]; Cmd: string[] }
    architecture: string
  }
  const rootfs = path.join(place, 'rootfs')

  await t.test('it is small, and has no shell, no package manager and nothing that its user can change', () => {
    const bytes = bytesIn(rootfs)
    t.diagnostic(`${Math.round(bytes / 1e6)} MB`)
    assert.ok(bytes < MAX_BYTES, `${bytes} bytes`)
    assert.equal(architecture, own)
    assert.equal(config.User, '10001:10001')
    for (const name of ['bin/sh', 'usr/bin/sh', 'usr/bin/dpkg', 'app/node_modules/.bin', 'app/test'])
      assert.ok(!existsSync(path.join(rootfs, name)), name)
    const bill = JSON.parse(readFileSync(path.join(rootfs, 'app/sbom.cdx.json'), 'utf8')) as {
      components: { name: string; purl: string }[]
    }
    for (const name of ['fastify', 'pg', 'node', 'libc6'])
      assert.ok(
        bill.components.some((component) => component.name === name),
        name,
      )
    assert.ok(!JSON.stringify(bill).includes('playwright'))
    const bundled = path.join(rootfs, 'app/node_modules/.cache/groundtrack/service')
    const files = readdirSync(bundled, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    assert.ok(files.some(({ name }) => name === 'main.mjs'))
    for (const { parentPath, name } of files) {
      const text = readFileSync(path.join(parentPath, name), 'utf8')
      for (const place of [root, images]) assert.ok(!text.includes(`${place}/`), `${name} names a folder of the machine that built it`)
    }
    if (process.getuid?.() === 0) {
      const owned = readdirSync(rootfs, { recursive: true, withFileTypes: true })
        .map((entry) => path.join(entry.parentPath, entry.name))
        .filter((file) => lstatSync(file).uid !== 0)
      assert.deepEqual(
        owned.map((file) => path.relative(rootfs, file)),
        ['var/lib/groundtrack'],
      )
    }
  })

  await t.test('the image of another architecture has its own libraries', () => {
    const other = own === 'amd64' ? 'arm64' : 'amd64'
    const target = folder(t)
    const { architecture: stated } = unpack(path.join(images, `groundtrack-${version}-${other}.tar`), target)
    assert.equal(stated, other)
    const machineOf = (file: string) => readFileSync(file).readUInt16LE(18) // e_machine of ELF
    const expected = { amd64: 0x3e, arm64: 0xb7 }[other]
    const libraries = readdirSync(path.join(target, 'rootfs'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /^node$|\.so(\.\d+)*$|\.node$/.test(entry.name))
      .map((entry) => path.join(entry.parentPath, entry.name))
      .filter((file) => !file.includes('/prebuilds/')) // They come for all systems, and are chosen at run time.
      .filter((file) => readFileSync(file).subarray(0, 4).toString('latin1') === '\u007fELF')
    assert.ok(libraries.length > 5)
    for (const file of libraries) assert.equal(machineOf(file), expected, path.relative(target, file))
  })

  await t.test('an ordinary user runs it with a read-only root, and it is healthy in time', async (inner) => {
    const postgres = await startServerPostgres({ settings: ['listen_addresses=127.0.0.1'] })
    if (!postgres) return inner.skip('no PostgreSQL is installed')
    inner.after(() => postgres.stop())
    await postgres.createDatabase('imagery')
    const port = await freePort()
    const [dataDir, state] = [folder(inner), folder(inner)]
    for (const each of [dataDir, state, place]) chownSync(each, ORDINARY, ORDINARY)
    const settings = {
      PORT: String(port),
      HOST: '127.0.0.1',
      BASE_URL: 'https://imagery.example',
      DATABASE_URL: `postgres://postgres@127.0.0.1:${postgres.port}/imagery`,
      OFFLINE: '1',
      DRAIN_SECONDS: '0',
    }
    const env = [
      ...config.Env.filter((line) => !/^(PORT|HOST)=/.test(line)),
      ...Object.entries(settings).map(([name, value]) => `${name}=${value}`),
    ]
    const run = (id: string, args: readonly string[]) => {
      writeFileSync(path.join(place, 'config.json'), JSON.stringify(bundleOf(env, dataDir, args)))
      const command = ['crun', '--root', state, '--cgroup-manager', 'disabled', 'run', '--bundle', place, id]
      const [program, ...all] = process.getuid?.() === 0 ? [...COVERED, ...AS_ORDINARY, ...command] : command
      const child = spawn(program!, all, { stdio: ['ignore', 'pipe', 'pipe'], env: { PATH: process.env['PATH'], XDG_RUNTIME_DIR: state } })
      let output = ''
      for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text))
      const exited = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)))
      return { child, exited, output: () => output }
    }
    const [program, ...flags] = config.Entrypoint
    const migrated = run('migrate', [program!, ...flags, 'tools/migrate.ts', '--expand'])
    assert.equal(await migrated.exited, 0, migrated.output())

    // With a root that is read-only it cannot be built now.
    const bundled = `import('/app/src/start/bundle.ts').then(async ({ requireBundle }) => process.exit((await requireBundle()) ? 0 : 1))`
    const asked = run('bundled', [program!, ...flags, '-e', bundled])
    assert.equal(await asked.exited, 0, `the service would start from its sources\n${asked.output()}`)
    assert.deepEqual(config.Cmd, ['bin/start.mjs'])

    const startedMs = performance.now()
    const service = run('service', [program!, ...flags, ...config.Cmd])
    inner.after(async () => {
      service.child.kill('SIGTERM') // crun passes it on; killed itself, it would leave the container behind.
      await service.exited
    })
    await until('the service', async () => {
      assert.equal(service.child.exitCode, null, service.output())
      return (await fetch(`http://127.0.0.1:${port}/ready`).catch(() => null))?.ok
    })
    const seconds = (performance.now() - startedMs) / 1_000
    t.diagnostic(`ready after ${seconds.toFixed(1)} s`)
    if (!isShared) assert.ok(seconds < MAX_START_SECONDS, `ready after ${seconds} s`)
    const page = await fetch(`http://127.0.0.1:${port}/app/`)
    assert.equal(page.status, 200, 'the console is built')
    assert.ok((await (await fetch(`http://127.0.0.1:${port}/docs/guides/operating`)).text()).includes('Operating'))
    const healthy = run('healthy', [program!, '/app/bin/healthy.mjs'])
    assert.equal(await healthy.exited, 0, healthy.output())
    const writes =
      `try { require('node:fs').writeFileSync('/app/x', ''); process.exit(1) } ` +
      `catch (error) { process.exit(error.code === 'EROFS' ? 0 : 2) }`
    assert.equal(await run('writes', [program!, '-e', writes]).exited, 0, 'the root is read-only')
    service.child.kill('SIGTERM')
    assert.equal(await service.exited, 0, service.output())
  })

  await t.test('a second build has the same digest', (inner) => {
    if (process.env['IMAGES']) return inner.skip('IMAGES names images that are built already')
    const again = folder(t)
    execFileSync(process.execPath, ['tools/image.ts', '--arch', own, '--out', again], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] })
    assert.equal(digest(own, again), digest(own))
  })
})
