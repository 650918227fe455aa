/** Pages outside the console: welcome, reference, problem types. No inline scripts or styles. */
import { STATUS_CODES } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { PROBLEMS, problem, type ProblemSlug } from '#core/problem.ts'
import { registerBaseMaps } from './base-maps.ts'
import { registerBasemap } from './basemap.ts'
import type { BaseMaps } from '#core/base-maps.ts'
import { registerGuides } from './guides.ts'
import { escape, layout, sendPage } from './layout.ts'
import { registerStatic } from './static.ts'
import { registerWelcome, type WelcomeParts } from './welcome.ts'

export function registerPages(app: FastifyInstance, parts: WelcomeParts & { baseMaps?: BaseMaps | undefined }): void {
  registerStatic(app)
  registerBasemap(app)
  registerBaseMaps(app, parts)
  registerGuides(app)
  registerWelcome(app, parts)
  app.get('/docs', async (_request, reply) => sendPage(reply, REFERENCE))
  // The same page for every token: only a signed-in user learns whether it is valid.
  app.get('/invite/:token', async (_request, reply) => sendPage(reply.header('X-Robots-Tag', 'noindex, nofollow'), INVITATION))
  app.get('/problems', async (_request, reply) => sendPage(reply, problemList()))
  app.get<{ Params: { slug: string } }>('/problems/:slug', async (request, reply) => {
    const { slug } = request.params
    if (!Object.hasOwn(PROBLEMS, slug)) throw problem('not-found', 'No such problem type')
    return sendPage(reply, problemPage(slug as ProblemSlug, parts.platform.baseUrl()))
  })
}

const INVITATION = layout({
  title: 'Invitation',
  path: '/invite',
  kind: 'prose',
  head: '<script src="/assets/invite.js" type="module"></script>\n',
  body: `<h1>You are invited</h1>
<p id="about">Sign in or create an account to join the organization that sent you this link. The link works once.</p>
<form id="join">
<p><label>Email <input name="email" type="email" autocomplete="username" required></label></p>
<p><label>Password <input name="password" type="password" autocomplete="current-password" minlength="10" required></label></p>
<p><label>Your name (new accounts only) <input name="name" autocomplete="name"></label></p>
<p><button name="how" value="sign-in">Sign in and join</button> <button name="how" value="sign-up">Create account and join</button></p>
</form>
<p id="outcome" role="status"></p>`,
})

const REFERENCE = layout({
  title: 'Reference',
  path: '/docs',
  kind: 'reference',
  head: `<link rel="stylesheet" href="/assets/swagger-ui.css">
<link rel="stylesheet" href="/assets/reference.css">
<script src="/assets/swagger-ui-bundle.js" defer></script>
<script src="/assets/reference.js" type="module"></script>
`,
  body: `<div id="reference"></div>
<noscript>The reference needs JavaScript. The same contract is at <a href="/openapi.json">/openapi.json</a>.</noscript>`,
})

interface ProblemEntry {
  status: number
  title?: string
  about: string
}

const titleOf = ({ status, title }: ProblemEntry) => title ?? STATUS_CODES[status] ?? 'Error'

function problemList(): string {
  const row = ([slug, entry]: [string, ProblemEntry]) =>
    `<tr><td>${badge(entry.status)}</td><td><a href="/problems/${slug}">${slug}</a></td><td>${markup(entry.about)}</td></tr>`
  return layout({
    title: 'Problems',
    path: '/problems',
    kind: 'prose',
    body: `<h1>Problems</h1>
<p class="lead">A failed call returns <code>application/problem+json</code> (RFC 9457). \
Its <code>code</code> is one of these, and its <code>type</code> is the URL of the page about it.</p>
<table class="problems"><thead><tr><th>Status</th><th>Code</th><th>Meaning</th></tr></thead><tbody>
${Object.entries(PROBLEMS).map(row).join('\n')}
</tbody></table>`,
  })
}

function problemPage(slug: ProblemSlug, baseUrl: string): string {
  const entry: ProblemEntry = PROBLEMS[slug]
  const example = {
    type: `${baseUrl}/problems/${slug}`,
    title: titleOf(entry),
    status: entry.status,
    detail: '…',
    instance: 'urn:uuid:0199f2c5-0001-7aaa-8bbb-0123456789ab',
    code: slug,
    ...EXTRA_MEMBERS[slug],
  }
  return layout({
    title: slug,
    path: '/problems/…',
    kind: 'prose',
    body: `<p class="eyebrow"><a href="/problems">Problems</a></p>
<h1>${slug}</h1>
<p>${badge(entry.status)} ${escape(titleOf(entry))}</p>
<p class="lead">${markup(entry.about)}</p>
<h2>Example response</h2>
<pre>${escape(JSON.stringify(example, null, 2))}</pre>
<p><code>detail</code> says what is wrong with the request. \
<code>instance</code> identifies the call: quote it when you report a bug.</p>`,
  })
}

const EXTRA_MEMBERS: Partial<Record<ProblemSlug, object>> = {
  'invalid-input': { errors: [{ field: 'name', message: 'is required' }] },
}

function badge(status: number): string {
  return `<span class="status" data-class="${Math.floor(status / 100)}xx">${status}</span>`
}

function markup(text: string): string {
  return escape(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>')
}
