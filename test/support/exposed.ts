/** The service as strangers meet it: on this machine's loopback, behind a proxy that gives it a public address. */
import { freePort } from './port.ts'
import { until, type Lab, type Service } from './service.ts'

const PUBLIC_URL = 'https://imagery.example'

export interface ExposedService extends Service {
  /** Where the proxy would connect to for the store. */
  readonly storeUrl: string
}

/** `baseUrl` is where the proxy would connect to. */
export async function startExposed(lab: Lab, env: Record<string, string>): Promise<ExposedService> {
  const [port, storePort] = [await freePort(), await freePort()]
  const service = lab.spawn({ env: { BASE_URL: PUBLIC_URL, PORT: String(port), STORE_PORT: String(storePort), ...env } })
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
  return { ...service, baseUrl, storeUrl: `http://127.0.0.1:${storePort}` }
}
