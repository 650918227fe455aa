/** The few pages that are not the console: a problem explained, the reference, a welcome. No inline script or style. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import path from 'node:path'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { PROBLEMS, problem, type ProblemSlug } from '#core/problem.ts'
import { STATUS_CODES } from 'node:http'
import { PAGE_POLICY } from './headers.ts'

const here = import.meta.dirname
const swagger = path.dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json')))

/** Served from the package or from beside this file; the whole list, so that no path can be made up. */
const ASSETS: Record<string, { file: string; type: string }> = {
  'swagger-ui.css': { file: path.join(swagger, 'swagger-ui.css'), type: 'text/css; charset=utf-8' },
  'swagger-ui-bundle.js': { file: path.join(swagger, 'swagger-ui-bundle.js'), type: 'text/javascript; charset=utf-8' },
  'reference.js': { file: path.join(here, 'assets/reference.js'), type: 'text/javascript; charset=utf-8' },
  'pages.css': { file: path.join(here, 'assets/pages.css'), type: 'text/css; charset=utf-8' },
  'favicon.svg': { file: path.join(here, 'assets/favicon.svg'), type: 'image/svg+xml' },
}

const ASSET_SECONDS = 3_600

export function registerPages(app: FastifyInstance): void {
  app.get('/', async (_request, reply) => page(reply, WELCOME))
  app.get('/docs', async (_request, reply) => page(reply, REFERENCE))
  app.get('/problems', async (_request, reply) => page(reply, problemList()))
  app.get<{ Params: { slug: string } }>('/problems/:slug', async (request, reply) => {
    const { slug } = request.params
    if (!Object.hasOwn(PROBLEMS, slug)) throw problem('not-found', 'No such problem type')
    return page(reply, problemPage(slug as ProblemSlug))
  })
  app.get<{ Params: { name: string } }>('/assets/:name', async (request, reply) => {
    const { name } = request.params
    const asset = Object.hasOwn(ASSETS, name) ? ASSETS[name] : undefined
    if (!asset) throw problem('not-found', 'No such asset')
    return reply.header('Cache-Control', `public, max-age=${ASSET_SECONDS}`).type(asset.type).send(readFileSync(asset.file))
  })
}

function page(reply: FastifyReply, html: string): FastifyReply {
  return reply.header('Content-Security-Policy', PAGE_POLICY).type('text/html; charset=utf-8').send(html)
}

function layout(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(title)} · Groundtrack</title>
<link rel="icon" href="/assets/favicon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/assets/pages.css">
</head>
<body>
<header><a href="/">Groundtrack</a><nav><a href="/docs">Reference</a><a href="/openapi.json">OpenAPI</a><a href="/problems">Problems</a></nav></header>
<main>
${body}
</main>
</body>
</html>
`
}

const WELCOME = layout(
  'Welcome',
  `<h1>Groundtrack is running</h1>
<p>Satellite and aerial imagery as typed operations: every capability is <code>POST /v1/op/{operation}</code> with a JSON body.</p>
<ul class="cards">
<li><a href="/docs"><strong>Reference</strong><span>Every operation, with a form to try it</span></a></li>
<li><a href="/openapi.json"><strong>OpenAPI document</strong><span>The contract, for generators and tools</span></a></li>
<li><a href="/v1/event-types"><strong>Event types</strong><span>What webhooks report, with schemas (needs a credential)</span></a></li>
<li><a href="/problems"><strong>Problems</strong><span>Each error that a call can meet, and what to change</span></a></li>
</ul>
<h2>First call</h2>
<pre>TOKEN=$(curl -s -X POST /auth/sign-in -H 'Content-Type: application/json' \\
  -d '{"email":"…","password":"…"}' | jq -r .access_token)
curl -s -X POST /v1/op/projects.list -H "Authorization: Bearer $TOKEN"</pre>`,
)

const REFERENCE = layout('Reference', '<div id="reference"></div>\n<link rel="stylesheet" href="/assets/swagger-ui.css">\n<script src="/assets/swagger-ui-bundle.js" defer></script>\n<script src="/assets/reference.js" defer></script>')

function problemList(): string {
  const rows = Object.entries(PROBLEMS).map(([slug, { status, about }]) => `<tr><td>${status}</td><td><a href="/problems/${slug}">${slug}</a></td><td>${markup(about)}</td></tr>`)
  return layout('Problems', `<h1>Problems</h1>\n<p>Failures are <code>application/problem+json</code> (RFC 9457). The <code>code</code> is one of these.</p>\n<table><thead><tr><th>Status</th><th>Code</th><th>Meaning</th></tr></thead><tbody>${rows.join('\n')}</tbody></table>`)
}

function problemPage(slug: ProblemSlug): string {
  const entry: { status: number; title?: string; about: string } = PROBLEMS[slug]
  return layout(slug, `<p class="status">${entry.status} ${escape(entry.title ?? STATUS_CODES[entry.status] ?? '')}</p>\n<h1>${slug}</h1>\n<p>${markup(entry.about)}</p>`)
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}

function markup(text: string): string {
  return escape(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>')
}
