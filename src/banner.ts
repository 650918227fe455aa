import type { EmbeddedPostgres } from '#db/embedded.ts'
import { DEMO_EMAIL, DEMO_PASSWORD } from '../sandbox/demo/demo.ts'

const STANDARD_ADDRESS = 'http://127.0.0.1:8080'

interface Started {
  baseUrl: string
  role: string
  embedded: EmbeddedPostgres | null
  hasDemo: boolean
  /** Of the demo's scene, once it is shared. */
  demoLink: string | null
}

/** What a newcomer sees: where things are, how to get in, and a line to paste. */
export function banner({ baseUrl, role, embedded, hasDemo, demoLink }: Started): string {
  const rows = [
    ['Service', baseUrl],
    ['Reference', `${baseUrl}/docs`],
    ['Contract', `${baseUrl}/openapi.json`],
    ['Database', embedded ? `embedded PostgreSQL in ${embedded.dir}${embedded.attached ? ' (found running)' : ''}` : 'DATABASE_URL'],
    ['Role', role],
    ...(hasDemo ? [['Demo sign-in', `${DEMO_EMAIL} / ${DEMO_PASSWORD}`]] : []),
    ...(demoLink ? [['Demo scene', `${baseUrl}/s/${demoLink} (password ${DEMO_PASSWORD})`]] : []),
  ]
  const table = rows.map(([name, value]) => `  ${name!.padEnd(13)} ${value}`).join('\n')
  return `\nGroundtrack is ready. Ctrl-C stops it.\n\n${table}\n${hasDemo ? firstCall(baseUrl) : ''}\n`
}

function firstCall(baseUrl: string): string {
  const settings = baseUrl === STANDARD_ADDRESS ? '' : `BASE_URL=${baseUrl} `
  return `
Open ${baseUrl} in a browser, or try it in another terminal, in this folder:

  eval "$(${settings}npm run -s demo:env)"
  op projects.list
`
}
