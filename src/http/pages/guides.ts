/** `/docs/guides`: the guides of the repository, as pages. */
import { readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { FastifyInstance } from 'fastify'
import { Marked } from 'marked'
import { problem } from '#core/problem.ts'
import { escape, layout, sendPage } from './layout.ts'

const FOLDER = path.join(import.meta.dirname, '../../../docs/guides')
/** Where to begin; the others follow by name. */
const FIRST = ['first-steps', 'authentication', 'uploads', 'maps', 'sharing']

/** Links between guides stay here; what else a guide points at lies in the repository and not in this service. */
function addressOf(href: string): string | null {
  const here = /^http:\/\/127\.0\.0\.1:8080(\/.*)$/.exec(href) // Where a newcomer's service is: this one.
  if (here) return here[1]!
  if (/^(https?:|#|\/)/.test(href)) return href
  const guide = /^([\w-]+)\.md(#.*)?$/.exec(href)
  if (guide) return `/docs/guides/${guide[1]}${guide[2] ?? ''}`
  return href === '../openapi.json' ? '/openapi.json' : null
}

const marked = new Marked({
  renderer: {
    html: ({ text }) => escape(text),
    link({ href, tokens }) {
      const text = this.parser.parseInline(tokens)
      const address = addressOf(href)
      return address === null ? text : `<a href="${escape(address)}">${text}</a>`
    },
    heading({ tokens, depth }) {
      const text = this.parser.parseInline(tokens)
      const id = text
        .toLowerCase()
        .replaceAll(/<[^>]*>|&\w+;/g, '')
        .replaceAll(/[^\w]+/g, '-')
        .replaceAll(/^-|-$/g, '')
      return `<h${depth} id="${id}">${text}</h${depth}>\n`
    },
  },
})

/** The other ways to do what a block of curl does are folded away under their names. */
const folded = (html: string): string =>
  html.replaceAll(/<p>(TypeScript|Command line|Python):<\/p>\n(<pre>.*?<\/pre>)/gs, '<details><summary>$1</summary>$2</details>')

export function registerGuides(app: FastifyInstance): void {
  const names = readdirSync(FOLDER)
    .filter((file) => file.endsWith('.md'))
    .map((file) => path.basename(file, '.md'))
    .toSorted((a, b) => rank(a) - rank(b) || a.localeCompare(b))
  const textOf = (name: string) => readFile(path.join(FOLDER, `${name}.md`), 'utf8')

  app.get('/docs/guides', async (_request, reply) => {
    const titles = await Promise.all(names.map(async (name) => [name, /^# (.*)$/m.exec(await textOf(name))?.[1] ?? name] as const))
    const entries = titles.map(([name, title]) => `<li><a href="/docs/guides/${name}"><strong>${escape(title)}</strong></a></li>`)
    const body = `<h1>Guides</h1>\n<ul class="cards">${entries.join('')}</ul>`
    return sendPage(reply, layout({ title: 'Guides', path: '/docs/guides', kind: 'prose', body }))
  })

  app.get<{ Params: { name: string } }>('/docs/guides/:name', async (request, reply) => {
    const { name } = request.params
    if (!names.includes(name)) throw problem('not-found', 'There is no such guide; /docs/guides lists them')
    const text = await textOf(name)
    const title = /^# (.*)$/m.exec(text)?.[1] ?? name
    const body = `<p class="eyebrow"><a href="/docs/guides">Guides</a></p>\n${folded(await marked.parse(text))}`
    return sendPage(reply, layout({ title, path: '/docs/guides', kind: 'prose', body }))
  })
}

const rank = (name: string): number => (FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length)
