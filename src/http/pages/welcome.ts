/** `/` leads browsers to the console. Tools there, and everybody at `/welcome`, see the demo's scene, its sign-in, and where to go on. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { credentialOf } from '#http/credential.ts'
import { isOwnRequest, type Demo, type ShownDemo } from '#http/local.ts'
import { PAGE_POLICY, SHARE_POLICY } from '#http/headers.ts'
import type { Platform } from '#pipeline/platform.ts'
import { isPublished } from '#http/openapi.ts'
import { escape, layout, sendPage } from './layout.ts'

export interface WelcomeParts {
  platform: Platform
  demo: Demo
}

export function registerWelcome(app: FastifyInstance, { platform, demo }: WelcomeParts): void {
  const demoFor = async (request: FastifyRequest) => (isOwnRequest(request, platform.baseUrl()) ? await demo() : null)
  const show = async (request: FastifyRequest, reply: FastifyReply) => {
    const shown = await demoFor(request)
    return sendPage(reply, welcome(platform, shown), shown ? SHARE_POLICY : PAGE_POLICY) // A map needs a worker.
  }
  app.get('/welcome', show)
  app.get('/', async (request, reply) => {
    const accept = request.headers.accept ?? ''
    if (accept.includes('text/html')) return reply.redirect('/app/', 302)
    // Whoever comes with a credential is a program, though some of them take anything.
    const wantsJson = /\bjson\b/.test(accept) || credentialOf(request) !== null
    return wantsJson ? landing(platform.baseUrl()) : await show(request, reply)
  })
  // For the forms of the reference; where there is no demo to show, they stay as they are.
  app.get('/docs/demo.json', async (request, reply) => {
    const shown = await demoFor(request)
    return reply.header('Cache-Control', 'no-store').send(shown ? referenceOf(shown) : {})
  })
}

/** The sign-in, and values for examples; those of the share link have their own names, because `token` alone could be any. */
const referenceOf = ({ email, password, shareToken, fields }: ShownDemo) => ({
  email,
  password,
  fields: { ...fields, ...(shareToken ? { share_token: shareToken, share_password: password } : {}) },
})

/** Where programs go on from here: the OGC and STAC interfaces, and the contract. */
function landing(baseUrl: string) {
  const link = (rel: string, path: string, title: string, type = 'application/json') => ({ rel, href: `${baseUrl}${path}`, type, title })
  return {
    title: 'Groundtrack',
    description: 'Imagery to find, buy, keep, process and show',
    links: [
      link('self', '/', 'This page'),
      link('service-desc', '/openapi.json', 'The contract', 'application/vnd.oai.openapi+json;version=3.1'),
      link('service-doc', '/docs', 'The reference', 'text/html'),
      link('conformance', '/conformance', 'What it conforms to'),
      link('http://www.opengis.net/def/rel/ogc/1.0/conformance', '/conformance', 'What it conforms to'),
      link('service-desc', '/api', 'OGC API Processes as OpenAPI', 'application/vnd.oai.openapi+json;version=3.0'),
      link('http://www.opengis.net/def/rel/ogc/1.0/processes', '/processes', 'Processes'),
      link('http://www.opengis.net/def/rel/ogc/1.0/job-list', '/jobs', 'Jobs'),
      link('data', '/stac', 'The STAC API'),
    ],
  }
}

const HEAD = `<link rel="stylesheet" href="/assets/maplibre-gl.css">
<script src="/assets/welcome.ts" type="module"></script>
`

function welcome({ operations, baseUrl }: Platform, demo: ShownDemo | null): string {
  const published = [...operations.values()].filter(isPublished)
  const domainCount = new Set(published.map((op) => op.id.split('.')[0])).size
  return layout({
    title: 'Welcome',
    path: '/',
    kind: 'prose',
    head: demo?.shareToken ? HEAD : '',
    body: `<h1>Groundtrack is running</h1>
<p class="lead">Satellite and aerial imagery on your own machine: ${published.length} typed operations in ${domainCount} domains, \
and maps for every client.</p>
${demo ? scene(demo) : ''}<ul class="cards">
<li><a href="/app/"><strong>Console</strong><span>Everything in a browser: search, look, measure, upload, share</span></a></li>
<li><a href="/docs/guides/first-steps"><strong>First steps</strong><span>From nothing to a project with two people and a key</span></a></li>
<li><a href="/docs/guides/maps"><strong>Maps</strong>
<span>Addresses for QGIS, GDAL, MapLibre, OpenLayers, Leaflet and ArcGIS</span></a></li>
<li><a href="/docs/guides"><strong>All guides</strong><span>Uploads, sharing, billing, running it yourself</span></a></li>
<li><a href="/docs"><strong>Reference</strong><span>Every operation with its fields, and a form to try it</span></a></li>
<li><a href="/docs#/Events/event_types.list"><strong>Event types</strong>\
<span>What the platform reports, with a schema for each</span></a></li>
<li><a href="/problems"><strong>Problems</strong><span>Each error that a call can meet, and what to change</span></a></li>
</ul>
<h2>First call</h2>
<p>In the folder of the checkout, this signs in to the demo and sets what the guides use:</p>
<pre>eval "$(BASE_URL=${escape(baseUrl())} npm run -s demo:env)"
op projects.list</pre>
<p>With an account of your own:</p>
<pre>TOKEN=$(curl -s ${escape(baseUrl())}/auth/sign-in -H 'Content-Type: application/json' \\
  -d '{"email":"YOUR_EMAIL","password":"YOUR_PASSWORD"}' | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')
curl -s -X POST ${escape(baseUrl())}/v1/op/projects.list -H "Authorization: Bearer $TOKEN"</pre>`,
  })
}

function scene({ email, password, shareToken }: ShownDemo): string {
  const signIn = `<p>The demo's sign-in is <code>${escape(email)}</code> with the password <code>${escape(password)}</code>.</p>`
  if (!shareToken)
    return `<p role="status">The demo's scenes are being made, which takes about a minute. Reload this page then.</p>\n${signIn}\n`
  const link = `/s/${encodeURIComponent(shareToken)}`
  return `<div id="demo-map" class="demo-map" data-token="${escape(shareToken)}" data-password="${escape(password)}" role="region" \
aria-label="The demo's scene on a map"></div>
<p class="demo-caption"><span id="demo-name">The demo's scene</span> <a href="${link}">Open its share link</a> \
(the password is <code>${escape(password)}</code>)</p>
${signIn}
`
}
