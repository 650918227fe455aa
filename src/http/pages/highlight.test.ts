// Goal: the text of any code block is unchanged, and none of it becomes markup.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { findIn, readGuide } from './guide.ts'
import { highlight } from './highlight.ts'

const LANGUAGES = ['ts', 'js', 'sh', 'bash', 'console', 'env', 'python', 'json', 'go', 'xml', 'unknown', '']
const textOf = (html: string) =>
  html
    .replaceAll(/<span class="t-(?:comment|string|number|keyword|name)">|<\/span>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')

test('any text in any language keeps its characters, and only our own spans are markup', () => {
  const piece = fc.constantFrom(
    '"',
    "'",
    '`',
    '\\',
    '#',
    '//',
    '/*',
    '*/',
    '<',
    '>',
    '&',
    '$',
    '${',
    '\n',
    ' ',
    'const',
    'def',
    '1',
    '--x',
    '"""',
  )
  const text = fc.oneof(
    fc.string(),
    fc.array(fc.oneof(piece, fc.string({ maxLength: 3 })), { maxLength: 40 }).map((parts) => parts.join('')),
  )
  fc.assert(
    fc.property(text, fc.constantFrom(...LANGUAGES), (code, language) => {
      const html = highlight(code, language)
      assert.equal(textOf(html), code)
      assert.doesNotMatch(html.replaceAll(/<span class="t-\w+">|<\/span>/g, ''), /[<>"]/)
    }),
    { numRuns: 2_000 },
  )
})

test('tokens of each language are highlighted', () => {
  assert.equal(
    highlight("const id2 = 'a' // b", 'ts'),
    '<span class="t-keyword">const</span> id2 = <span class="t-string">\'a\'</span> <span class="t-comment">// b</span>',
  )
  assert.match(highlight('curl -s "$BASE/x" # y', 'sh'), /t-keyword">-s<.*t-string">&quot;\$BASE\/x&quot;<.*t-comment"># y</)
  assert.match(highlight('{"a": true, "b": "c"}', 'json'), /t-name">&quot;a&quot;<.*t-keyword">true<.*t-string">&quot;c&quot;</)
})

test('a guide: blocks of the same step form one group, and sections can be searched', async () => {
  const folder = path.join(import.meta.dirname, '../../../docs/guides')
  const guides = await Promise.all(
    readdirSync(folder)
      .filter((file) => file.endsWith('.md'))
      .map(async (file) => await readGuide(path.basename(file, '.md'), readFileSync(path.join(folder, file), 'utf8'))),
  )
  const first = guides.find(({ name }) => name === 'first-steps')!
  assert.match(
    first.html,
    /<div class="ways"><section data-way="curl"[\s\S]*?<section data-way="TypeScript"[\s\S]*?<section data-way="Python"/,
  )
  const labels = guides.flatMap(({ html }) => [...html.matchAll(/<p>(TypeScript|Command line|Python):<\/p>/g)])
  assert.deepEqual(labels.length, 0, 'no label stands alone')
  for (const { headings } of guides)
    assert.equal(new Set(headings.map(({ id }) => id)).size, headings.length, 'every heading has an address of its own')
  const results = findIn(guides, 'signed_url Content-Type', 20)
  assert.ok(results.some(({ href }) => href === '/docs/guides/uploads#the-bytes'))
  assert.deepEqual(findIn(guides, 'no such words at all', 5), [])
  assert.deepEqual(findIn(guides, '  ', 5), [])
})
