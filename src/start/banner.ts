import { VERSION } from '#core/version.ts'
import type { EmbeddedPostgres } from '#db/embedded.ts'
import { CONTRACT_VERSION } from '#http/openapi.ts'

const DEFAULT_BASE_URL = 'http://127.0.0.1:8080'

interface Started {
  baseUrl: string
  role: string
  embedded: EmbeddedPostgres | null
  /** `shareToken` opens the demo's scene once it is shared. Null if there is no demo, or if strangers could use it. */
  demo: { email: string; password: string; shareToken: string | null } | null
}

/** What is printed at the start: URLs, the demo's sign-in, and a first command to paste. */
export function banner({ baseUrl, role, embedded, demo }: Started): string {
  const rows = [
    ['Service', baseUrl],
    ...(role === 'worker' ? [] : [['Console', `${baseUrl}/app/`]]),
    ['Reference', `${baseUrl}/docs`],
    ['Contract', `${baseUrl}/openapi.json (contract version ${CONTRACT_VERSION})`],
    ['Database', embedded ? `embedded PostgreSQL in ${embedded.dir}${embedded.attached ? ' (found running)' : ''}` : 'DATABASE_URL'],
    ['Role', role],
    ...(demo ? [['Demo sign-in', `${demo.email} / ${demo.password}`]] : []),
    ...(demo?.shareToken ? [['Demo scene', `${baseUrl}/s/${demo.shareToken} (password ${demo.password})`]] : []),
  ]
  const table = rows.map(([name, value]) => `  ${name!.padEnd(13)} ${value}`).join('\n')
  return `\nGroundtrack ${VERSION} is ready. Ctrl-C stops it.\n\n${table}\n${demo ? firstCall(baseUrl) : ''}\n`
}

function firstCall(baseUrl: string): string {
  const settings = baseUrl === DEFAULT_BASE_URL ? '' : `BASE_URL=${baseUrl} `
  return `
Open ${baseUrl} in a browser, or try it in another terminal, in this folder:

  eval "$(${settings}npm run -s demo:env)"
  op projects.list
`
}
