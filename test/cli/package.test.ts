// Goal: client and command line, packed, install in an empty folder without a network and run on the system's Node 20 or later.
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { scene } from '../support/scene.ts'
import { world } from '../support/world.ts'

const root = path.join(import.meta.dirname, '../..')
const run = promisify(execFile)
/** Without the folders that npm put in front for our own scripts: what is left is what a person has. */
const PATH = process.env['PATH']!.split(path.delimiter)
  .filter((folder) => !folder.includes('node_modules'))
  .join(path.delimiter)

// Goal: our documentation never makes users run a package that someone else could have published.
test('no documentation runs a registry package under a name that is not ours', () => {
  const { stdout } = spawnSync('git', ['ls-files', 'README.md', 'docs', 'packages', 'src', 'examples'], { cwd: root, encoding: 'utf8' })
  const texts = stdout.split('\n').filter((file) => /\.(md|tsx?|mjs|json|1)$/.test(file) && !file.startsWith('docs/adr/'))
  const wrong = texts.filter((file) =>
    /\bnp(x|m exec)\b["',\s[]+(args["':\s[]+)?(groundtrack|@?groundtrack-)/.test(readFileSync(path.join(root, file), 'utf8')),
  )
  assert.deepEqual(wrong, [])
})

test('the packed client and command line', async (t) => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'groundtrack-packed-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const here = { cwd: folder, env: { PATH, HOME: folder, XDG_CONFIG_HOME: path.join(folder, 'config') } as NodeJS.ProcessEnv }
  const { stdout: version } = await run('node', ['--version'], here)
  t.diagnostic(`Node ${version.trim()}`)
  for (const name of ['client', 'cli'])
    await run('npm', ['pack', '--pack-destination', folder], { cwd: path.join(root, 'packages', name), env: { ...process.env } })
  const archives = readdirSync(folder).filter((name) => name.endsWith('.tgz'))
  assert.deepEqual(archives.map((name) => name.replace(/-\d.*/, '')).toSorted(), ['groundtrack-cli', 'groundtrack-client'])
  const home = path.join(folder, 'home')
  mkdirSync(home)
  await run('npm', ['init', '--yes'], { ...here, cwd: home })
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', ...archives.map((name) => `../${name}`)], { ...here, cwd: home })

  await t.test('have their names, no dependencies and no source', () => {
    for (const [name, bin] of [
      ['@groundtrack/client', undefined],
      ['@groundtrack/cli', { groundtrack: 'bin/groundtrack.mjs' }],
    ] as const) {
      const installed = path.join(home, 'node_modules', name)
      const manifest = JSON.parse(readFileSync(path.join(installed, 'package.json'), 'utf8'))
      assert.deepEqual([manifest.name, manifest.dependencies, manifest.bin], [name, undefined, bin])
      const files = readdirSync(installed, { recursive: true, encoding: 'utf8' })
      assert.deepEqual(
        files.filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts')),
        [],
      )
    }
    assert.deepEqual(
      readdirSync(path.join(home, 'node_modules')).filter((name) => !name.startsWith('.')),
      ['@groundtrack'],
    )
  })

  const w = await world(t)
  const org = await w.organization()
  /** With words on its stdin. The service is in this process, so that nothing may wait for the other here. */
  const told = async (input: string, ...args: string[]): Promise<string> => {
    const going = run(path.join(home, 'node_modules/.bin/groundtrack'), args, { ...here, cwd: home })
    going.child.stdin!.end(input)
    return (await going).stdout
  }
  const cli = (...args: string[]) => run(path.join(home, 'node_modules/.bin/groundtrack'), args, { ...here, cwd: home })

  await t.test('help, version, manual and completion', async () => {
    assert.match((await cli('--help')).stdout, /groundtrack <command>/)
    assert.match((await cli('--version')).stdout, /^groundtrack \d+\.\d+\.\d+\n$/)
    assert.match((await cli('man')).stdout, /^\.TH GROUNDTRACK/m)
    assert.match((await cli('items', 'list', '--help')).stdout, /--project-id/)
    await assert.rejects(cli('up'), /does not include the service/)
  })

  await t.test('sign in, list, upload, download', async () => {
    await told(`${org.owner.password}\n`, 'sign-in', '--server', w.baseUrl, '--email', org.owner.email, '--password-stdin')
    const { projects } = JSON.parse((await cli('projects', 'list', '--json')).stdout)
    assert.equal(projects[0].id, org.projectId)
    const bytes = await scene()
    writeFileSync(path.join(home, 'field.tif'), bytes)
    const upload = JSON.parse((await cli('upload', 'field.tif', '--project', org.projectId, '--wait', '--json')).stdout)
    await cli('download', upload.item_ids[0], '-o', 'back.tif')
    assert.deepEqual(readFileSync(path.join(home, 'back.tif')), Buffer.from(bytes))
  })

  await t.test('an agent can use it', async () => {
    const ask = (id: number, method: string, params: object) => `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`
    const initialize = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } }
    const commandName = await told(ask(1, 'initialize', initialize) + ask(2, 'tools/list', {}), 'mcp')
    assert.match(commandName, /"serverInfo"/)
  })

  await t.test('the client', async () => {
    const program = `import { Groundtrack } from '@groundtrack/client'
      const gt = new Groundtrack({ baseUrl: process.argv[2], apiKey: process.argv[3] })
      console.log((await gt.projects.list()).total)`
    writeFileSync(path.join(home, 'program.mjs'), program)
    const { key } = await w.key(org.owner.token, ['read'])
    assert.equal((await run('node', ['program.mjs', w.baseUrl, key], { ...here, cwd: home })).stdout, '1\n')
  })
})
