/** `/app/…`: the console. Its files by name; every other URL below it is the single page, which does its own routing. */
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { problem } from '#core/problem.ts'
import { PERMISSIONS_POLICY } from '#http/headers.ts'
import { layout, sendPage } from './layout.ts'

export const CONSOLE_FOLDER = path.join(import.meta.dirname, '../../../packages/console/dist')

/** The build of the console, if it happens while the service runs. */
export interface ConsoleProgress {
  /** The current build step; null once it is built. */
  readonly building: string | null
  /** Why the build failed, for display; null if it did not. */
  readonly failure: string | null
}

export interface ConsoleParts {
  progress?: () => ConsoleProgress
  /** Other origins that files are uploaded to and downloaded from. */
  storeOrigins?: () => readonly string[]
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json; charset=utf-8',
  '.woff2': 'font/woff2',
}
/** Files with a content hash in their name never change. */
const HASHED = /^assets\/.+-[\w-]{8}\.\w+$/
const YEAR_SECONDS = 31_536_000
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } }

/** Inline scripts and styles are allowed by their hash only. */
const policy = (origins: readonly string[], { scripts, styles }: Inline) =>
  `default-src 'none'; script-src ${["'self'", ...scripts].join(' ')}; worker-src 'self'; ` +
  `style-src ${["'self'", ...styles].join(' ')}; img-src 'self' data: blob:; ` +
  `connect-src ${["'self'", 'blob:', ...origins].join(' ')}; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`

/** Paths that can only be files. IDs in the URL of a screen can contain dots, too. */
const FILE = /^assets\/|\.(?:m?js|css|map|json|svg|png|ico|webp|woff2?|txt|webmanifest)$/

interface Inline {
  scripts: readonly string[]
  styles: readonly string[]
}

interface Loaded {
  plain: Buffer
  br: Buffer
  gzip: Buffer
  etag: string
}

export function registerConsole(
  app: FastifyInstance,
  { console: { progress, storeOrigins = () => [] } = {} }: { console?: ConsoleParts },
): void {
  const files = createFiles()
  const show = async (request: FastifyRequest, reply: FastifyReply, name: string) => {
    const state = progress?.() ?? null
    if (state?.building) return sendWaiting(reply, state.building)
    const known = await files.names()
    if (!known.has('index.html')) return sendAbsent(reply, state?.failure ?? null)
    if (!known.has(name) && FILE.test(name)) throw problem('not-found', 'No such file in the console')
    const file = known.has(name) ? name : 'index.html'
    const loaded = await files.load(file)
    const page =
      file === 'index.html'
        ? { 'Content-Security-Policy': policy(storeOrigins(), inlineOf(loaded.plain.toString())), 'Permissions-Policy': PERMISSIONS_POLICY }
        : {}
    return await sendFile(request, reply.headers(page), file, loaded)
  }
  app.get('/app', async (_request, reply) => reply.redirect('/app/', 302))
  app.get<{ Params: { '*': string } }>('/app/*', async (request, reply) => await show(request, reply, request.params['*']))
}

/** The folder is read at the first request, and again after a build has replaced it. */
function createFiles() {
  let listed: { at: string; names: Set<string> } | null = null
  const loaded = new Map<string, Promise<Loaded>>()
  return {
    async names(): Promise<ReadonlySet<string>> {
      const at = await readFile(path.join(CONSOLE_FOLDER, 'stamp.txt'), 'utf8').catch(() => '')
      if (listed?.at === at && at !== '') return listed.names
      loaded.clear()
      const entries = await readdir(CONSOLE_FOLDER, { recursive: true, withFileTypes: true }).catch(() => [])
      const names = entries
        .filter((entry) => entry.isFile())
        .map((entry) => path.relative(CONSOLE_FOLDER, path.join(entry.parentPath, entry.name)).replaceAll(path.sep, '/'))
      listed = { at, names: new Set(names) }
      return listed.names
    },
    load(name: string): Promise<Loaded> {
      if (!loaded.has(name)) loaded.set(name, packed(path.join(CONSOLE_FOLDER, name)))
      return loaded.get(name)!
    },
  }
}

const hashesOf = (html: string, element: RegExp) =>
  [...html.matchAll(element)].map(([, text]) => `'sha256-${createHash('sha256').update(text!).digest('base64')}'`)

const inlineOf = (html: string): Inline => ({
  scripts: hashesOf(html, /<script>([^]*?)<\/script>/g),
  styles: hashesOf(html, /<style>([^]*?)<\/style>/g),
})

async function packed(file: string): Promise<Loaded> {
  const plain = await readFile(file)
  const etag = `W/"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`
  const [br, zipped] = await Promise.all([promisify(brotliCompress)(plain, BROTLI), promisify(gzip)(plain)])
  return { plain, br, gzip: zipped, etag }
}

async function sendFile(request: FastifyRequest, reply: FastifyReply, name: string, file: Loaded): Promise<FastifyReply> {
  const accepted = String(request.headers['accept-encoding'] ?? '')
  const encoding = /\bbr\b/.test(accepted) ? 'br' : /\bgzip\b/.test(accepted) ? 'gzip' : null
  reply
    .headers({
      'Cache-Control': HASHED.test(name) ? `public, max-age=${YEAR_SECONDS}, immutable` : 'no-cache',
      ETag: file.etag,
      Vary: 'Accept-Encoding',
    })
    .type(TYPES[path.extname(name)] ?? 'application/octet-stream')
  if (request.headers['if-none-match'] === file.etag) return reply.code(304).send()
  return encoding ? reply.header('Content-Encoding', encoding).send(file[encoding]) : reply.send(file.plain)
}

function sendWaiting(reply: FastifyReply, step: string): FastifyReply {
  const html = layout({
    title: 'The console is being built',
    path: '/app/',
    kind: 'prose',
    head: '<meta http-equiv="refresh" content="2">\n',
    body: `<h1>The console is being built</h1>
<p class="lead" role="status">${step.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</p>
<p>This takes a few seconds, once after each upgrade. This page reloads automatically. Everything else is already available: \
the <a href="/docs">reference</a>, the <a href="/docs/guides">guides</a> and every operation.</p>`,
  })
  return sendPage(reply.code(503).header('Retry-After', '2'), html)
}

function sendAbsent(reply: FastifyReply, failure: string | null): FastifyReply {
  const reason = failure ?? 'Its files have not been built.'
  const html = layout({
    title: 'Console not built',
    path: '/app/',
    kind: 'prose',
    body: `<h1>The console is not built</h1>
<p class="lead">${reason.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</p>
<p>Run <code>npm ci</code> including development dependencies, then <code>npm run build</code>, and reload this page. \
The <a href="/docs">reference</a> has a form for every operation.</p>`,
  })
  return sendPage(reply.code(503), html)
}
