import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { scene } from '../support/scene.ts'
import { world } from '../support/world.ts'

const root = path.join(import.meta.dirname, '../..')

/** Blocks of a language, by the line before them where that names a way. */
function blocks(text: string): { way: string; code: string }[] {
  return [...text.matchAll(/(?:^(curl|TypeScript|Command line|Python)[^\n]*:\n\n)?^```(bash|ts|python)\n([\s\S]*?)^```$/gm)].map(
    ([, way, language, code]) => ({
      way: way ?? (language === 'ts' ? 'TypeScript' : language === 'python' ? 'Python' : 'environment'),
      code: code!,
    }),
  )
}

// Goal: what the guide shows can be pasted: all blocks of each way run as one program, top to bottom, and bring what is said.
test('the guide to client, command line and agents', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const folder = mkdtempSync(path.join(os.tmpdir(), 'groundtrack-guide-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(path.join(folder, 'field.tif'), await scene())
  mkdirSync(path.join(folder, 'bin'))
  writeFileSync(
    path.join(folder, 'bin/groundtrack'),
    `#!/bin/sh\nexec "${process.execPath}" "${root}/packages/cli/bin/groundtrack.mjs" "$@"\n`,
  )
  chmodSync(path.join(folder, 'bin/groundtrack'), 0o755)
  const env = {
    PATH: `${folder}/bin:${process.env['PATH']}`,
    HOME: folder,
    GROUNDTRACK_URL: w.baseUrl,
    EMAIL: org.owner.email,
    PASSWORD: org.owner.password,
  }
  const found = blocks(readFileSync(path.join(root, 'docs/guides/clients.md'), 'utf8'))
  const program = (way: string) =>
    found
      .filter((block) => block.way === way)
      .map(({ code }) => code)
      .join('\n')
  const run = (command: string, args: readonly string[]): Promise<string> =>
    new Promise((resolve, reject) => {
      const child = spawn(command, args, { cwd: folder, env })
      let [out, err] = ['', '']
      child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
      child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()))
      child.on('error', reject).on('close', (code) => (code === 0 ? resolve(out) : reject(new Error(`${command}: ${out}${err}`))))
    })
  const items = async () => (await w.ok(org.owner.token, 'items.list', { project_id: org.projectId })).total as number

  await t.test('curl', { skip: spawnSync('curl', ['--version']).status === 0 ? false : 'there is no curl' }, async () => {
    const out = await run('bash', ['-euo', 'pipefail', '-c', program('curl')])
    assert.match(out, new RegExp(`^${org.projectId}\n[\\w-]+\n\\{.*"p98"`))
    assert.equal(readFileSync(path.join(folder, 'tile.png')).subarray(1, 4).toString(), 'PNG')
    assert.equal(await items(), 1)
  })
  await t.test('TypeScript', async () => {
    const client = path.join(root, 'packages/client/src')
    const code = program('TypeScript')
      .replaceAll("'@groundtrack/client/node'", `'${client}/node.ts'`)
      .replaceAll("'@groundtrack/client'", `'${client}/index.ts'`)
    writeFileSync(path.join(folder, 'guide.mts'), code)
    const before = await items()
    const out = await run(process.execPath, ['guide.mts'])
    assert.match(out, new RegExp(`^${org.projectId}\n[\\w-]+\nimage/png\nnot-found No such item\n$`))
    assert.deepEqual(readFileSync(path.join(folder, 'copy.tif')), readFileSync(path.join(folder, 'field.tif')))
    assert.equal(await items(), before + 1)
  })
  await t.test('command line', async () => {
    rmSync(path.join(folder, 'copy.tif'), { force: true })
    await run('bash', ['-euo', 'pipefail', '-c', program('Command line')])
    assert.deepEqual(readFileSync(path.join(folder, 'copy.tif')), readFileSync(path.join(folder, 'field.tif')))
  })
  const hasRequests = spawnSync('python3', ['-c', 'import requests']).status === 0
  await t.test('Python', { skip: hasRequests ? false : 'there is no Python with requests' }, async () => {
    const out = await run('python3', ['-c', program('Python')])
    assert.match(out, new RegExp(`^${org.projectId}\n[\\w-]+\nimage/png\n$`))
  })
})
