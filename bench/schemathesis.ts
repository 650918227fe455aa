/**
 * Goal: what schemathesis makes of the published document, once with a session and once with a key, is never answered with a
 * server error or with a status that the document does not have, and OPTIONS names the methods of each address.
 *
 *   python3 -m venv venv && venv/bin/pip install schemathesis
 *   SCHEMATHESIS=venv/bin/schemathesis npm run bench -- schemathesis [--examples 15] [--seconds 900]
 *
 * It starts a service with the demo of its own, and ends with 1 where something was found.
 */
import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { DEMO_EMAIL, DEMO_PASSWORD } from '../sandbox/demo/account.ts'
import { openLab } from '../test/support/service.ts'

const CHECKS = ['not_a_server_error', 'status_code_conformance', 'content_type_conformance', 'allow_header_conformance']
/** A stream never ends; and these end the session or the account that asks. */
const LEFT_OUT = '^/v1/events$|^/auth/(delete-|sign-out|password)|^/v1/op/api_keys\\.revoke$'

const { values } = parseArgs({
  options: { examples: { type: 'string', default: '15' }, seconds: { type: 'string', default: '900' } },
})
const given = process.env['SCHEMATHESIS'] ?? 'schemathesis'
/** It runs in a folder of its own, because it leaves notes where it runs. */
const program = given.includes('/') ? path.resolve(given) : given

interface Found {
  calls: number
  statuses: Record<string, number>
  failures: Map<string, string>
}

async function post(address: string, body: object, token?: string): Promise<Record<string, string>> {
  const headers = { 'content-type': 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) }
  const response = await fetch(address, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`${address} answered ${response.status}`)
  return (await response.json()) as Record<string, string>
}

async function run(baseUrl: string, header: string, folder: string): Promise<Found> {
  const options = ['--phases', 'examples,coverage,fuzzing', '--continue-on-failure', '--no-shrink', '--request-timeout', '60']
  const bounds = ['-n', values.examples, '--max-time', values.seconds, '--exclude-path-regex', LEFT_OUT]
  const report = ['--report', 'ndjson', '--report-dir', folder]
  const args = ['run', `${baseUrl}/openapi.json`, '-H', header, '--checks', CHECKS.join(','), ...options, ...bounds, ...report]
  await new Promise<void>((resolve, reject) => {
    execFile(program, args, { maxBuffer: 64 * 1024 * 1024, cwd: path.dirname(folder) }, (error) => {
      if (error && typeof error.code !== 'number') reject(error)
      else resolve() // What it has found stands in the report.
    })
  })
  return readReport(path.join(folder, readdirSync(folder)[0]!))
}

interface Scenario {
  recorder?: {
    checks?: Record<string, { status: string; failure_info?: { failure: { operation: string; title: string; message: string } } }[]>
    interactions?: Record<string, { response?: { status_code?: number } | null }>
  }
}

function readReport(file: string): Found {
  const summary: Found = { calls: 0, statuses: {}, failures: new Map() }
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    if (!line.startsWith('{"ScenarioFinished"')) continue
    const { recorder } = (JSON.parse(line) as { ScenarioFinished: Scenario }).ScenarioFinished
    for (const { response } of Object.values(recorder?.interactions ?? {})) {
      summary.calls += 1
      const status = String(response?.status_code ?? 'none')
      summary.statuses[status] = (summary.statuses[status] ?? 0) + 1
    }
    for (const { failure_info: info } of Object.values(recorder?.checks ?? {}).flat())
      if (info)
        summary.failures.set(`${info.failure.operation}: ${info.failure.title}`, info.failure.message.split('\n').slice(0, 2).join(', '))
  }
  return summary
}

const MAX_LINE = 1_500
/** Lines of the log at the level of errors: why something was answered with a 5xx. */
const faultsIn = (output: string): string[] => output.split('\n').filter((line) => /^\{"level":(50|"error")/.test(line))

const lab = openLab()
const folder = mkdtempSync(path.join(tmpdir(), 'schemathesis-'))
try {
  const service = await lab.start({ env: { DATA_DIR: lab.dataDir(), DEMO: '1' } })
  const { baseUrl } = service
  const { access_token: token = '' } = await post(`${baseUrl}/auth/sign-in`, { email: DEMO_EMAIL, password: DEMO_PASSWORD })
  const permissions = ['read', 'write', 'process']
  const { key = '' } = await post(`${baseUrl}/v1/op/api_keys.create`, { name: 'schemathesis', permissions, rate_limit: 1_000_000 }, token)
  for (const [name, header] of [
    ['a session', `Authorization: Bearer ${token}`],
    ['a key', `X-API-Key: ${key}`],
  ] as const) {
    const { calls, statuses, failures } = await run(baseUrl, header, path.join(folder, name.replace(' ', '-')))
    console.log(`with ${name}: ${calls} calls, ${JSON.stringify(statuses)}, ${failures.size} findings`)
    for (const [what, how] of failures) console.log(`  ${what}: ${how}`)
    if (failures.size > 0 || calls === 0) process.exitCode = 1
  }
  for (const line of faultsIn(service.output())) console.log(`  the service said: ${line.slice(0, MAX_LINE)}`)
} finally {
  await lab.close()
  rmSync(folder, { recursive: true, force: true })
}
