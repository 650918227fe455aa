// Goal: every block of the README and of the guides runs as written, from top to bottom, against a fresh service with the demo,
// and answers with the members and the status that the guide shows; the TypeScript of a guide is one program, its Python another.
// Examples of the reference are about things of the demo.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { guideOf, packagesOf } from './blocks.ts'
import { callExamples } from './reference.ts'
import { lacks, PYTHON, run } from './run.ts'
import { openLab, type Lab } from '../support/service.ts'

const ROOT = path.join(import.meta.dirname, '../..')
const GUIDES = path.join(ROOT, 'docs/guides')
/** Guides run beside each other: they wait for the service, and for what they start, longer than they compute. */
const AT_ONCE = 3
/** Far more than they take: one that hangs is ended by the limit of its shell. */
const TIMEOUT_MS = 60 * 60_000
/** They change the one card and wallet of the demo, so they run one after the other. */
const OF_THE_WALLET = ['billing.md', 'buying.md', 'retention-and-usage.md']

const PAGES = [
  path.join(ROOT, 'README.md'),
  ...fs
    .readdirSync(GUIDES)
    .filter((name) => name.endsWith('.md'))
    .map((name) => path.join(GUIDES, name)),
]

const hasTool = (name: string): boolean => (process.env['PATH'] ?? '').split(':').some((folder) => fs.existsSync(path.join(folder, name)))

/** Statuses of problems that a block printed, and of those that the guide shows, where a problem may be shortened. */
const PRINTED = /\/problems\/[\w-]+","title":"[^"]*","status":(\d+)/g
const SHOWN = /"status": ?([45]\d\d)\b/g
const statusesIn = (text: string, problems: RegExp): number[] => [...text.matchAll(problems)].map(([, status]) => Number(status))

/** A worker, registered as the guide tells an operator to: the file of them, and the secret. */
function registerWorker(folder: string): { WORKERS: string; SECRET: string } {
  const guide = fs.readFileSync(path.join(GUIDES, 'workers.md'), 'utf8')
  const script = /^```console\n(SECRET=.*?)WORKERS=workers\.json npm start\n```$/ms.exec(guide)![1]!
  const SECRET = execFileSync('bash', ['-eu', '-c', `${script}printf %s "$SECRET"`], { cwd: folder, encoding: 'utf8' })
  return { WORKERS: path.join(folder, 'workers.json'), SECRET }
}

async function check(t: TestContext, page: string, lab: Lab, given: Record<string, string>): Promise<void> {
  const { programs, blocks: all } = guideOf(fs.readFileSync(page, 'utf8'))
  const blocks = all.filter(({ needs }) => needs === null || hasTool('gdalinfo'))
  const missing = packagesOf(programs.python).filter(lacks)
  if (missing.length > 0) await t.test('its Python', { skip: `${PYTHON} has no ${missing.join(' and no ')}` })
  const runnable = { ...programs, python: missing.length > 0 ? '' : programs.python }
  const folder = lab.dataDir()
  const { printed, complaint } = await run({ blocks, programs: runnable }, folder, given)
  assert.equal(complaint, '')
  for (const text of printed.slice(blocks.length)) assert.notEqual(text.trim(), '', 'a program says what it has done')
  assert.equal(printed.length, blocks.length + Object.values(runnable).filter((code) => code !== '').length)
  for (const file of fs.readdirSync(folder).filter((name) => /\.(png|webp|jpg|tif)$/.test(name)))
    assert.doesNotMatch(fs.readFileSync(path.join(folder, file), 'latin1').slice(0, 500), /^\s*(\{|$)/, `${file} is no picture`)
  for (const [index, { code, shown }] of blocks.entries()) {
    const text = printed[index]!
    assert.deepEqual(statusesIn(text, PRINTED), statusesIn(shown ?? '', SHOWN), `${code}\nprinted\n${text.slice(0, 2_000)}`)
    const names = [...(shown ?? '').matchAll(/"(\w+)": ?(?!")|"(\w+)": ?"(?!…)/g)].map(([, bare, quoted]) => bare ?? quoted!)
    for (const name of names)
      assert.ok(text.includes(`"${name}"`), `${name} is shown after\n${code}\nwhich printed\n${text.slice(0, 2_000)}`)
  }
}

test('the guides', { timeout: TIMEOUT_MS, concurrency: AT_ONCE }, async (t) => {
  const lab = openLab()
  t.after(() => lab.close())
  const { WORKERS, SECRET } = registerWorker(lab.dataDir())
  const env = { DATA_DIR: lab.dataDir(), DEMO: '1', SANDBOX_DELIVERY_SECONDS: '1', WORKERS }
  const { baseUrl } = await lab.start({ env })
  const given = { BASE_URL: baseUrl, SECRET }
  const pages = PAGES.filter((page) => guideOf(fs.readFileSync(page, 'utf8')).blocks.length > 0)
  const testPage = (t: TestContext, page: string) =>
    t.test(path.relative(ROOT, page), { timeout: TIMEOUT_MS }, (t) => check(t, page, lab, given))
  const [ofTheWallet, others] = [true, false].map((isOne) => pages.filter((page) => OF_THE_WALLET.includes(path.basename(page)) === isOne))
  await Promise.all([
    t.test('of the wallet', { timeout: TIMEOUT_MS }, async (t) => {
      for (const page of ofTheWallet!) await testPage(t, page)
    }),
    ...others!.map((page) => testPage(t, page)),
    t.test('examples of the reference', { timeout: TIMEOUT_MS }, () => callExamples(baseUrl)),
  ])
})
