// Goal: every block of the README and of the guides runs as written, from top to bottom, against a fresh service with the demo,
// and answers with the members and the status that the guide shows; the TypeScript of a guide is one program, its Python another.
// Examples of the reference are about things of the demo.
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { guideOf } from './blocks.ts'
import { checkGuide } from './check.ts'
import { callExamples } from './reference.ts'
import { openLab } from '../support/service.ts'

const ROOT = path.join(import.meta.dirname, '../..')
const GUIDES = path.join(ROOT, 'docs/guides')
/** Guides run beside each other: they wait for the service, and for what they start, longer than they compute. */
const AT_ONCE = 3
/** Far more than they take: one that hangs is ended by the limit of its shell. */
const TIMEOUT_MS = 60 * 60_000
/** It needs hosts that respond, and has a test of its own. */
const ONLINE = 'real-imagery.md'
/** They change the one card and wallet of the demo, so they run one after the other. */
const OF_THE_WALLET = ['billing.md', 'buying.md', 'retention-and-usage.md']

const PAGES = [
  path.join(ROOT, 'README.md'),
  ...fs
    .readdirSync(GUIDES)
    .filter((name) => name.endsWith('.md') && name !== ONLINE)
    .map((name) => path.join(GUIDES, name)),
]

/** A worker, registered as the guide tells an operator to: the file of them, and the secret. */
function registerWorker(folder: string): { WORKERS: string; SECRET: string } {
  const guide = fs.readFileSync(path.join(GUIDES, 'workers.md'), 'utf8')
  const script = /^```console\n(SECRET=.*?)WORKERS=workers\.json npm start\n```$/ms.exec(guide)![1]!
  const SECRET = execFileSync('bash', ['-eu', '-c', `${script}printf %s "$SECRET"`], { cwd: folder, encoding: 'utf8' })
  return { WORKERS: path.join(folder, 'workers.json'), SECRET }
}

test('the guides', { timeout: TIMEOUT_MS, concurrency: AT_ONCE }, async (t) => {
  const lab = openLab()
  t.after(() => lab.close())
  const { WORKERS, SECRET } = registerWorker(lab.dataDir())
  const env = { DATA_DIR: lab.dataDir(), DEMO: '1', SANDBOX_DELIVERY_SECONDS: '1', WORKERS }
  const { baseUrl } = await lab.start({ entry: 'test/guides/service.ts', env })
  const given = { BASE_URL: baseUrl, SECRET }
  const pages = PAGES.filter((page) => guideOf(fs.readFileSync(page, 'utf8')).blocks.length > 0)
  const testPage = (t: TestContext, page: string) =>
    t.test(path.relative(ROOT, page), { timeout: TIMEOUT_MS }, (t) => checkGuide(t, page, lab, given))
  const [ofTheWallet, others] = [true, false].map((isOne) => pages.filter((page) => OF_THE_WALLET.includes(path.basename(page)) === isOne))
  await Promise.all([
    t.test('of the wallet', { timeout: TIMEOUT_MS }, async (t) => {
      for (const page of ofTheWallet!) await testPage(t, page)
    }),
    ...others!.map((page) => testPage(t, page)),
    t.test('examples of the reference', { timeout: TIMEOUT_MS }, () => callExamples(baseUrl)),
  ])
})
