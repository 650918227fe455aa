/** The demo organization, made through the same doors as any other: a sign-up and operations. */
import { newId } from '#core/ids.ts'
import { Problem } from '#core/problem.ts'
import { invoke } from '#pipeline/invoke.ts'
import type { Platform } from '#pipeline/platform.ts'
import * as signIn from '#pipeline/sign-in.ts'

export const DEMO_EMAIL = 'demo@groundtrack.dev'
export const DEMO_PASSWORD = 'groundtrack-demo'

const LOCAL = '127.0.0.1'

/** False when the demo is already there. */
export async function seedDemo(platform: Platform, auth: signIn.SignInPlatform): Promise<boolean> {
  let grant: signIn.Grant
  try {
    grant = await signIn.signUp(auth, { email: DEMO_EMAIL, password: DEMO_PASSWORD, name: 'Demo' }, LOCAL)
  } catch (error) {
    if (error instanceof Problem && error.slug === 'bad-request') return false // The address has its account already.
    throw error
  }
  await call(platform, grant, 'organizations.create', { name: 'Demo Imagery', description: 'Something to look around in', country: 'AU' })
  const acting = await signIn.refresh(auth, { refresh_token: grant.refresh_token })
  await call(platform, acting, 'projects.create', { name: 'Demo', description: 'Scenes to try things on' })
  await signIn.signOut(auth, acting.refresh_token)
  return true
}

async function call(platform: Platform, grant: signIn.Grant, id: string, input: object): Promise<void> {
  const { status, body } = await invoke(platform, platform.operations.get(id)!, {
    credential: { via: 'bearer', secret: grant.access_token },
    body: () => input,
    idempotencyKey: newId(),
    clientAddress: LOCAL,
    signal: new AbortController().signal,
  })
  if (status !== 200) throw new Error(`seeding the demo: ${id} answered ${status} ${Buffer.from(body as Uint8Array).toString()}`)
}
