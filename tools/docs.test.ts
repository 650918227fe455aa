import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { banner } from '#start/banner.ts'
import { COUNTED_STATUSES, TABLE } from '#contract/table.ts'
import { VERSION } from '#core/version.ts'

const root = path.dirname(import.meta.dirname)
const read = (file: string) => readFileSync(path.join(root, file), 'utf8')

/** Every text of the repository that people write; golden files and what tools generate are none. */
const TEXTS = /\.(ts|md|py|tsv|html|css|sh)$/
const NOT_OURS = /node_modules|^test\/golden\/|^data\//
const texts = ['src', 'test', 'tools', 'bench', 'sandbox', 'packages', 'docs'].flatMap((folder) =>
  readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => path.posix.join(folder, file)),
)
texts.push('README.md', 'CONTRIBUTING.md')
const written = texts.filter((file) => TEXTS.test(file) && !NOT_OURS.test(file) && file !== 'tools/docs.test.ts')
const pages = written.filter((file) => file.endsWith('.md'))

/** `G74–G76` names three decisions, `rows 26–37` twelve threats. */
function numbers(text: string, pattern: RegExp): number[] {
  return [...text.matchAll(pattern)].flatMap(([, first, last]) => {
    const from = Number(first)
    return Array.from({ length: Number(last ?? first) - from + 1 }, (_, i) => from + i)
  })
}

function unexplained(known: ReadonlySet<number>, cited: RegExp): string[] {
  return written.flatMap((file) =>
    numbers(read(file), cited)
      .filter((number) => !known.has(number))
      .map((number) => `${file}: ${number}`),
  )
}

// Goal: whoever reads a number of a decision or a threat finds in this repository what it means.
test('every decision and every threat that is cited is explained', () => {
  const decisions = new Set(numbers(read('docs/decisions.md'), /\*\*G(\d+)\*\*(?:–\*\*G(\d+)\*\*)?/g))
  // Fax compression is called G3 and G4 too.
  assert.deepEqual(unexplained(decisions, /(?<!CCITT |\/|\w)G(\d{1,3})(?:–G(\d{1,3}))?\b/g), [])
  const threats = new Set(numbers(read('docs/threats.md'), /^\| (\d+) \|/gm))
  assert.deepEqual(unexplained(threats, /(?:threats\.md, rows?|test\('rows?) (\d+)(?:–(\d+))?/g), [])
  const files = readdirSync(path.join(root, 'test/security')).flatMap((file) => /^(\d\d)-.*\.test\.ts$/.exec(file)?.[1] ?? [])
  assert.deepEqual(
    files.filter((row) => !threats.has(Number(row))),
    [],
  )
  assert.deepEqual(
    written.filter((file) => /\b(GAPS|SECURITY)\b(\.md| row| G\d)/.test(read(file))),
    [],
    'these cite a document that a clone does not have',
  )
})

// Goal: no reader of the documentation is sent to a file that is not there.
test('every link between documents leads somewhere', () => {
  const broken = pages.flatMap((page) => {
    const links = [...read(page).matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1]!)
    return links
      .filter((link) => !/^[a-z]+:|^#|^\//.test(link))
      .filter((link) => !existsSync(path.join(root, path.dirname(page), link.split('#')[0]!)))
      .map((link) => `${page}: ${link}`)
  })
  assert.deepEqual(broken, [])
})

/** Files that a worked example tells the reader to make. */
const MADE_BY_READER = /projects\/rename(\.test)?\.ts$/

test('every path that the documentation names exists', () => {
  const missing = pages.flatMap((page) => {
    const paths = [...read(page).matchAll(/(?<![\w/.:-])((?:src|test|tools|bench|sandbox|packages)\/[\w./-]*\w)(?![\w*{<…])/g)].map(
      (match) => match[1]!,
    )
    return paths.filter((file) => !MADE_BY_READER.test(file) && !existsSync(path.join(root, file))).map((file) => `${page}: ${file}`)
  })
  assert.deepEqual([...new Set(missing)], [])
})

// Goal: records are numbered from 1 without a gap, and the index has each of them under its own title.
test('the index of decision records is complete', () => {
  const files = readdirSync(path.join(root, 'docs/adr')).filter((file) => /^\d{4}-/.test(file))
  const titles = files.map((file) => /^# (.+)$/m.exec(read(`docs/adr/${file}`))![1]!)
  assert.deepEqual(
    titles.map((title) => Number.parseInt(title, 10)),
    files.map((_, i) => i + 1),
  )
  assert.deepEqual(
    files.map((file) => Number.parseInt(file, 10)),
    files.map((_, i) => i + 1),
  )
  const listed = [...read('docs/adr/README.md').matchAll(/^- \[(.+)\]\((\S+)\)$/gm)].map(([, title, file]) => `${file} ${title}`)
  assert.deepEqual(
    listed,
    files.map((file, i) => `${file} ${titles[i]}`),
  )
})

// Goal: a reader meets one count of operations and one product version, wherever they look.
test('counts of operations and version numbers agree', () => {
  const rows = [...TABLE.values()]
  const [counted, ours] = [
    rows.filter(({ status }) => COUNTED_STATUSES.includes(status)).length,
    rows.filter(({ status }) => status === 'ours').length,
  ]
  const sentence = `${counted} operations of the contract and ${ours} additions`
  const { info, paths } = JSON.parse(read('docs/openapi.json')) as { info: { version: string; description: string }; paths: object }
  for (const text of [read('README.md'), read('docs/operations.md'), info.description]) assert.ok(text.includes(sentence), sentence)
  assert.equal(Object.keys(paths).filter((address) => address.startsWith('/v1/op/')).length, counted + ours)
  const shown = banner({ baseUrl: 'http://127.0.0.1:8080', role: 'all', embedded: null, demo: null })
  assert.match(shown, new RegExp(`Groundtrack ${VERSION.replaceAll('.', '\\.')} is ready`))
  assert.ok(shown.includes(`/openapi.json (contract version ${info.version})`))
  for (const name of ['package.json', ...['cli', 'client', 'console'].map((each) => `packages/${each}/package.json`)])
    assert.equal((JSON.parse(read(name)) as { version: string }).version, VERSION, name)
})
