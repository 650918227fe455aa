/** A real nginx with the settings of ops/nginx, in a folder of its own. */
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import os from 'node:os'
import path from 'node:path'
import type { TestContext } from 'node:test'
import { freePort } from '../support/port.ts'
import { until } from '../support/service.ts'

const PROGRAM = ['/usr/sbin/nginx', '/usr/bin/nginx'].find((file) => existsSync(file)) ?? null
export const WITHOUT_NGINX = PROGRAM ? false : 'nginx is not installed (Debian: nginx-light)'

const EXAMPLE = path.join(import.meta.dirname, '../../ops/nginx/groundtrack.conf')

export interface Answer {
  status: number
  headers: http.IncomingHttpHeaders
  body: Buffer
  /** What nginx says of its cache; null where it has none. */
  cache: string | null
}

export type Ask = (path: string, headers?: Record<string, string>, method?: string) => Promise<Answer>

/** Returns how to ask it. Paths are sent as they are: a library that tidies them up could not attack anything. */
export async function startNginx(t: TestContext, serviceUrl: string): Promise<Ask> {
  const port = await freePort()
  const folder = mkdtempSync(path.join(os.tmpdir(), 'groundtrack-nginx-'))
  const example = readFileSync(EXAMPLE, 'utf8')
  const site = changed(example, [
    ['server 127.0.0.1:8080;', `server ${new URL(serviceUrl).host};`],
    ['listen 80;', `listen 127.0.0.1:${port};`],
    ['/var/cache/nginx/groundtrack', path.join(folder, 'cache')],
  ])
  const isRoot = process.getuid?.() === 0
  const settings = `
daemon off;
${isRoot ? 'user root;' : ''}
worker_processes 2;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log;
events {}
http {
  access_log off;
  client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;
${site}
}
`
  mkdirSync(path.join(folder, 'cache'))
  const file = path.join(folder, 'nginx.conf')
  writeFileSync(file, settings)
  execFileSync(PROGRAM!, ['-t', '-q', '-p', folder, '-c', file])
  const nginx = spawn(PROGRAM!, ['-p', folder, '-c', file], { stdio: 'ignore' })
  const exited = new Promise((resolve) => void nginx.once('exit', resolve))
  const agent = new http.Agent({ keepAlive: true, maxSockets: 16 })
  t.after(async () => {
    agent.destroy()
    nginx.kill('SIGQUIT')
    await exited
    rmSync(folder, { recursive: true, force: true })
  })
  const ask: Ask = (requested, headers = {}, method = 'GET') =>
    new Promise((resolve, reject) => {
      const request = http.request({ host: '127.0.0.1', port, path: requested, method, headers, agent }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => void chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => {
          const cache = response.headers['x-cache-status']
          resolve({
            status: response.statusCode!,
            headers: response.headers,
            body: Buffer.concat(chunks),
            cache: typeof cache === 'string' ? cache : null,
          })
        })
      })
      request.on('error', reject)
      request.end()
    })
  await until('nginx accepts connections', async () => {
    const answer = await ask('/health').catch(() => null)
    return answer?.status === 200 ? answer : null
  })
  return ask
}

/** Only what differs between machines; a line that is not there fails the test. */
function changed(text: string, replacements: readonly (readonly [string, string])[]): string {
  return replacements.reduce((result, [from, to]) => {
    if (!result.includes(from)) throw new Error(`ops/nginx/groundtrack.conf has no '${from}'`)
    return result.replace(from, to)
  }, text)
}
