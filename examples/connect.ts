/** The client, as the environment says. */
import { Groundtrack } from '../packages/client/src/index.ts'

export async function connect(): Promise<Groundtrack> {
  const { GROUNDTRACK_URL: baseUrl, GROUNDTRACK_API_KEY: apiKey, GROUNDTRACK_EMAIL: email, GROUNDTRACK_PASSWORD: password } = process.env
  const gt = new Groundtrack({ baseUrl, apiKey })
  if (!apiKey && email && password) await gt.auth.signIn({ email, password })
  return gt
}

/** The first project that the caller sees, or the one that the environment names. */
export async function firstProject(gt: Groundtrack): Promise<string> {
  const named = process.env['GROUNDTRACK_PROJECT']
  const { projects } = await gt.projects.list({ limit: 1 })
  const found = named ?? projects[0]?.id
  if (found === undefined) throw new Error('There is no project yet')
  return found
}
