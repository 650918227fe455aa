/** `/docs/guides`: the guides of the repository, as pages with contents, search and examples in four languages. */
import { readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { FastifyInstance } from 'fastify'
import { problem } from '#core/problem.ts'
import { findIn, readGuide, type Guide } from './guide.ts'
import { escape, layout, sendPage } from './layout.ts'

const FOLDER = path.join(import.meta.dirname, '../../../docs/guides')
const PICTURES = path.join(FOLDER, 'images')
/** The first guides; the others follow by name. */
const FIRST = ['first-steps', 'real-imagery', 'authentication', 'uploads', 'maps', 'sharing']
const MAX_FOUND = 20
const MAX_QUERY_LENGTH = 100

const rank = (name: string): number => (FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length)

async function readGuides(): Promise<Guide[]> {
  const names = readdirSync(FOLDER)
    .filter((file) => file.endsWith('.md'))
    .map((file) => path.basename(file, '.md'))
    .toSorted((a, b) => rank(a) - rank(b) || a.localeCompare(b))
  return await Promise.all(names.map(async (name) => await readGuide(name, await readFile(path.join(FOLDER, `${name}.md`), 'utf8'))))
}

export function registerGuides(app: FastifyInstance): void {
  registerPictures(app)
  let reading: Promise<Guide[]> | null = null
  const guides = () => (reading ??= readGuides())

  app.get<{ Querystring: { q?: string | string[] } }>('/docs/guides', async (request, reply) => {
    const all = await guides()
    const query = queryOf(request.query.q)
    return sendPage(reply, frame(all, null, query === '' ? overview(all) : results(all, query), query))
  })

  app.get<{ Querystring: { q?: string | string[] } }>('/docs/guides/search.json', async (request) => ({
    sections: findIn(await guides(), queryOf(request.query.q), MAX_FOUND),
  }))

  app.get<{ Params: { name: string } }>('/docs/guides/:name', async (request, reply) => {
    const all = await guides()
    const guide = all.find(({ name }) => name === request.params.name)
    if (!guide) throw problem('not-found', 'No such guide; see /docs/guides')
    return sendPage(reply, frame(all, guide, article(all, guide)))
  })
}

/** Pictures of guides; only names that are in the folder. */
function registerPictures(app: FastifyInstance): void {
  const names = new Set(readdirSync(PICTURES).filter((file) => file.endsWith('.jpg')))
  app.get<{ Params: { name: string } }>('/docs/guides/images/:name', async (request, reply) => {
    const { name } = request.params
    if (!names.has(name)) throw problem('not-found', 'No such picture; see /docs/guides')
    return reply
      .header('Cache-Control', 'public, max-age=3600')
      .type('image/jpeg')
      .send(await readFile(path.join(PICTURES, name)))
  })
}

const queryOf = (q: string | string[] | undefined): string => [q ?? ''].flat().join(' ').slice(0, MAX_QUERY_LENGTH).trim()

function frame(all: readonly Guide[], current: Guide | null, body: string, query = ''): string {
  const entries = all.map(
    ({ name, title }) =>
      `<li><a href="/docs/guides/${name}"${name === current?.name ? ' aria-current="page"' : ''}>${escape(title)}</a></li>`,
  )
  const side = `<div class="side">
<form class="find" role="search" action="/docs/guides"><label for="find">Search the guides</label>
<input id="find" name="q" type="search" maxlength="${MAX_QUERY_LENGTH}" autocomplete="off" value="${escape(query)}">
<div class="found" id="results" role="status" hidden></div></form>
<details class="menu" open><summary>All guides</summary><nav aria-label="Guides"><ul>${entries.join('')}</ul></nav></details>
</div>`
  return layout({
    title: current?.title ?? 'Guides',
    path: '/docs/guides',
    kind: 'prose guides',
    head:
      '<link rel="stylesheet" href="/assets/guides.css">\n<script src="/assets/theme.js"></script>\n' +
      '<script type="module" src="/assets/guides.js"></script>\n',
    body: `${side}\n${body}`,
  })
}

const overview = (all: readonly Guide[]): string =>
  `<article><h1>Guides</h1>\n<ul class="cards">${all
    .map(({ name, title }) => `<li><a href="/docs/guides/${name}"><strong>${escape(title)}</strong></a></li>`)
    .join('')}</ul></article>`

function results(all: readonly Guide[], query: string): string {
  const results = findIn(all, query, MAX_FOUND)
  const entries = results.map(
    ({ guide, href, heading, excerpt }) =>
      `<li><a href="${escape(href)}">${escape(guide === heading ? guide : `${guide}: ${heading}`)}</a><p>${escape(excerpt)}</p></li>`,
  )
  const list = results.length === 0 ? `<p>No results. Try fewer words.</p>` : `<ul class="results">${entries.join('')}</ul>`
  return `<article><h1>Results for “${escape(query)}”</h1>\n${list}</article>`
}

function article(all: readonly Guide[], guide: Guide): string {
  const at = all.indexOf(guide)
  const contents = guide.headings
    .filter(({ depth }) => depth === 2 || depth === 3)
    .map(({ id, title, depth }) => `<li class="depth-${depth}"><a href="#${id}">${escape(title)}</a></li>`)
  const link = (to: Guide | undefined, rel: 'prev' | 'next', word: string) =>
    to ? `<a rel="${rel}" href="/docs/guides/${to.name}"><span>${word}</span>${escape(to.title)}</a>` : ''
  return `<article>
${guide.html}
<nav class="turn" aria-label="Previous and next">${link(all[at - 1], 'prev', 'Previous')}${link(all[at + 1], 'next', 'Next')}</nav>
</article>
${contents.length > 0 ? `<nav class="contents" aria-label="On this page"><p>On this page</p><ul>${contents.join('')}</ul></nav>` : ''}`
}
