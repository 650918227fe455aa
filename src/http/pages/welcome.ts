/** `/` redirects browsers to the console. Other clients, and everyone at `/welcome`, see the demo's scene, its sign-in and links. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { hasRealImagery } from '#background/real-imagery.ts'
import { credentialOf } from '#http/credential.ts'
import { isOwnRequest, type Demo, type ShownDemo } from '#http/local.ts'
import { PAGE_POLICY, WELCOME_POLICY } from '#http/headers.ts'
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
    const html = welcome(platform, shown, await hasRealImagery(platform))
    return sendPage(reply, html, shown ? WELCOME_POLICY : PAGE_POLICY) // A map needs a worker.
  }
  app.get('/welcome', show)
  app.get('/', async (request, reply) => {
    const accept = request.headers.accept ?? ''
    if (accept.includes('text/html')) return reply.redirect('/app/', 302)
    // A client with a credential is a program, even if it accepts any media type.
    const wantsJson = /\bjson\b/.test(accept) || credentialOf(request) !== null
    return wantsJson ? landing(platform.baseUrl()) : await show(request, reply)
  })
  // For the forms of the reference; without a demo, they keep their examples.
  app.get('/docs/demo.json', async (request, reply) => {
    const shown = await demoFor(request)
    return reply.header('Cache-Control', 'no-store').send(shown ? referenceOf(shown) : {})
  })
}

/** The sign-in, and values for examples; those of the share link have their own names, because `token` alone is ambiguous. */
const referenceOf = ({ email, password, shareToken, fields }: ShownDemo) => ({
  email,
  password,
  fields: { ...fields, ...(shareToken ? { share_token: shareToken, share_password: password } : {}) },
})

/** Links for programs: the OGC and STAC interfaces, and the contract. */
function landing(baseUrl: string) {
  const link = (rel: string, path: string, title: string, type = 'application/json') => ({ rel, href: `${baseUrl}${path}`, type, title })
  return {
    title: 'Groundtrack',
    description: 'Search, buy, store, process and share satellite imagery',
    links: [
      link('self', '/', 'This page'),
      link('service-desc', '/openapi.json', 'OpenAPI document', 'application/vnd.oai.openapi+json;version=3.1'),
      link('service-doc', '/docs', 'API reference', 'text/html'),
      link('conformance', '/conformance', 'Conformance classes'),
      link('http://www.opengis.net/def/rel/ogc/1.0/conformance', '/conformance', 'Conformance classes'),
      link('service-desc', '/api', 'OGC API Processes as OpenAPI', 'application/vnd.oai.openapi+json;version=3.0'),
      link('http://www.opengis.net/def/rel/ogc/1.0/processes', '/processes', 'Processes'),
      link('http://www.opengis.net/def/rel/ogc/1.0/job-list', '/jobs', 'Jobs'),
      link('data', '/stac', 'STAC API'),
    ],
  }
}

/** Where the demo's scenes lie. */
const DEMO_AREA = '48.2, 2.3'

/** Leads to Explore, which shows the newest clear scene of the place. */
const PLACE_FORM = `<form class="place" action="/app/explore" method="get">
<label for="place">Show real imagery of</label>
<div class="place-field">
<input id="place" name="place" required maxlength="100" placeholder="Lisbon" autocomplete="off" aria-describedby="place-help">
<button type="submit">Show</button>
<button type="button" id="use-location" hidden>Use my location</button>
</div>
<p id="place-help" role="status">A city, or latitude and longitude. Or see \
<a href="/app/explore?place=${encodeURIComponent(DEMO_AREA)}">the demo area</a>. \
Sentinel-2 scenes are free and need no account at their host.</p>
</form>
`
const PLACE_HEAD = '<script src="/assets/place.js" type="module"></script>\n'

const HEAD = `<link rel="stylesheet" href="/assets/maplibre-gl.css">
<script src="/assets/welcome.ts" type="module"></script>
`

function welcome({ operations, baseUrl }: Platform, demo: ShownDemo | null, isOnline: boolean): string {
  const published = [...operations.values()].filter(isPublished)
  const domainCount = new Set(published.map((op) => op.id.split('.')[0])).size
  return layout({
    title: 'Welcome',
    path: '/',
    kind: 'prose',
    head: `${demo?.shareToken ? HEAD : ''}${isOnline ? PLACE_HEAD : ''}`,
    body: `<h1>Groundtrack is running</h1>
<p class="lead">Satellite and aerial imagery on your own machine: ${published.length} typed operations in ${domainCount} domains, \
and tiles for every map client.</p>
${demo ? scene(demo) : ''}${isOnline ? PLACE_FORM : ''}<ul class="cards">
<li><a href="/app/"><strong>Console</strong><span>Search, view, measure, upload and share in the browser</span></a></li>
<li><a href="/docs/guides/first-steps"><strong>First steps</strong><span>Create a project with two members and an API key</span></a></li>
<li><a href="/docs/guides/real-imagery"><strong>Real imagery in five minutes</strong>
<span>A Sentinel-2 scene of your own town, as tiles, values and alerts</span></a></li>
<li><a href="/docs/guides/maps"><strong>Maps</strong>
<span>URLs for QGIS, GDAL, MapLibre, OpenLayers, Leaflet and ArcGIS</span></a></li>
<li><a href="/docs/guides"><strong>All guides</strong><span>Uploads, sharing, billing, self-hosting</span></a></li>
<li><a href="/docs"><strong>Reference</strong><span>Every operation with its fields, and a form to try it out</span></a></li>
<li><a href="/docs#/Events/event_types.list"><strong>Event types</strong>\
<span>All events, with the schema of their data</span></a></li>
<li><a href="/problems"><strong>Problems</strong><span>Every error type, and what to change</span></a></li>
</ul>
<h2>First call</h2>
<p>In the checkout folder, this signs in to the demo and sets the variables that the guides use:</p>
<pre>eval "$(BASE_URL=${escape(baseUrl())} npm run -s demo:env)"
op projects.list</pre>
<p>With your own account:</p>
<pre>TOKEN=$(curl -s ${escape(baseUrl())}/auth/sign-in -H 'Content-Type: application/json' \\
  -d '{"email":"YOUR_EMAIL","password":"YOUR_PASSWORD"}' | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')
curl -s -X POST ${escape(baseUrl())}/v1/op/projects.list -H "Authorization: Bearer $TOKEN"</pre>`,
  })
}

function scene({ email, password, shareToken }: ShownDemo): string {
  const signIn = `<p>Sign in to the demo as <code>${escape(email)}</code> with the password <code>${escape(password)}</code>.</p>`
  if (!shareToken) return `<p role="status">Demo data is loading. This takes about a minute; then reload this page.</p>\n${signIn}\n`
  const link = `/s/${encodeURIComponent(shareToken)}`
  return `<div id="demo-map" class="demo-map" data-token="${escape(shareToken)}" data-password="${escape(password)}" role="region" \
aria-label="Map of the demo scene"></div>
<p class="demo-caption"><span id="demo-name">Demo scene</span> <a href="${link}">Open its share link</a> \
(the password is <code>${escape(password)}</code>)</p>
${signIn}
`
}
