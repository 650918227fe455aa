/** Debian's packages in the image, pinned by version and checksum in ops/image/packages.json. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'

export const ARCHITECTURES = ['amd64', 'arm64'] as const
export type Architecture = (typeof ARCHITECTURES)[number]

interface Pinned {
  name: string
  version: string
  /** Below the mirror; a version that has left it is at snapshot.debian.org. */
  file: string
  sha256: string
}

type Pins = Readonly<Record<Architecture, readonly Pinned[]>>

const LOCK = path.join(import.meta.dirname, '../../ops/image/packages.json')
/** What Node and the raster libraries are linked with, and /etc/os-release for scanners. */
const WANTED = ['base-files', 'gcc-12-base', 'libc6', 'libgcc-s1', 'libstdc++6']
const MIRROR = 'http://deb.debian.org'
const SUITES = ['debian/dists/bookworm', 'debian/dists/bookworm-updates', 'debian-security/dists/bookworm-security']

export const pins = (): Pins => JSON.parse(readFileSync(LOCK, 'utf8')) as Pins

async function download(url: string): Promise<Buffer> {
  const response = await fetch(url)
  if (!response.ok) throw new Error(`${url} returned ${response.status}`)
  return Buffer.from(await response.arrayBuffer())
}

/** The archives, in a folder. The mirror needs no trust: the checksum is ours. */
export async function fetchPackages(arch: Architecture, folder: string): Promise<string[]> {
  const files: string[] = []
  for (const { name, version, file, sha256 } of pins()[arch]) {
    const content = await download(`${MIRROR}/${file}`)
    if (createHash('sha256').update(content).digest('hex') !== sha256) throw new Error(`${name} ${version} has another checksum`)
    const target = path.join(folder, path.basename(file))
    writeFileSync(target, content)
    files.push(target)
  }
  return files
}

function packagesIn(index: string, base: string): Pinned[] {
  return index.split('\n\n').flatMap((paragraph) => {
    const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(paragraph)?.[1] ?? ''
    if (!WANTED.includes(field('Package'))) return []
    return [{ name: field('Package'), version: field('Version'), file: `${base}/${field('Filename')}`, sha256: field('SHA256') }]
  })
}

const isNewer = (version: string, than: string): boolean => {
  try {
    execFileSync('dpkg', ['--compare-versions', version, 'gt', than])
    return true
  } catch {
    return false
  }
}

/** The newest version of each package, with its security updates. */
export async function updatePackages(): Promise<void> {
  const entries = ARCHITECTURES.map(async (arch): Promise<[Architecture, Pinned[]]> => {
    const newest = new Map<string, Pinned>()
    for (const suite of SUITES) {
      const index = gunzipSync(
        await download(`${MIRROR}/${suite}/main/binary-${arch}/Packages.gz`).catch(async () => await xz(suite, arch)),
      )
      for (const found of packagesIn(index.toString('utf8'), suite.split('/')[0]!)) {
        const known = newest.get(found.name)
        if (!known || isNewer(found.version, known.version)) newest.set(found.name, found)
      }
    }
    return [arch, WANTED.map((name) => newest.get(name)!)]
  })
  writeFileSync(LOCK, `${JSON.stringify(Object.fromEntries(await Promise.all(entries)), null, 2)}\n`)
}

/** Most suites have their index as .xz only; returned as .gz would be. */
async function xz(suite: string, arch: Architecture): Promise<Buffer> {
  const packed = await download(`${MIRROR}/${suite}/main/binary-${arch}/Packages.xz`)
  const { gzipSync } = await import('node:zlib')
  return gzipSync(execFileSync('xz', ['-dc'], { input: packed, maxBuffer: 1e9 }), { level: 1 })
}
