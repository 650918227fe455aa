/** The layout of every page. No inline scripts or styles. */
import type { FastifyReply } from 'fastify'
import { PAGE_POLICY, PERMISSIONS_POLICY } from '#http/headers.ts'

interface Page {
  title: string
  /** The page's entry in the navigation. */
  path: string
  /** `prose` for our own text, with `guides` for guides, `reference` for Swagger UI: their styles must not mix. */
  kind: 'prose' | 'prose guides' | 'reference'
  head?: string
  body: string
}

const NAVIGATION = [
  ['/docs/guides', 'Guides'],
  ['/docs', 'Reference'],
  ['/openapi.json', 'OpenAPI'],
  ['/problems', 'Problems'],
] as const

export function layout({ title, path, kind, head = '', body }: Page): string {
  const links = NAVIGATION.map(([href, name]) => `<a href="${href}"${path === href ? ' aria-current="page"' : ''}>${name}</a>`)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escape(title)} · Groundtrack</title>
<link rel="icon" href="/assets/favicon.svg" type="image/svg+xml">
${head}<link rel="stylesheet" href="/assets/pages.css">
</head>
<body>
<header class="top"><a class="brand" href="/"><img src="/assets/favicon.svg" alt="" width="24" height="24">\
Groundtrack</a><nav>${links.join('')}</nav></header>
<main class="${kind}">
${body}
</main>
</body>
</html>
`
}

export function sendPage(reply: FastifyReply, html: string, policy = PAGE_POLICY): FastifyReply {
  return reply
    .headers({ 'Content-Security-Policy': policy, 'Permissions-Policy': PERMISSIONS_POLICY, 'Cache-Control': 'no-cache' })
    .type('text/html; charset=utf-8')
    .send(html)
}

export function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}

/** For browsers; other clients get problem+json. */
export function notFoundPage(path: string): string {
  return layout({
    title: 'Not found',
    path: '',
    kind: 'prose',
    body: `<h1>Page not found</h1>
<p class="lead"><code>${escape(path)}</code> does not exist on this service.</p>
<p>Try the <a href="/">start page</a>, the <a href="/docs/guides">guides</a> or the <a href="/docs">reference</a>.</p>`,
  })
}
