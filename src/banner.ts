import type { EmbeddedPostgres } from '#db/embedded.ts'
import { DEMO_EMAIL, DEMO_PASSWORD } from '../sandbox/demo/demo.ts'

interface Started {
  baseUrl: string
  role: string
  embedded: EmbeddedPostgres | null
  hasDemo: boolean
}

/** What a newcomer sees: where things are, how to get in, and a line to paste. */
export function banner({ baseUrl, role, embedded, hasDemo }: Started): string {
  const rows = [
    ['Service', baseUrl],
    ...(role === 'worker' ? [] : [['Console', `${baseUrl}/app/`]]),
    ['Reference', `${baseUrl}/docs`],
    ['Contract', `${baseUrl}/openapi.json`],
    ['Database', embedded ? `embedded PostgreSQL in ${embedded.dir}${embedded.attached ? ' (found running)' : ''}` : 'DATABASE_URL'],
    ['Role', role],
    ...(hasDemo ? [['Demo sign-in', `${DEMO_EMAIL} / ${DEMO_PASSWORD}`]] : []),
  ]
  const table = rows.map(([name, value]) => `  ${name!.padEnd(13)} ${value}`).join('\n')
  return `\nGroundtrack is ready. Ctrl-C stops it.\n\n${table}\n${hasDemo ? firstCall(baseUrl) : ''}\n`
}

function firstCall(baseUrl: string): string {
  return `
Try it:

  TOKEN=$(curl -s ${baseUrl}/auth/sign-in -H 'Content-Type: application/json' \\
    -d '{"email":"${DEMO_EMAIL}","password":"${DEMO_PASSWORD}"}' | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')
  curl -s -X POST ${baseUrl}/v1/op/projects.list -H "Authorization: Bearer $TOKEN"
`
}
