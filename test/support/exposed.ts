/** The service as strangers meet it: on this machine's loopback, behind a proxy that gives it a public address. */
import { createServer } from 'node:net'
import { until, type Lab, type Service } from './service.ts'

const PUBLIC_URL = 'https://imagery.example'

/** A port that was free a moment ago: the service prints its public address, not the one it listens on. */
async function freePort(): Promise<number> {
  const probe = createServer()
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve))
  const { port } = probe.address() as { port: number }
  await new Promise((resolve) => probe.close(resolve))
  return port
}

/** `baseUrl` is where the proxy would connect to. */
export async function startExposed(lab: Lab, env: Record<string, string>): Promise<Service> {
  const port = await freePort()
  const service = lab.spawn({ env: { BASE_URL: PUBLIC_URL, PORT: String(port), STORE_PORT: '0', ...env } })
  const baseUrl = `http://127.0.0.1:${port}`
  let ended = false
  void service.exited.then(() => {
    ended = true
  })
  await until('the service to be ready', async () => {
    if (ended) throw new Error(`the service ended:\n${service.output()}`)
    return await fetch(`${baseUrl}/ready`).then(
      (answer) => answer.ok,
      () => false,
    )
  })
  return { ...service, baseUrl }
}
