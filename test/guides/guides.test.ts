// Goal: every block of the README and of the guides runs as written, from top to bottom, against a fresh service with the demo,
// and answers with the members and the status that the guide shows; the TypeScript of a guide is one program, its Python another.
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { guideOf, scriptOf, typescriptOf, type Guide } from './blocks.ts'
import { openLab, type Service } from '../support/service.ts'

const ROOT = path.join(import.meta.dirname, '../..')
const GUIDES = path.join(ROOT, 'docs/guides')
const GUIDE_TIMEOUT_MS = 360_000

const PAGES = [
  path.join(ROOT, 'README.md'),
  ...fs
    .readdirSync(GUIDES)
    .filter((name) => name.endsWith('.md'))
    .map((name) => path.join(GUIDES, name)),
]

const hasTool = (name: string): boolean => (process.env['PATH'] ?? '').split(':').some((folder) => fs.existsSync(path.join(folder, name)))

const hasPython = spawnSync('python3', ['-c', 'import requests']).status === 0

/** Runs a guide in a folder of its own, in one shell as a person would. Gives what each block and each program printed. */
async function run(guide: Guide, { baseUrl }: Service, folder: string): Promise<{ printed: string[]; complaint: string }> {
  const programs: string[] = []
  if (guide.programs.ts !== '') programs.push(`'${process.execPath}' guide.mts`)
  if (guide.programs.python !== '' && hasPython) programs.push('python3 guide.py')
  fs.writeFileSync(path.join(folder, 'guide.sh'), scriptOf(guide.blocks, { root: ROOT, programs }))
  fs.writeFileSync(path.join(folder, 'guide.mts'), typescriptOf(guide, ROOT))
  fs.writeFileSync(path.join(folder, 'guide.py'), guide.programs.python)
  return await new Promise((resolve) => {
    const accounts = path.join(folder, 'accounts.json')
    const env = { ...process.env, BASE_URL: baseUrl, GDAL_ENABLE_WMS_CACHE: 'NO', GROUNDTRACK_CONFIG: accounts }
    execFile(
      'bash',
      ['guide.sh'],
      { cwd: folder, env, timeout: GUIDE_TIMEOUT_MS, maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) => {
        const printed = stdout.split(/^=== block \d+\n/m).slice(1)
        resolve({ printed, complaint: error ? `${error.message}\n${stderr}\n${stdout.slice(-2_000)}` : '' })
      },
    )
  })
}

/** Statuses of problems that a block printed, and of those that the guide shows, where a problem may be shortened. */
const PRINTED = /\/problems\/[\w-]+","title":"[^"]*","status":(\d+)/g
const SHOWN = /"status": ?([45]\d\d)\b/g
const statusesIn = (text: string, problems: RegExp): number[] => [...text.matchAll(problems)].map(([, status]) => Number(status))

test('the guides', { timeout: 20 * 60_000 }, async (t) => {
  const lab = openLab()
  t.after(() => lab.close())
  const service = await lab.start({ env: { DATA_DIR: lab.dataDir(), DEMO: '1' } })
  for (const page of PAGES) {
    const { programs, blocks: all } = guideOf(fs.readFileSync(page, 'utf8'))
    const blocks = all.filter(({ needs }) => needs === null || hasTool('gdalinfo'))
    if (blocks.length === 0) continue
    await t.test(path.relative(ROOT, page), async (t) => {
      const folder = lab.dataDir()
      const { printed, complaint } = await run({ blocks, programs }, service, folder)
      assert.equal(complaint, '')
      if (programs.python !== '' && !hasPython) t.diagnostic('its Python was not run: there is no python3 with requests')
      for (const text of printed.slice(blocks.length)) assert.notEqual(text.trim(), '', 'a program says what it has done')
      assert.equal(printed.length, blocks.length + (programs.ts === '' ? 0 : 1) + (programs.python === '' || !hasPython ? 0 : 1))
      for (const file of fs.readdirSync(folder).filter((name) => /\.(png|webp|jpg|tif)$/.test(name)))
        assert.doesNotMatch(fs.readFileSync(path.join(folder, file), 'latin1').slice(0, 500), /^\s*(\{|$)/, `${file} is no picture`)
      for (const [index, { code, shown }] of blocks.entries()) {
        const text = printed[index]!
        assert.deepEqual(statusesIn(text, PRINTED), statusesIn(shown ?? '', SHOWN), `${code}\nprinted\n${text.slice(0, 2_000)}`)
        const names = [...(shown ?? '').matchAll(/"(\w+)": ?(?!")|"(\w+)": ?"(?!…)/g)].map(([, bare, quoted]) => bare ?? quoted!)
        for (const name of names)
          assert.ok(text.includes(`"${name}"`), `${name} is shown after\n${code}\nwhich printed\n${text.slice(0, 2_000)}`)
      }
    })
  }
})
