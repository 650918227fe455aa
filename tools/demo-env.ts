/**
 * `eval "$(npm run -s demo:env)"`: signs in to the demo of the service that runs on this machine, and sets what the guides use.
 * Waits for the first scene, which takes some seconds after the first start; with the word `all` for the whole demo, about a minute.
 */
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { loadConfig } from '#config.ts'
import { DEMO_EMAIL, DEMO_PASSWORD } from '../sandbox/demo/account.ts'
import { COLLECTIONS, SCENES } from '../sandbox/demo/scenes.ts'

const WAIT_MS = 300_000
const POLL_MS = 500
const KEY_DAYS = 1
const ALL = 'all'
const ALL_COMMAND = `npm run -s demo:env ${ALL}`

// Answers are read by name, as any client without generated types would.
// oxlint-disable-next-line typescript/no-explicit-any
type Answer = any

const { baseUrl } = loadConfig(process.env)

async function post(path: string, body: object, token?: string): Promise<Answer> {
  const response = await fetch(`${baseUrl}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) },
    body: JSON.stringify(body),
  }).catch(() => {
    throw new Error(
      `No service answers at ${baseUrl}. Start it with npm start in another terminal, or set PORT or BASE_URL to where it runs.`,
    )
  })
  const answer: Answer = await response.json()
  if (response.ok) return answer
  if (path === '/auth/sign-in') throw new Error(`The demo account does not work at ${baseUrl}: ${answer.detail}. DEMO=1 npm start has one.`)
  throw new Error(`${path} answered ${response.status}: ${answer.detail}`)
}

/** The scenes and collections by name, once the first scene is there, or all of them. */
async function demoOf(token: string, waitsForAll: boolean): Promise<Record<string, string>> {
  const deadline = Date.now() + WAIT_MS
  for (let round = 0; ; round++) {
    if (round > 0) await sleep(POLL_MS)
    if (Date.now() > deadline) throw new Error('The demo was not loaded in time; see the log of the service.')
    if (await isLoading(waitsForAll)) {
      if (round === 0) sayWaiting(waitsForAll)
      continue
    }
    const { projects } = await post('/v1/op/projects.list', {}, token)
    const project = projects.find(({ name }: Answer) => name === 'Demo')
    if (!project) throw new Error('The project Demo is gone; start a service on a new DATA_DIR to have it again.')
    const { items } = await post('/v1/op/items.list', { project_id: project.id, limit: 1_000 }, token)
    const itemOf = (name: string) => items.find((item: Answer) => item.name === name)?.id as string | undefined
    const [first, mountains] = [itemOf(SCENES[0]!.name), itemOf(SCENES.at(-1)!.name)]
    if (first && (mountains || !waitsForAll)) {
      const collections = await post('/v1/op/collections.list', { project_id: project.id }, token)
      const seasons = collections.find(({ name }: Answer) => name === COLLECTIONS.seasons.name)
      if (!mountains) process.stderr.write(`The demo is still loading: MOUNTAINS is not set yet. ${ALL_COMMAND} waits for it.\n`)
      return { PROJECT: project.id, ITEM: first, COLLECTION: seasons.id, ...(mountains ? { MOUNTAINS: mountains } : {}) }
    }
    if (round === 0) sayWaiting(waitsForAll)
  }
}

const sayWaiting = (waitsForAll: boolean) => process.stderr.write(`Waiting for the demo${waitsForAll ? '' : '’s first scene'} …\n`)

/** What the service shows of the demo to whoever sits at its machine; nothing where it is not local. */
async function shownFields(): Promise<Record<string, string | undefined>> {
  const { fields = {} }: Answer = await fetch(`${baseUrl}/docs/demo.json`).then((response) => response.json())
  return fields
}

/** Does not call operations, because each call would be a line in the log of the service; false where nothing is shown. */
async function isLoading(waitsForAll: boolean): Promise<boolean> {
  const { project_id, item_id, job_id } = await shownFields()
  return project_id !== undefined && (item_id === undefined || (waitsForAll && job_id === undefined))
}

/** A webhook endpoint that the service brings along; none where its sandbox is off. */
async function receiverOf(): Promise<Record<string, string>> {
  const { endpoint_url: url } = await shownFields()
  return url === undefined ? {} : { HOOK: url }
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

const CLI = path.join(import.meta.dirname, '../packages/cli/bin/groundtrack.mjs')

/** Functions that the guides call, for every shell that knows POSIX. */
const FUNCTIONS = `
groundtrack() { ${quoted(process.execPath)} ${quoted(CLI)} "$@"; }
op() { operation=$1; shift; body='{}'; if [ $# -gt 0 ]; then body=$1; shift; fi
  curl -sS -w '\\n' -X POST "$BASE/v1/op/$operation" -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\
    -d "$body" "$@"; }
field() { ${quoted(process.execPath)} -e 'let text = ""; process.stdin.on("data", (more) => (text += more)).on("end", () => {
  const value = process.argv[1].split(".").reduce((found, name) => found?.[name], JSON.parse(text))
  if (value === undefined) { console.error("There is no " + process.argv[1] + " in " + text); process.exit(1) }
  console.log(value !== null && typeof value === "object" ? JSON.stringify(value) : value) })' "$1"; }
`

try {
  const [word] = process.argv.slice(2)
  if (word !== undefined && word !== ALL)
    throw new Error(`Unexpected argument "${word}"; ${ALL_COMMAND} waits for the whole demo, without "${ALL}" for its first scene alone`)
  const { access_token: token } = await post('/auth/sign-in', { email: DEMO_EMAIL, password: DEMO_PASSWORD })
  const demo = await demoOf(token, word === ALL)
  const permissions = ['read', 'write', 'process']
  const { key } = await post('/v1/op/api_keys.create', { name: 'Guides', permissions, expires_in_days: KEY_DAYS }, token)
  const { access_token: fresh } = await post('/auth/sign-in', { email: DEMO_EMAIL, password: DEMO_PASSWORD })
  const client = { GROUNDTRACK_URL: baseUrl, GROUNDTRACK_API_KEY: key as string } // For the client and the command line.
  const lines = Object.entries({ BASE: baseUrl, TOKEN: fresh, KEY: key as string, ...demo, ...(await receiverOf()), ...client }).map(
    ([name, value]) => `export ${name}=${quoted(value)}`,
  )
  process.stdout.write(`${lines.join('\n')}${FUNCTIONS}`)
} catch (error) {
  const message = (error as Error).message
  process.stdout.write(`echo ${quoted(message)} >&2; false\n`)
  process.exitCode = 1
}
